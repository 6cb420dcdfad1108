"""What is proposed are neighbors, always: one record more, or one that differs."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from discreet.audit.neighboring_records import Corners, NeighboringRecords, given_pairs, proposed
from discreet.core.neighbors import Neighbors

SPACES = ((0.0, 1.0), (-3, 5), ([0.0, -1.0], [2.0, 1.0]), ([0] * 7, [4] * 7))


def differing(pair: NeighboringRecords) -> tuple[int, int]:
    """How many records each has that the other has not."""
    first, second = (Counter(tuple(np.atleast_1d(row).tolist()) for row in side) for side in (pair.first, pair.second))
    return (first - second).total(), (second - first).total()


@pytest.mark.parametrize("bounds", SPACES)
def test_proposals_and_variations_are_neighbors_within_the_bounds(bounds: Any) -> None:
    corners, rng = Corners.of(bounds), np.random.default_rng(1)
    for relation, differ in ((Neighbors.ADD_REMOVE, {(0, 1)}), (Neighbors.REPLACE, {(1, 1), (0, 0)})):
        for size in (0, 1, 6):
            first = proposed(corners, relation, size)
            varied = [one.varied(corners, rng) for one in first for _ in range(3)]
            for pair in (proposal.pair for proposal in (*first, *varied)):
                assert differing(pair) in differ
                for side in (pair.first, pair.second):
                    assert np.all((side >= corners.lower) & (side <= corners.upper))
                    assert side.dtype == corners.lower.dtype
            assert {differing(proposal.pair) for proposal in first} <= differ - {(0, 0)}


def test_opposed_aligned_and_single_columns_are_among_the_proposals() -> None:
    corners = Corners.of(([0] * 5, [1] * 5))
    changes = {(tuple(p.one), tuple(p.other)) for p in proposed(corners, Neighbors.REPLACE, 2) if p.one is not None}
    zeros, ones = (0,) * 5, (1,) * 5
    assert {(zeros, ones), ((0, 0, 0, 0, 1), (1, 1, 1, 1, 0)), ((0, 1, 0, 1, 0), (1, 0, 1, 0, 1))} <= changes
    assert {(zeros, (1, 0, 0, 0, 0)), (ones, (0, 1, 1, 1, 1))} <= changes
    added = proposed(Corners.of((0.0, 3.0)), Neighbors.ADD_REMOVE, 0)
    assert sorted(float(one.other) for one in added) == [0.0, 1.5, 3.0]


def test_one_record_unlike_all_others_and_each_of_a_few_whole_numbers_are_among_them() -> None:
    shared = [one.shared.tolist() for one in proposed(Corners.of((0.0, 1.0)), Neighbors.ADD_REMOVE, 4)]
    assert [0.0, 1.0, 1.0, 1.0] in shared
    assert [1.0, 0.0, 0.0, 0.0] in shared
    for relation, one in ((Neighbors.ADD_REMOVE, None), (Neighbors.REPLACE, -2)):
        alone = [p for p in proposed(Corners.of((-2, 5)), relation, 3) if not len(p.shared)]
        few = {(None if p.one is None else int(p.one), int(p.other)) for p in alone}
        assert {(one, value) for value in range(-1, 5)} <= few
    assert len(proposed(Corners.of((0, 32)), Neighbors.ADD_REMOVE, 3)) == len(
        proposed(Corners.of((0.0, 32.0)), Neighbors.ADD_REMOVE, 3)
    )


def test_a_record_of_two_columns_is_moved_between_all_corners() -> None:
    corners = Corners.of(([0, 0], [1, 1]))
    moved = {
        frozenset((tuple(p.one), tuple(p.other))) for p in proposed(corners, Neighbors.REPLACE, 0) if p.one is not None
    }
    assert {pair for pair in moved if len(pair) == 2} >= {
        frozenset(pair) for pair in combinations(product((0, 1), repeat=2), 2)
    }


def test_given_data_sets_without_records_have_the_columns_of_the_other() -> None:
    assert given_pairs([([], [[1, 2, 3]])])[0].first.shape == (0, 3)
    assert given_pairs(([1.0], [])).pop().second.shape == (0,)
