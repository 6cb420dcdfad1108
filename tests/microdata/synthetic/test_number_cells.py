"""Values that are made up in cells: frequent ones are round, and no digit is shown that nothing is known of."""

from __future__ import annotations

import numpy as np

from discreet.core.grid import Array
from discreet.microdata import SyntheticTable, synthesize
from discreet.microdata.synthetic.number_cells import LEAVES, NumberCells
from discreet.schema.schema import Number


def some() -> Array:
    """Half of all values are one of four, the others anywhere."""
    rng = np.random.default_rng(1)
    spread = rng.gamma(2.0, 4.0, 5000).clip(0.0, 30.0)
    return np.where(rng.random(5000) < 0.5, rng.choice([0.0, 3.0, 7.5, 30.0], 5000), spread)


def made(values: Array) -> SyntheticTable:
    return synthesize({"stay": values}, bounds={"stay": Number(0, 30)}, epsilon=4.0, random_state=1)


def test_a_frequent_value_is_found_on_the_right_side_of_itself() -> None:
    values, table = some(), made(some())
    for condition, exact in (("stay >= 3", values >= 3), ("stay > 3", values > 3), ("stay == 7.5", values == 7.5)):
        assert abs(table.count(condition).value - exact.sum()) < 100
    frequent, counts = np.unique(table["stay"], return_counts=True)
    assert frequent[counts > 100].tolist() == [0.0, 3.0, 7.5, 30.0]


def test_no_digit_is_shown_that_tells_no_leaf_from_another() -> None:
    found = made(some())["stay"]
    assert 30 / LEAVES >= 1e-3
    assert np.mean(np.round(found, 3) == found) > 0.99
    assert len(np.unique(found)) > 500


def test_where_each_value_has_a_cell_that_value_is_drawn() -> None:
    for number in (Number(-2, 13, step=1), Number(0, 0.7, step=0.1), Number(0, 1, step=1)):
        cells = NumberCells.few(number, 16)
        assert cells is not None
        drawn = cells.drawn(np.arange(len(cells.edges) - 1), np.random.default_rng(1))
        steps = (drawn - number.lower) / (number.step or 1.0)
        np.testing.assert_allclose(steps, np.arange(len(drawn)), atol=1e-9)
        assert drawn.max() <= number.upper
