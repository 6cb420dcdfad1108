"""One record is in one block of each deal; whatever a function does, it moves nothing but its own block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.bound import Bound
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.block_sum import BlockSum
from discreet.schema.schema import Schema
from discreet.trust.curator import CuratorsView
from discreet.trust.sources.matrix import Matrix

SCHEMA = Schema.numeric(0.0, 1.0, 1)
SLOT = 0.1  # seconds of processor time


def steps(of: Any, records: Array, deals: int = 1) -> Array:
    question = BlockSum(of, ("x0",), (-1.0,), (1.0,), 3, deals, seconds=3 * SLOT * deals)
    view = CuratorsView(Matrix(records, SCHEMA), Neighbors.ADD_REMOVE, DeterministicBits(3))
    answer = question.answer(view)
    assert (answer.bound, answer.neighbors) == (question.bound, Neighbors.REPLACE)
    return question.grid.values(answer.steps)


def tells(rows: Array) -> Array:
    """Shouts about one record."""
    return np.array([1.0 if (rows == 0.5).any() else -1.0])


@pytest.mark.parametrize("deals", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_one_record_moves_the_sum_by_one_block_of_each_deal(deals: int) -> None:
    records = np.linspace(0.6, 1, 60)[:, None]
    without = steps(tells, records, deals)
    with_it = steps(tells, np.vstack([records[:-1], [[0.5]]]), deals)
    assert without == pytest.approx(-3 * deals)
    assert with_it - without == pytest.approx(2 * deals)


@pytest.mark.parametrize("deals", [1, 2, 7])
def test_the_bound_is_that_of_all_blocks_that_hold_a_record(deals: int) -> None:
    bound = BlockSum(tells, ("x0",), (-1.0,), (1.0,), 3, deals).bound
    assert bound == Bound("linf", float(deals))
    assert bound.sensitivity("linf", 1, Neighbors.REPLACE) >= 2 * deals


def test_odd_numbers_are_moved_into_their_bounds() -> None:
    question = BlockSum(tells, ("x0",), (-2.0, 0.0), (2.0, 1e308), 3)
    for odd in (None, np.array([np.nan, np.inf]), np.array([-np.inf, 1e308]), np.array([1.0, -5e-324])):
        assert (np.abs(question.stretched(odd)) <= 1).all()
    assert question.stretched(np.array([1.0, np.nan])).tolist() == [0.5, 0.0]
    assert question.stretched(None).tolist() == [0.0, 0.0]


def test_every_record_is_dealt_once_in_each_deal() -> None:
    total = steps(lambda rows: np.array([len(rows) / 100]), np.zeros((80, 1)), deals=2)
    assert total == pytest.approx(1.6, abs=1e-6)
