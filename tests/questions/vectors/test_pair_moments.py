"""Moments of pairs up to the fourth: exact sums, a bound that holds for the very numbers that are added."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.bound import Norm
from discreet.core.errors import ParameterError
from discreet.core.neighbors import Neighbors
from discreet.questions.named import question_of
from discreet.questions.question import BoundedSum
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.pair_moments import PairMoments, pair_moments_of, pair_moments_size
from discreet.questions.vectors.second_moments import second_moments_of, weights_of
from discreet.schema.schema import Number, Schema
from discreet.trust.sources.matrix import Matrix
from tests.questions.trial import Trial

TRIALS = {"pair_moments": Trial({"columns": ("x", "y"), "radius": 1.0, "norm": "l2"}, "99dafb525b09")}
rng = np.random.default_rng(0)
SCHEMA = Schema({"a": Number(-3, 5), "b": Number(0, 1e-3), "c": Number(-2e9, -1e9)})
COLUMNS = SCHEMA.features
MIDDLE, HALF = np.array([1.0, 5e-4, -1.5e9]), np.array([4.0, 5e-4, 5e8])
ODD = np.array([[np.nan, 0, 0], [1e308, -1e308, 0], [0, 0, np.nan], [-0.0, 5e-324, -1e9], [5, 1e-3, -1e9]])
WILD = np.vstack([MIDDLE + HALF * rng.uniform(-1, 1, (700, 3)), MIDDLE + HALF * rng.normal(size=(300, 3)), ODD])
RECORDS = np.clip(WILD, MIDDLE - HALF, MIDDLE + HALF)
POWERS = [(p, total - p) for total in range(5) for p in range(total + 1)]
radii = pytest.mark.parametrize("radius", [2.0**-6, 0.3, 1.0, math.sqrt(3), 100.0])
norms = pytest.mark.parametrize("norm", ["l1", "l2"])


def question(radius: float, norm: Norm) -> BoundedSum:
    return pair_moments_of(SCHEMA, COLUMNS, radius, norm)


@radii
@norms
@pytest.mark.parametrize("records", [RECORDS, WILD, RECORDS[:0]], ids=["inside", "wild", "none"])
def test_the_fused_sum_is_the_sum_of_its_clipped_rows(radius: float, norm: Norm, records: np.ndarray) -> None:
    asked = question(radius, norm)
    assert asked.total is not None
    np.testing.assert_array_equal(asked.total(records), asked.steps(records).sum(axis=0))
    rows = asked.of(records)
    np.testing.assert_array_equal(asked.bound.clip(rows), rows)
    assert rows.shape[1] == pair_moments_size(3) == asked.size


@pytest.mark.parametrize("size", [1, 2, 7])
@radii
@norms
def test_the_bound_holds_for_the_numbers_as_they_are_added(radius: float, size: int, norm: Norm) -> None:
    """In exact fractions, on rows at the corners, rows on the sphere, and rows beyond the bounds."""
    schema = Schema.numeric(-1.0, 1.0, size)
    asked = pair_moments_of(schema, schema.features, radius, norm)
    normal = rng.normal(size=(20, size))
    sphere = min(radius, math.sqrt(size)) * normal / np.linalg.norm(normal, axis=1, keepdims=True)
    records = np.vstack([rng.choice([-1.0, 1.0], (10, size)), np.eye(size)[:1], sphere, 5 * sphere, 7 * np.eye(size)])
    power = {"l1": 1, "l2": 2}[norm]
    for row in asked.of(records):
        assert sum(abs(Fraction(value)) ** power for value in row) <= Fraction(asked.bound.radius) ** power


@norms
@pytest.mark.parametrize("radius", [0.6, 2.0])
def test_without_noise_they_are_the_sums_of_powers(norm: Norm, radius: float) -> None:
    """Records inside the ball, so that none is shrunk; coordinates are off by half a step, squares by one."""
    z = rng.uniform(-0.3, 0.3, (500, 3))
    asked, coordinates = question(radius, norm), Coordinates.of(SCHEMA, COLUMNS, radius)
    sums = asked.grid.values(Matrix(MIDDLE + HALF * z, SCHEMA).sum(asked))
    found = PairMoments.of_fourth(sums, coordinates, norm)
    for i in range(3):
        for j in range(3):
            for p, q in POWERS:
                exact = float((z[:, i] ** p * z[:, j] ** q).sum())
                assert found.sum_of(i, j, p, q) == pytest.approx(exact, abs=500 * 4 * coordinates.grid.step)


def test_the_scales_say_how_far_the_noise_on_a_number_moves_each_sum() -> None:
    coordinates = Coordinates.of(SCHEMA, COLUMNS, 0.7)
    size = pair_moments_size(3)
    zero = PairMoments.of_fourth(np.zeros(size), coordinates, "l2")
    moved = [PairMoments.of_fourth(np.eye(size)[place], coordinates, "l2") for place in range(size)]
    for i, j in ((0, 1), (2, 1)):
        for p, q in POWERS:
            steps = [abs(each.sum_of(i, j, p, q)) for each in moved]
            assert max(steps) == pytest.approx(zero.scale_of(p, q))
            assert np.count_nonzero(steps) == 1


def test_they_make_the_noise_of_second_moments_hardly_larger() -> None:
    """By 4 to 7 % where it is Gaussian, and by 10 to 35 % where it is Laplace."""
    limits: list[tuple[Norm, float, float]] = [("l2", 1.03, 1.08), ("l1", 1.09, 1.35)]
    for size in (1, 2, 5, 30):
        schema = Schema.numeric(0.0, 1.0, size)
        alone = second_moments_of(schema, schema.features, math.sqrt(size)).bound
        for norm, least, most in limits:
            both = pair_moments_of(schema, schema.features, math.sqrt(size), norm).bound
            ratio = both.sensitivity(norm, pair_moments_size(size), Neighbors.ADD_REMOVE) / alone.sensitivity(
                norm, len(weights_of(1 + size)), Neighbors.ADD_REMOVE
            )
            assert least <= ratio <= most


def test_it_is_built_again_from_its_recipe() -> None:
    asked = question(0.7, "l1")
    assert asked.recipe is not None
    again = question_of(asked.recipe, SCHEMA)
    assert (again.bound, again.grid, again.columns) == (asked.bound, asked.grid, asked.columns)
    np.testing.assert_array_equal(again.of(RECORDS), asked.of(RECORDS))


def test_a_norm_that_is_none_of_the_two_is_refused() -> None:
    with pytest.raises(ParameterError, match="Give l1 or l2"):
        question(1.0, "linf")
