"""An answer keeps its value to itself and knows how far a unit can move it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.answer import Answer, KeyedAnswer, whole_numbers
from discreet.core.bound import Bound
from discreet.core.grid import Grid
from discreet.core.neighbors import Neighbors


def test_an_answer_does_not_print_its_value() -> None:
    secret = whole_numbers([31337], Bound("l1", 1.0))
    keyed = KeyedAnswer(("a-secret-town",), np.array([31337]), 1, Neighbors.ADD_REMOVE)
    assert "31337" not in repr(secret) + str(secret) + repr(keyed)
    assert "town" not in repr(keyed)


@given(st.floats(1e-6, 1e6), st.floats(1e-3, 1e3))
def test_a_noise_scale_is_never_rounded_down(multiplier: float, radius: float) -> None:
    answer = Answer(np.array([0]), Grid.of_radius(radius), Bound("l1", radius), Neighbors.ADD_REMOVE)
    exact = Fraction(multiplier) * Fraction(radius) / Fraction(answer.grid.step)
    assert Fraction(answer.scale(multiplier, "l1")) >= exact


def test_a_sensitivity_that_is_no_binary_fraction_is_not_rounded_down() -> None:
    answer = Answer(np.zeros(1, dtype=np.int64), Grid(-30), Bound("l1", 0.1), Neighbors.REPLACE)
    assert Fraction(answer.sensitivity("l1")) >= 2 * Fraction(0.1)


@given(st.lists(st.integers(-(2**50), 2**50), min_size=1, max_size=4), st.integers(0, 2**20))
def test_coarsening_counts_what_flooring_can_add(steps: list[int], move: int) -> None:
    bound = Bound("l1", float(2**20))
    first = Answer(np.array(steps), Grid(0), bound, Neighbors.ADD_REMOVE)
    second = Answer(np.array([steps[0] + move, *steps[1:]]), Grid(0), bound, Neighbors.ADD_REMOVE)
    noisy = 2.0**30  # fifty bits of cells: ten too many
    coarse, other = first.coarsened(noisy, "l1"), second.coarsened(noisy, "l1")
    assert coarse.grid == other.grid == Grid(11)
    distance = np.abs(coarse.grid.values(coarse.steps - other.steps)).sum()
    assert distance <= coarse.sensitivity("l1")
    assert coarse.sensitivity("l1") == pytest.approx(2**20 + len(steps) * 2**11)


def test_many_coordinates_are_not_floored_where_that_would_move_them_farther() -> None:
    """A step in each of 10,000 coordinates is far more than the three that one unit moves."""
    answer = Answer(np.zeros(10_000, np.int64), Grid(0), Bound("l1", 3.0), Neighbors.ADD_REMOVE)
    assert answer.coarsened(1e12, "l1") is answer
    assert answer.scale(1e12, "l1") < 2**52 < answer._floored(2).scale(1e12, "l1")


def test_refining_changes_neither_value_nor_sensitivity() -> None:
    answer = whole_numbers([7, -3], Bound("l2", 1.0))
    fine = answer.refined(4.0, "l2")
    np.testing.assert_array_equal(fine.grid.values(fine.steps), [7, -3])
    assert fine.sensitivity("l2") == answer.sensitivity("l2")
    assert 2**23 <= fine.scale(4.0, "l2") <= 2**24
    assert fine.refined(4.0, "l2") is fine


def test_rounding_half_to_even_would_move_neighbors_two_steps_apart() -> None:
    assert np.rint(1.5) - np.rint(0.5) == 2
    first = Answer(np.array([1]), Grid(-1), Bound("l1", 0.5), Neighbors.ADD_REMOVE)._floored(1)
    second = Answer(np.array([3]), Grid(-1), Bound("l1", 0.5), Neighbors.ADD_REMOVE)._floored(1)
    assert abs(int(first.steps[0] - second.steps[0])) == 1


def test_noise_is_added_modulo_the_word_so_that_overflow_tells_nothing() -> None:
    answer = whole_numbers([2**63 - 1], Bound("l1", 1.0))
    assert answer.noised(np.array([1])) == -(2.0**63)


def test_only_a_nonnegative_sum_under_add_remove_is_monotone() -> None:
    up = Bound("linf", 1.0, nonnegative=True)
    assert whole_numbers([0], up).monotone
    assert not whole_numbers([0], up, Neighbors.REPLACE).monotone
    assert not whole_numbers([0], Bound("linf", 1.0)).monotone


def test_slack_is_counted_in_the_steps_of_the_grid() -> None:
    answer = Answer(np.array([5]), Grid(0), Bound("l1", 1.0), Neighbors.ADD_REMOVE, slack=4.0)
    assert answer.sensitivity("l1") == pytest.approx(5.0)
    assert answer._floored(2).slack == 2.0
    assert answer.refined(1.0, "l1").sensitivity("l1") == pytest.approx(5.0)
    wide = Answer(np.array([5, 5, 5, 5]), Grid(-3), Bound("l2", 1.0), Neighbors.REPLACE, slack=8.0)
    assert [wide.sensitivity(norm) for norm in ("l1", "l2", "linf")] == pytest.approx([8.0, 4.0, 3.0])
