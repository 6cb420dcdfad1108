"""A network: records have the tables of its families, and likelihoods of all cells add up to one."""

from __future__ import annotations

import numpy as np

from discreet.microdata.synthetic.measured_tables import MeasuredTables
from discreet.microdata.synthetic.network_model import NetworkModel
from discreet.questions.tables.coded_tables import TableCodes

CODES = TableCodes(("a", "b", "c"), ((), (), ()), (2, 2, 2))
TABLE = 1000 * np.array([[[0.2, 0.05], [0.05, 0.2]], [[0.04, 0.21], [0.2, 0.05]]])  # by a, b and c


def model() -> NetworkModel:
    ones = [TABLE.sum(axis=axes) for axes in ((1, 2), (0, 2), (0, 1))]
    counts = MeasuredTables.counted(CODES, [(0,), (1,), (2,)], ones, 1.0, 1000.0)
    ba, bac = TABLE.sum(axis=2).T, TABLE.transpose(1, 0, 2)
    return NetworkModel.of(counts.and_counted([(1, 0), (1, 0, 2)], [ba, bac], 1e-3))


def test_families_follow_one_another_and_the_first_column_is_alone() -> None:
    assert model().families == [(1,), (1, 0), (1, 0, 2)]


def test_records_have_the_tables_that_were_counted() -> None:
    rows = model().counted_out(4000, np.random.default_rng(1))
    found = np.zeros((2, 2, 2))
    np.add.at(found, tuple(rows.T), 0.25)
    np.testing.assert_allclose(found, TABLE, atol=1.5)


def test_likelihoods_are_the_shares_of_cells() -> None:
    cells = np.indices((2, 2, 2)).reshape(3, -1).T
    np.testing.assert_allclose(np.exp(model().likelihood(cells)), TABLE.ravel() / 1000, rtol=5e-3)
