"""Second moments: counts, sums and products of all columns."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from discreet.core.bound import Bound
from discreet.core.neighbors import Neighbors
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.mapped_coordinates import AcuteBound
from discreet.questions.vectors.second_moments import central_moments_of, second_moments_of, unfolded
from tests.questions.trial import SCHEMA, Trial, X, summed

ADD, REPLACE = Neighbors.ADD_REMOVE, Neighbors.REPLACE
TRIALS = {
    "second_moments": Trial({"columns": ("x", "y"), "radius": 1.0}, "86b80b4b7fad"),
    "central_moments": Trial(
        {"columns": ("x", "y"), "center": np.array([0.25, -0.5]), "radius": 1.0},
        "ef7bdb6d2dab",
        forged=[{"center": np.array([0.25, -1.5])}, {"center": np.array([[0.25, -0.5]])}],
    ),
}


def test_the_unfolded_sum_is_the_matrix_of_products() -> None:
    records = np.column_stack([X, np.random.default_rng(3).uniform(0, 1, len(X))])
    z = (records - [50.0, 0.5]) / [60.0, 0.5]
    u = np.column_stack([np.ones(len(z)), z])
    released = summed(second_moments_of(SCHEMA, ("x", "y"), 2.0), np.vstack([records, [[np.nan, 0.5]]]))
    found = unfolded(released, Coordinates.of(SCHEMA, ("x", "y"), 2.0))
    np.testing.assert_allclose(found, u.T @ u, atol=0.05)


def test_central_moments_are_those_around_their_center() -> None:
    records = np.column_stack([X, np.random.default_rng(3).uniform(0, 1, len(X))])
    center = np.array([0.25, -0.5])
    u = np.column_stack([np.ones(len(X)), (records - [50.0, 0.5]) / [60.0, 0.5] - center])
    found = summed(central_moments_of(SCHEMA, ("x", "y"), center, 9.0), records)
    np.testing.assert_allclose(unfolded(found, Coordinates.of(SCHEMA, ("x", "y"), 9.0, center)), u.T @ u, atol=0.2)


def test_two_acute_contributions_are_sqrt_2_radii_apart_at_most() -> None:
    rows = stats.uniform(-1, 2).rvs((200, 2), random_state=0) * [60.0, 0.5] + [50.0, 0.5]
    question = central_moments_of(SCHEMA, ("x", "y"), np.array([0.5, -0.25]), 0.5)
    steps = question.grid.values(question.steps(rows))
    apart = np.sqrt(np.square(steps[:, None] - steps).sum(axis=2)).max()
    most = question.bound.sensitivity("l2", question.size, REPLACE)
    assert apart > 1.2 * question.bound.radius  # a single radius would promise too much
    assert 0.8 * most < apart <= most < 1.42 * question.bound.radius


def test_it_is_a_plain_bound_in_every_other_way() -> None:
    acute, plain = AcuteBound("l2", 3.0), Bound("l2", 3.0)
    for norm in ("l1", "l2", "linf"):
        assert acute.sensitivity(norm, 5, ADD) == plain.sensitivity(norm, 5, ADD)
        assert acute.sensitivity(norm, 5, REPLACE) <= plain.sensitivity(norm, 5, REPLACE)
    assert acute.sensitivity("l1", 5, REPLACE) >= 3 * math.sqrt(10)
    assert isinstance(acute.times(2), AcuteBound)
    assert acute.times(2).radius == 6.0
