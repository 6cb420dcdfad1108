"""Rows computed together: what each is given is what it is given alone, whatever the others hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from discreet.core.schema import Number
from discreet.learners.residual_moments import ASIDE, FINE, predicted
from discreet.learners.row_by_row import RowsTogether, row_by_row

rng = np.random.default_rng(0)
ROWS = rng.uniform(-0.9, 0.9, (200, 3))


class Counting:
    """The first column of each row, or what a subclass makes of it; it counts its calls, and refuses some rows."""

    def __init__(self) -> None:
        self.calls = 0

    def predict(self, rows: Any) -> np.ndarray:
        self.calls += 1
        values = np.asarray(rows, dtype=np.float64)
        if np.isnan(values).any() or (values[:, 0] > 0.98).any():
            raise ValueError("a row is refused")
        return self.of(values)

    def of(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0]


class Centered(Counting):
    """What a row is given depends on all others."""

    def of(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] - values[:, 0].mean() + 0.25


class Rounded(Counting):
    """As a product of matrices that adds up in another order for other numbers of rows."""

    def of(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] + 1e-13 * len(values)


class Single(Counting):
    """As a network in single precision: what other rows change is in the last digits of a float32."""

    def of(self, values: np.ndarray) -> np.ndarray:
        return (values[:, 0] * (1 + 1e-7 * (len(values) % 3))).astype(np.float32)


def alone(model: Counting, rows: Any) -> np.ndarray:
    return np.concatenate([predicted(model, rows[i : i + 1], Number(-1, 1)) for i in range(len(rows))])


def test_predictions_are_those_of_each_row_alone_on_a_fine_grid() -> None:
    refused = ROWS.copy()
    refused[7, 1], refused[9, 0] = np.nan, 0.99
    for model in (Counting(), Centered(), Rounded(), Single()):
        found = predicted(model, refused, Number(-1, 1))
        np.testing.assert_array_equal(found, alone(model, refused))
        assert np.isnan(found[[7, 9]]).all()
    np.testing.assert_allclose(
        np.delete(predicted(Counting(), refused, Number(-1, 1)), [7, 9]), np.delete(ROWS[:, 0], [7, 9]), atol=2 / FINE
    )


def test_a_prediction_near_the_end_of_a_cell_is_computed_alone() -> None:
    """Such that adding 1e-13 for each of the others would put it into the next cell."""
    step = 2 / FINE
    ends = -1 + step * (np.arange(100, 300) - ASIDE) - 1e-12
    rows = np.column_stack([ends, ends])
    np.testing.assert_array_equal(predicted(Rounded(), rows, Number(-1, 1)), alone(Rounded(), rows))


def test_many_rows_take_few_calls_even_if_some_are_refused() -> None:
    for model in (Counting(), Single()):
        predicted(model, ROWS, Number(-1, 1))
        assert model.calls < 6
    rows = ROWS.copy()
    rows[::50, 1] = np.nan
    model = Counting()
    found = predicted(model, rows, Number(-1, 1))
    assert np.flatnonzero(np.isnan(found)).tolist() == [0, 50, 100, 150]
    assert model.calls < 20


def test_frames_and_objects_are_taken_apart_by_rows() -> None:
    values = [["a", 1.0], [None, 2.0], ["a", float("nan")], [pd.NA, 3.0]]
    seen: list[int] = []

    def compute(rows: Any) -> RowsTogether:
        seen.append(len(rows))
        return RowsTogether(np.asarray(rows)[:, 1].astype(np.float64), np.zeros(len(rows), dtype=np.bool_))

    for rows in (np.array(values, dtype=object), pd.DataFrame(values)):
        np.testing.assert_array_equal(row_by_row(compute, rows), [1.0, 2.0, np.nan, 3.0])
    assert set(seen) == {1, 2, 3}
