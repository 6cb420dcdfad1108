"""Stretches of cells: every record has one mark, and none moves a score of a split by more than one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.questions.tables.coded_tables import TableCodes
from discreet.questions.tables.splits import Split, SplitScores, table_of_stretches_of
from discreet.schema.schema import Category, Number, Schema
from tests.questions.trial import Trial

TRIALS = {
    "table_of_stretches": Trial(
        {
            "columns": ("kind", "two", "x"),
            "edges": ((), (), (-10.0, 0.0, 30.5, 110.0)),
            "starts": ((0, 2), (0,), (0, 1, 3)),
        },
        "ae9620464cc8",
        forged=[
            {"starts": ((0, 9), (0,), (0, 1, 3))},
            {"starts": ((1, 2), (0,), (0, 1, 3))},
            {"starts": ((0, 2, 2), (0,), (0, 1, 3))},
            {"starts": ((), (0,), (0, 1, 3))},
            {"starts": ((0, 2), (0,))},
        ],
    )
}

SCHEMA = Schema({"age": Number(0, 90), "town": Category(("a", "b", "c")), "ill": Category(("no", "yes"))})
CODES = TableCodes.of(SCHEMA, ("age", "town", "ill"), ((0.0, 30.0, 60.0, 90.0), (), ()))
SPLITS = (Split(0, 0, 1, 4), Split(0, 0, 3, 4), Split(0, 1, 2, 3), Split(1, 0, 2, 4), Split(1, 2, 3, 4))


class Shown:
    """What a question sees of these records."""

    def __init__(self, rows: np.ndarray, neighbors: Neighbors = Neighbors.ADD_REMOVE, unit: Unit = RECORD) -> None:
        self.rows, self.neighbors, self.unit = rows, neighbors, unit

    def batches(self, columns: object) -> list[np.ndarray]:
        return [self.rows[:2], self.rows[2:]]


def records(n: int, rng: np.random.Generator) -> np.ndarray:
    ill = rng.integers(0, 2, n)
    age = np.where(rng.random(n) < 0.7, 80.0 * ill, rng.uniform(0, 90, n))
    rows = np.column_stack([age, rng.integers(0, 3, n), ill])
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows


def scores(rows: np.ndarray) -> np.ndarray:
    answer = SplitScores(CODES, 2, SPLITS).answer(Shown(rows))  # type: ignore[arg-type]
    return answer.grid.values(answer.steps)


def test_a_score_is_the_distance_from_classes_that_say_nothing() -> None:
    rows = records(300, np.random.default_rng(1))
    table = np.bincount(CODES.codes(CODES.places(rows), (0, 2)), minlength=12).reshape(4, 3)
    left, right = table[:1].sum(axis=0), table[1:].sum(axis=0)
    expected = left.sum() * (left + right) / (left + right).sum()
    assert scores(rows)[0] == pytest.approx(np.abs(left - expected).sum() / 2, abs=1e-5)


def test_one_record_moves_a_score_by_one_at_most_also_where_it_is_replaced() -> None:
    rng, moved, replaced = np.random.default_rng(2), 0.0, 0.0
    alike, others = np.array([[0.0, 0, 0]] * 2), np.array([[80.0, 0, 1]] * 500)
    for rows in [np.concatenate([alike[:1], others]), *(records(n, rng) for n in [1, 2, 3, *[15] * 300])]:
        other = rows.copy()
        other[0] = records(1, rng) if len(rows) < 100 else [0.0, 0, 1]
        moved = max(moved, float(np.abs(scores(rows) - scores(rows[1:])).max()))
        replaced = max(replaced, float(np.abs(scores(rows) - scores(other)).max()))
    asked = SplitScores(CODES, 2, SPLITS)
    for neighbors in Neighbors:
        sensitivity = asked.answer(Shown(rows, neighbors)).sensitivity("linf")  # type: ignore[arg-type]
        assert max(moved, replaced) <= sensitivity < 1.001
    assert min(moved, replaced) > 0.9
    users = asked.answer(Shown(rows, unit=Unit("user", "age", 3)))  # type: ignore[arg-type]
    assert users.sensitivity("linf") >= 3


def test_a_replaced_record_moves_the_scores_of_both_parts_of_a_stretch() -> None:
    """So choices in parts that have no record in common cost no less together, as DiffGen has it."""
    both = (Split(0, 0, 1, 2), Split(0, 2, 3, 4))
    rows = np.array([[0.0, 0, 0]] * 20 + [[40.0, 0, 1]] * 20 + [[80.0, 0, 0]] * 20 + [[np.nan, 0, 1]] * 20)
    other = rows.copy()
    other[0] = [np.nan, 0, 1]
    first, second = (
        SplitScores(CODES, 2, both).answer(Shown(own)).steps  # type: ignore[arg-type]
        for own in (rows, other)
    )
    assert (np.abs(first - second) > 0).all()


def test_nobody_and_huge_numbers_have_exact_scores() -> None:
    assert (scores(np.empty((0, 3))) == 0).all()
    sums = np.array([[2**60, 0], [2**60, 2**61]], dtype=object)
    steps = SplitScores(CODES, 2, SPLITS)._steps(sums, Split(0, 0, 1, 2))
    assert steps == (2 * 2**60 * 2**61 * 2**20) // (2 * (2**60 + 2**61))


def test_every_record_has_one_mark_in_a_table_of_stretches() -> None:
    rows = records(200, np.random.default_rng(1))
    asked = table_of_stretches_of(SCHEMA, CODES.columns, CODES.edges, ((0, 2), (0,), (0, 1, 2)))
    assert asked.size == 6
    np.testing.assert_array_equal(asked.of(rows).sum(axis=1), 1)
    whole = np.bincount(CODES.codes(CODES.places(rows), (0, 2)), minlength=12).reshape(4, 3)
    np.testing.assert_array_equal(asked.total(rows).reshape(2, 3), whole.reshape(2, 2, 3).sum(axis=1))  # type: ignore[misc]


@pytest.mark.parametrize(
    ("target", "splits"),
    [
        (2, ()),
        (3, SPLITS),
        (0, SPLITS),
        (2, (Split(0, 0, 0, 4),)),
        (2, (Split(0, 0, 4, 4),)),
        (2, (Split(0, 0, 1, 5),)),
        (2, (Split(0, -1, 1, 4),)),
        (2, (Split(3, 0, 1, 2),)),
    ],
)
def test_splits_that_are_not_there_are_refused(target: int, splits: Any) -> None:
    with pytest.raises(ParameterError):
        SplitScores(CODES, target, splits)


def test_stretches_that_overlap_or_leave_cells_out_are_refused() -> None:
    for starts in ((0, 2, 2), (0, 3, 1), (1, 2), (0, 4), (), (0.0, 0.5)):
        with pytest.raises(ParameterError):
            table_of_stretches_of(SCHEMA, CODES.columns, CODES.edges, (starts, (0,), (0,)))  # type: ignore[arg-type]
