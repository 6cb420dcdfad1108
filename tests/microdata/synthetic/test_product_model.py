"""The table of all columns: it agrees with what was measured, adds no dependence, and is counted out."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.microdata.synthetic.measured_tables import MeasuredTables
from discreet.microdata.synthetic.product_model import ProductModel, check_joint
from discreet.microdata.synthetic.synthesis import TableLayout
from discreet.questions.tables.coded_tables import TableCodes
from discreet.schema.schema import Category, Number, Schema

AB, BC = np.array([[300.0, 100, 5], [100, 500, 5]]), np.array([[390.0, 10], [60, 540], [5, 5]])
CODES = TableCodes(("a", "b", "c"), ((), (), ()), (2, 3, 2))
SETS = [(0,), (1,), (2,), (0, 1), (1, 2)]


def model() -> ProductModel:
    ones = [AB.sum(axis=1), AB.sum(axis=0), BC.sum(axis=0)]
    return ProductModel.of(MeasuredTables.counted(CODES, SETS, [*ones, AB, BC], 1e-3, 1010.0))


def test_it_agrees_with_both_tables_and_makes_the_outer_columns_independent_given_the_middle_one() -> None:
    joint = model().joint
    np.testing.assert_allclose(joint.sum(axis=2), AB, rtol=2e-3)
    np.testing.assert_allclose(joint.sum(axis=0), BC, rtol=2e-3)
    np.testing.assert_allclose(joint, AB[:, :, None] * BC[None] / AB.sum(axis=0)[None, :, None], rtol=5e-3)
    np.testing.assert_allclose(model().expected((0, 2)), joint.sum(axis=1))


def test_records_are_counted_out_of_it_and_likelihoods_are_its_cells() -> None:
    one = model()
    rows = one.counted_out(1010, np.random.default_rng(1))
    found = np.zeros((2, 3, 2))
    np.add.at(found, tuple(rows.T), 1)
    assert np.abs(found - one.joint).max() < 1.01
    cells = np.indices((2, 3, 2)).reshape(3, -1).T
    np.testing.assert_allclose(np.exp(one.likelihood(cells)), one.joint.ravel())


def test_of_columns_with_too_many_cells_the_widest_are_named() -> None:
    schema = Schema(
        {"x": Number(0, 1), "y": Number(0, 1), "town": Category(tuple(map(str, range(2000)))), "u": Category(("a",))}
    )
    layout = TableLayout(schema, ("x", "y", "town", "u"), 16, False, True)
    with pytest.raises(ParameterError, match=r"4.36e\+06 cells.*Leave out town, or give fewer bins"):
        check_joint(layout, "mwem")
    check_joint(TableLayout(schema, ("x", "y", "u"), 16, False, True), "mwem")
