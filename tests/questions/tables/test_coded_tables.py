"""Coded tables: missing values are counted, what a record moves is bounded, and distances are exact."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.questions.tables.coded_tables import TableCodes, TableDistances, coded_tables_of
from discreet.schema.schema import Category, Number, Schema
from tests.questions.trial import Trial

TRIALS = {
    "coded_tables": Trial(
        {
            "columns": ("kind", "two", "x"),
            "edges": ((), (), (-10.0, 0.0, 30.5, 110.0)),
            "sets": ((0,), (0, 1), (1, 2)),
            "norm": "l2",
        },
        "49f68a2044fd",
        forged=[{"sets": ((0, 3),)}, {"sets": ((0, 0),)}, {"edges": ((), (), ())}, {"edges": ((), (), (0.0, 0.0))}],
    )
}

SCHEMA = Schema({"age": Number(0, 90), "sex": Category(("f", "m")), "town": Category(("a", "b", "c"))})
NAMES, EDGES = ("age", "sex", "town"), ((0.0, 30.0, 90.0), (), ())
SETS = ((0,), (0, 1), (1, 2))
CODES = TableCodes.of(SCHEMA, NAMES, EDGES)
ROWS = np.array([[31.0, 0, 2], [np.nan, 1, np.nan], [0.0, np.nan, 0], [90.0, 1, 1]])


class Shown:
    """What a question sees of these records."""

    neighbors, unit = Neighbors.ADD_REMOVE, RECORD

    def __init__(self, rows: np.ndarray, unit: Unit = RECORD) -> None:
        self.rows, self.unit = rows, unit

    def batches(self, columns: object) -> list[np.ndarray]:
        return [self.rows[:2], self.rows[2:]]


def scores(rows: np.ndarray, weights: list[float], penalties: list[float]) -> np.ndarray:
    expected = np.random.default_rng(3).uniform(0, 2, 3 + 9 + 12)
    asked = TableDistances(CODES, SETS, expected, np.array(weights), np.array(penalties))
    answer = asked.answer(Shown(rows))  # type: ignore[arg-type]
    return answer.grid.values(answer.steps)


def test_every_record_has_a_mark_in_every_table_also_one_with_missing_values() -> None:
    asked = coded_tables_of(SCHEMA, NAMES, EDGES, SETS, "l2")
    marks = asked.of(ROWS)
    assert asked.size == 24
    assert (marks.sum(axis=1) == 3).all()
    np.testing.assert_array_equal(asked.total(ROWS), marks.sum(axis=0))  # type: ignore[misc]
    assert asked.bound.radius >= math.sqrt(3)
    assert coded_tables_of(SCHEMA, NAMES, EDGES, SETS, "l1").bound.radius == 3
    assert asked.total(ROWS)[:3].tolist() == [1, 2, 1]  # type: ignore[misc]


def test_one_record_moves_each_distance_by_its_weight_at_most() -> None:
    weights, worst = [1.0, 0.5, 0.25], 0.0
    rng = np.random.default_rng(1)
    for _ in range(200):
        rows = np.column_stack([rng.uniform(0, 90, 20), rng.integers(0, 2, 20), rng.integers(0, 3, 20)])
        rows[rng.random(rows.shape) < 0.2] = np.nan
        moved = np.abs(scores(rows, weights, [0.0] * 3) - scores(rows[1:], weights, [0.0] * 3))
        assert (moved <= weights).all()
        worst = max(worst, float(moved[0]))
    assert worst == 1.0


def test_distances_are_weighted_and_penalties_taken_off() -> None:
    plain = scores(ROWS, [1.0] * 3, [0.0] * 3)
    np.testing.assert_allclose(scores(ROWS, [0.5] * 3, [2.0, 0.0, -1.0]), plain / 2 - [2.0, 0.0, -1.0], atol=2e-3)
    expected = np.random.default_rng(3).uniform(0, 2, 24)
    assert plain[0] == pytest.approx(np.abs([1, 2, 1] - expected[:3]).sum(), abs=0.01)


def test_units_of_several_rows_move_them_farther() -> None:
    asked = TableDistances(CODES, ((0,),), np.zeros(3), np.ones(1), np.zeros(1))
    answer = asked.answer(Shown(ROWS, Unit("user", "age", 3)))  # type: ignore[arg-type]
    assert answer.sensitivity("linf") >= 3


def test_every_cell_has_a_value_that_is_in_it() -> None:
    for axes in ((0,), (1, 2), (2, 0)):
        middles = CODES.middles(axes)
        rows = np.column_stack([middles.get(name, np.zeros(CODES.cells(axes))) for name in NAMES])
        np.testing.assert_array_equal(CODES.codes(CODES.places(rows), axes), np.arange(CODES.cells(axes)))


@pytest.mark.parametrize(
    ("sets", "edges"), [(((3,),), EDGES), (((0, 0),), EDGES), (((),), EDGES), ((), EDGES), (SETS, ((), (), ()))]
)
def test_columns_that_are_not_there_and_numbers_without_edges_are_refused(sets: Any, edges: Any) -> None:
    with pytest.raises(ParameterError):
        coded_tables_of(SCHEMA, NAMES, edges, sets, "l2")


def test_weights_above_one_are_refused_since_the_bound_is_theirs() -> None:
    for weight in (0.0, 1.5, np.nan):
        with pytest.raises(ParameterError, match="a weight is not between"):
            TableDistances(CODES, ((0,),), np.zeros(3), np.array([weight]), np.zeros(1))


def test_a_place_that_a_category_has_not_counts_as_missing_and_no_other_cell_is_touched() -> None:
    odd = np.array([[10.0, place, 0.0] for place in (-3.0, 2.0, 7.0, np.inf, -np.inf, 1e300, np.nan)])
    with np.errstate(all="raise"):
        places = CODES.places(odd)
    assert (places[:, 1] == 2).all()
    for norm in ("l1", "l2"):
        asked = coded_tables_of(SCHEMA, NAMES, EDGES, SETS, norm)
        assert (asked.of(odd).sum(axis=1) == len(SETS)).all()
        np.testing.assert_array_equal(asked.total(odd), asked.of(odd).sum(axis=0))  # type: ignore[misc]


def test_a_table_of_no_columns_has_one_cell() -> None:
    np.testing.assert_array_equal(CODES.codes(CODES.places(ROWS), ()), np.zeros(len(ROWS)))
