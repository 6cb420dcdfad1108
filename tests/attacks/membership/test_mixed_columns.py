"""Rows as points: scales, categories, missing values, tables in every form."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from discreet.attacks.membership.mixed_columns import MixedColumns, rows_of
from discreet.core.errors import ParameterError
from discreet.microdata import synthesize


def test_a_category_is_as_far_as_a_number_is_on_average() -> None:
    rng = np.random.default_rng(0)
    for values in (4, 200):
        rows = np.empty((4000, 2), dtype=object)
        rows[:, 0], rows[:, 1] = rng.normal(40, 12, 4000), [f"v{code}" for code in rng.integers(0, values, 4000)]
        points = MixedColumns.of(rows).points(rows)
        first, second = points[:2000], points[2000:]
        apart = rows[:2000, 1] != rows[2000:, 1]
        assert ((first - second)[:, :2] ** 2).sum(axis=1).mean() == pytest.approx(2, rel=0.1)
        assert ((first - second)[apart, 2:] ** 2).sum(axis=1).mean() == pytest.approx(2, rel=0.05)
        assert not (first - second)[~apart, 2:].any()


def test_missing_values_are_values_and_times_are_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    days = [date(2020, 1, 1), date(2020, 1, 3), None]
    rows = np.array([[1.0, "a", days[0]], [np.nan, None, days[1]], [pandas.NA, "a", days[2]]], dtype=object)
    points = MixedColumns.of(rows).points(rows)
    assert points.shape == (3, 6)
    assert points[:, 1].tolist() == [0, 1, 1]
    assert (points[0, 2:4] == points[2, 2:4]).all()
    assert points[:, 4].tolist() == [-1, 1, 0]
    assert np.isfinite(points).all()


def test_constant_columns_and_values_never_seen_leave_numbers() -> None:
    mixed = MixedColumns.of(np.array([[5.0, "a"], [5.0, "b"]], dtype=object))
    assert mixed.points(np.array([[5.0, "a"], [6.0, "z"]], dtype=object)).tolist() == [[0, 0, 1, 0], [1, 0, 0, 0]]


def test_columns_of_another_kind_are_refused() -> None:
    mixed = MixedColumns.of(np.array([[5.0, "a"], [5.0, "b"]], dtype=object))
    for rows in ([["x", "a"]], [[1.0, "1"]]):
        with pytest.raises(ParameterError, match="Give both as numbers"):
            mixed.points(np.array(rows, dtype=object))


def test_tables_frames_and_arrays_give_the_same_rows() -> None:
    pytest.importorskip("pandas")
    people = {"sex": ["f", "m"] * 50, "age": [30.0, 40.0] * 50}
    table = synthesize(people, bounds={"sex": ["f", "m"], "age": (0, 100)}, epsilon=10.0, random_state=0)
    frame = table.to_pandas()
    plain = rows_of("attack", table, 2)
    assert (rows_of("attack", frame, 2) == plain).all()
    assert (rows_of("attack", frame, 2, ("age", "sex")) == plain[:, ::-1]).all()
    assert (rows_of("attack", table, 1, ("age",)) == plain[:, [1]]).all()
    with pytest.raises(ParameterError, match="no column height"):
        rows_of("attack", table, 1, ("height",))
    for wrong in (np.zeros((3, 3)), np.zeros((0, 2)), np.zeros(2), 3, None):
        with pytest.raises(ParameterError, match="columns of the records"):
            rows_of("attack", wrong, 2)
