"""Leaves: records lie in them as they were counted, and within them as columns say."""

from __future__ import annotations

import numpy as np

from discreet.microdata.synthetic.leaf_model import LeafModel
from discreet.microdata.synthetic.measured_tables import MeasuredTables
from discreet.questions.tables.coded_tables import TableCodes

CODES = TableCodes(("x", "other", "kind"), ((), (), ()), (4, 2, 2))
ONES = [np.array([100.0, 300, 500, 100]), np.array([900.0, 100]), np.array([400.0, 600])]
LEAVES = np.array([[350.0, 50], [50, 550]])  # by halves of x, and kind


def model() -> LeafModel:
    counts = MeasuredTables.counted(CODES, [(0,), (1,), (2,)], ONES, 1e-3, 1000.0)
    return LeafModel.of(counts, ((0, 2), (0,), (0, 1)), LEAVES, 1e-3)


def test_records_have_the_leaves_and_the_columns_that_were_counted() -> None:
    rows = model().counted_out(1000, np.random.default_rng(1))
    found = np.zeros((2, 2))
    np.add.at(found, (rows[:, 0] // 2, rows[:, 2]), 1)
    np.testing.assert_allclose(found, LEAVES, atol=1.5)
    np.testing.assert_allclose(np.bincount(rows[:, 0], minlength=4), ONES[0], atol=2)
    np.testing.assert_allclose(np.bincount(rows[:, 1], minlength=2), ONES[1], atol=2)


def test_likelihoods_are_shares_of_leaves_and_of_cells_within_them() -> None:
    cells = np.indices((4, 2, 2)).reshape(3, -1).T
    within = np.array([0.25, 0.75, 5 / 6, 1 / 6])
    exact = within[:, None, None] * LEAVES[[0, 0, 1, 1]][:, None, :] * np.array([0.9, 0.1])[:, None]
    np.testing.assert_allclose(np.exp(model().likelihood(cells)), exact.ravel(), rtol=1e-3)


def test_single_columns_alone_are_measured_and_copies_differ() -> None:
    one = model()
    assert one.measured((1,)) == (1,)
    assert one.measured((0, 2)) is None
    copy = one.again(np.random.default_rng(1))
    assert copy.leaves.shape == one.leaves.shape
    assert not np.array_equal(copy.leaves, one.leaves)


def test_notes_give_the_same_records_again() -> None:
    again = LeafModel.of_notes(CODES, model().to_notes())
    first, second = (one.counted_out(100, np.random.default_rng(1)) for one in (model(), again))
    np.testing.assert_array_equal(first, second)
