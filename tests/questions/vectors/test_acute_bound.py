"""Acute bounds: what one unit moves a sum of matrices x x' by, and no more."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from discreet.core.bound import Bound
from discreet.core.neighbors import Neighbors
from discreet.questions.vectors.acute_bound import AcuteBound
from discreet.questions.vectors.second_moments import central_moments_of
from tests.questions.trial import SCHEMA

ADD, REPLACE = Neighbors.ADD_REMOVE, Neighbors.REPLACE


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
