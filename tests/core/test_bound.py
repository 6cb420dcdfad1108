"""Nobody adds more than the bound says, in exact arithmetic, whatever the record holds."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from discreet.core.bound import Bound, Norm
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Neighbors
from discreet.questions.question import BoundedSum

NORMS: list[Norm] = ["l1", "l2", "linf"]
anything = arrays(np.float64, (3, 4), elements=st.floats(allow_nan=True, allow_infinity=True, width=64))
radii = st.floats(1e-3, 1e3)


def within(row: Array, norm: Norm, limit: Fraction) -> bool:
    """Whether a row is inside the ball, in rational arithmetic."""
    entries = [abs(Fraction(float(value))) for value in row]
    match norm:
        case "l1":
            return sum(entries) <= limit
        case "l2":
            return sum(entry**2 for entry in entries) <= limit**2
        case "linf":
            return max(entries) <= limit


@pytest.mark.parametrize("norm", NORMS)
@given(rows=anything, radius=radii)
def test_a_contribution_is_inside_the_ball_that_the_sensitivity_names(norm: Norm, rows: Array, radius: float) -> None:
    bound = Bound(norm, radius)
    steps = BoundedSum(lambda records: records, bound, ("x0",)).steps(rows)
    limit = Fraction(bound.sensitivity(norm, 4, Neighbors.ADD_REMOVE))
    for row in Grid.of_radius(radius).values(steps):
        assert within(row, norm, limit)


@pytest.mark.parametrize("norm", NORMS)
@given(rows=anything)
def test_a_sound_row_is_not_touched_and_an_unsound_one_counts_as_zero(norm: Norm, rows: Array) -> None:
    clipped = Bound(norm, 1.0).clip(rows)
    for before, after in zip(rows, clipped, strict=True):
        if not np.isfinite(before).all():
            assert (after == 0).all()
        elif np.abs(before).max() < 0.25:
            assert (after == before).all()


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_a_row_is_clipped_alike_alone_and_among_others_however_it_lies_in_memory(norm: Norm) -> None:
    rows = np.random.default_rng(0).normal(size=(500, 20))
    bound = Bound(norm, 0.7)
    together = bound.clip(np.asfortranarray(rows))
    alone = np.vstack([bound.clip(np.asfortranarray(rows[i : i + 1])) for i in range(500)])
    np.testing.assert_array_equal(together, alone)


def test_a_huge_row_keeps_its_direction() -> None:
    clipped = Bound("l2", 1.0).clip(np.array([[1e308, 1e308]]))
    np.testing.assert_allclose(clipped, np.sqrt(0.5))


@pytest.mark.parametrize(
    ("norm", "asked", "expected"),
    [("l2", "l1", 2.0), ("l1", "l2", 1.0), ("linf", "l2", 2.0), ("linf", "l1", 4.0), ("l2", "linf", 1.0)],
)
def test_a_bound_in_one_norm_limits_every_other(norm: Norm, asked: Norm, expected: float) -> None:
    assert Bound(norm, 1.0).sensitivity(asked, 4, Neighbors.ADD_REMOVE) == pytest.approx(expected, rel=1e-12)


@given(
    arrays(np.float64, (2, 3), elements=st.floats(0, 1)),
    st.sampled_from(NORMS),
    st.sampled_from(NORMS),
)
def test_two_nonnegative_contributions_are_no_farther_apart_than_stated(pair: Array, norm: Norm, asked: Norm) -> None:
    bound = Bound(norm, 1.0, nonnegative=True)
    first, second = bound.clip(pair)
    limit = Fraction(bound.sensitivity(asked, 3, Neighbors.REPLACE))
    assert within(first - second, asked, limit)


def test_replacing_one_mark_in_a_histogram_moves_it_by_root_two() -> None:
    one_cell = Bound("l1", 1.0, nonnegative=True)
    assert one_cell.sensitivity("l2", 10, Neighbors.REPLACE) == pytest.approx(math.sqrt(2))
    assert one_cell.sensitivity("l1", 10, Neighbors.REPLACE) == pytest.approx(2)
    assert Bound("l1", 1.0).sensitivity("l2", 10, Neighbors.REPLACE) == pytest.approx(2)


@pytest.mark.parametrize("radius", [0.0, -1.0, math.inf, math.nan])
def test_a_bound_needs_a_positive_finite_radius(radius: float) -> None:
    with pytest.raises(ParameterError, match="positive, finite radius"):
        Bound("l2", radius)


def test_an_unknown_norm_is_refused() -> None:
    with pytest.raises(ParameterError, match="l1, l2 or linf"):
        Bound("l3", 1.0)  # type: ignore[arg-type]


def test_many_rows_of_one_unit_count_in_full_and_round_up() -> None:
    assert Fraction(Bound("l1", 0.1).times(3).radius) >= 3 * Fraction(0.1)


def corners(norm: Norm, size: int, nonnegative: bool) -> list[Array]:
    """Where distances between points of a ball of radius one are greatest, or as great as anywhere."""
    signs = itertools.product([0.0, 1.0] if nonnegative else [-1.0, 0.0, 1.0], repeat=size)
    points = [np.array(point) for point in signs if any(point)]
    return [
        np.zeros(size),
        *(point / np.linalg.norm(point, {"l1": 1, "l2": 2, "linf": np.inf}[norm]) for point in points),
    ]


@pytest.mark.parametrize("nonnegative", [False, True])
def test_the_sensitivity_is_the_greatest_distance_that_a_unit_can_bring_about(nonnegative: bool) -> None:
    for own, norm, size in itertools.product(NORMS, NORMS, (1, 2, 3)):
        bound, points = Bound(own, 1.0, nonnegative), corners(own, size, nonnegative)
        order = {"l1": 1, "l2": 2, "linf": np.inf}[norm]
        joined = max(np.linalg.norm(point, order) for point in points)
        replaced = max(np.linalg.norm(a - b, order) for a, b in itertools.product(points, repeat=2))
        assert bound.sensitivity(norm, size, Neighbors.ADD_REMOVE) == pytest.approx(joined)
        assert bound.sensitivity(norm, size, Neighbors.REPLACE) >= replaced * (1 - 1e-12)
        if not nonnegative or size == 1 or own == norm:
            assert bound.sensitivity(norm, size, Neighbors.REPLACE) == pytest.approx(replaced)


def test_what_is_below_zero_is_raised_to_zero_and_nothing_ends_outside() -> None:
    np.testing.assert_array_equal(Bound("l1", 1.0, nonnegative=True).clip(np.array([[-0.5, 0.25]])), [[0.0, 0.25]])
    for radius in (1.0, 0.1, 1 / 3):
        assert (np.abs(Bound("linf", radius).clip(np.array([[3.0, -7.0, 1e300]]))) <= radius).all()


def test_a_unit_of_several_rows_has_so_many_times_the_bound() -> None:
    assert Bound("l2", 0.5).times(3) == Bound("l2", 1.5)
    assert Bound("l1", 2.0, nonnegative=True).times(2) == Bound("l1", 4.0, nonnegative=True)
