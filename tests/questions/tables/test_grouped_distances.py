"""Grouped distances: means of what single tables have, which a record moves by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.questions.tables.coded_tables import TableCodes, TableDistances
from discreet.questions.tables.grouped_distances import GroupedDistances
from discreet.schema.schema import Category, Schema

SCHEMA = Schema({name: Category(("a", "b", "c")) for name in "xyz"})
CODES = TableCodes.of(SCHEMA, tuple("xyz"), ((), (), ()))
SETS, GROUPS = ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)), (0, 1, 2, 3, 3, 3)
EXPECTED = np.random.default_rng(1).uniform(0, 5, 3 * 4 + 3 * 16)


class Shown:
    """What a question sees of these records."""

    neighbors = Neighbors.ADD_REMOVE

    def __init__(self, rows: np.ndarray, unit: Unit = RECORD) -> None:
        self.rows, self.unit = rows, unit

    def batches(self, columns: object) -> list[np.ndarray]:
        return [self.rows[:3], self.rows[3:]]


def means(rows: np.ndarray) -> np.ndarray:
    answer = GroupedDistances(CODES, SETS, GROUPS, EXPECTED).answer(Shown(rows))  # type: ignore[arg-type]
    return answer.grid.values(answer.steps)


def rows(seed: int, n: int = 12) -> np.ndarray:
    rng = np.random.default_rng(seed)
    found = rng.integers(0, 3, (n, 3)).astype(float)
    found[rng.random(found.shape) < 0.2] = np.nan
    return found


def test_a_mean_is_that_of_the_distances_of_its_tables() -> None:
    asked = TableDistances(CODES, SETS, EXPECTED, np.ones(6), np.zeros(6))
    answer = asked.answer(Shown(rows(1)))  # type: ignore[arg-type]
    each = answer.grid.values(answer.steps)
    question = GroupedDistances(CODES, SETS, GROUPS, EXPECTED)
    np.testing.assert_allclose(means(rows(1)) / question.weights, [*each[:3], each[3:].mean()], rtol=1e-3)
    assert question.size == 4
    assert question.columns == ("x", "y", "z")


def test_one_record_moves_each_mean_by_one_at_most_and_some_do() -> None:
    question, worst = GroupedDistances(CODES, SETS, GROUPS, EXPECTED), np.zeros(4)
    for seed in range(200):
        moved = np.abs(means(rows(seed)) - means(rows(seed)[1:]))
        worst = np.maximum(worst, moved)
        assert (moved <= question.bound.radius).all()
    assert question.bound.radius <= 1.0
    assert worst[:3].min() == 1.0
    assert worst[3] > 0.9


def test_units_of_several_rows_move_them_farther() -> None:
    question = GroupedDistances(CODES, SETS, GROUPS, EXPECTED)
    answer = question.answer(Shown(rows(1), Unit("user", "x", 3)))  # type: ignore[arg-type]
    assert answer.sensitivity("linf") >= 3 * question.bound.radius


@pytest.mark.parametrize("groups", [(0, 1, 2), (0, 1, 2, 4, 4, 4), (-1, 0, 1, 2, 2, 2), ()])
def test_groups_that_are_not_there_are_refused(groups: Any) -> None:
    with pytest.raises(ParameterError):
        GroupedDistances(CODES, SETS, groups, EXPECTED)
