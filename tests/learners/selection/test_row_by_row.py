"""Rows computed together: what each is given is what it is given alone, whatever the others hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from discreet.learners.selection.evaluate_regression import ASIDE, FINE, predicted, predicting
from discreet.learners.selection.row_by_row import RowsTogether, row_by_row, treats_rows_alone
from discreet.schema.made_up_rows import rows_like, rows_of_schema, tries
from discreet.schema.schema import Number, Schema

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
        predict = predicting(model, Number(-1, 1), rows_like(ROWS))
        made_up, model.calls = model.calls, 0
        predict(ROWS)
        assert model.calls < 3
        assert made_up < 40
    rows = ROWS.copy()
    rows[::50, 1] = np.nan
    model.calls = 0
    found = predict(rows)
    assert np.flatnonzero(np.isnan(found)).tolist() == [0, 50, 100, 150]
    assert model.calls < 20


class Scaled(Counting):
    """As a pipeline that divides by the largest of all rows."""

    def of(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] / np.abs(values[:, 0]).max()


class Filled(Counting):
    """Puts the mean of the other rows in place of missing values, and does nothing else with them."""

    def predict(self, rows: Any) -> np.ndarray:
        values = np.asarray(rows, dtype=np.float64)
        gaps = np.isnan(values).any(axis=1)
        return np.where(gaps, np.nan_to_num(values).mean(), values.max(axis=1))


class Never(Counting):
    def predict(self, rows: Any) -> np.ndarray:
        raise ValueError("it refuses everything")


def test_whether_rows_are_treated_alone_is_decided_on_made_up_rows() -> None:
    """On equal private rows nothing shows, and on others it does: neither may decide."""
    decided = {Counting: True, Rounded: True, Single: True, Scaled: False, Centered: False, Filled: False, Never: False}
    for kind, expected in decided.items():
        for made_up in (rows_like(ROWS), rows_of_schema(Schema.numeric(-0.9, 0.9, 3), ("x0", "x1", "x2"))):
            seen: list[bool] = []
            model = kind()
            predict = predicting(model, Number(-1, 1), made_up)
            for rows in (np.full((6, 3), 0.5), ROWS[:6], np.zeros((6, 3))):
                model.calls = 0
                predict(rows)
                seen.append(model.calls < 6)
            assert kind in (Filled, Never) or seen == [expected] * 3, kind
        assert treats_rows_alone(lambda rows: together(kind(), rows), tries(rows_like(ROWS))) is expected, kind  # noqa: B023


def together(model: Counting, rows: Any) -> RowsTogether:
    scores = np.clip(model.predict(rows), -2.0, 2.0)
    return RowsTogether(scores, np.zeros(len(rows), dtype=np.bool_), scores)


def test_rows_are_made_up_by_shapes_and_types_alone() -> None:
    for first, second in ((np.ones((5, 2)), np.zeros((9, 2))), (np.ones((5, 2), int), np.zeros((9, 2), int))):
        np.testing.assert_array_equal(rows_like(first), rows_like(second))
    frames = [pd.DataFrame({"a": [value], "b": [3], "c": [True]}) for value in (1.5, -7.0)]
    pd.testing.assert_frame_equal(rows_like(frames[0]), rows_like(frames[1]))
    assert rows_like(frames[0]).columns.tolist() == ["a", "b", "c"]
    assert rows_like(object()) is None
    assert tries(None) == []
    assert not treats_rows_alone(lambda rows: together(Counting(), rows), [])


def test_one_more_row_moves_the_cells_of_an_evaluation_by_one() -> None:
    """A pipeline that divides by the largest of the batch, at 2,000 rows: all of them moved."""
    rows = np.linspace(0.1, 0.9, 2000)[:, None]
    for model in (Scaled(), Centered()):
        found = [predicted(model, part, Number(-1, 1)) for part in (rows, np.concatenate([rows, [[100.0]]]))]
        np.testing.assert_array_equal(found[0], found[1][:-1])


def test_frames_and_objects_are_taken_apart_by_rows() -> None:
    values = [["a", 1.0], [None, 2.0], ["a", float("nan")], [pd.NA, 3.0]]
    seen: list[int] = []

    def compute(rows: Any) -> RowsTogether:
        seen.append(len(rows))
        values = np.asarray(rows)[:, 1].astype(np.float64)
        return RowsTogether(values, np.zeros(len(rows), dtype=np.bool_), values)

    for rows in (np.array(values, dtype=object), pd.DataFrame(values)):
        np.testing.assert_array_equal(row_by_row(compute, rows, alone=True), [1.0, 2.0, np.nan, 3.0])
    assert set(seen) == {1, 3}
