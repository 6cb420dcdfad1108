"""Rewards with Laplace noise: the price, the law, what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.audit.trial import judged
from discreet.core.errors import ParameterError
from discreet.core.events import LaplaceLoss
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential.bandits.laplace_curator import GRID, LaplaceCurator
from discreet.sequential.bandits.reward_map import Clipped


def test_the_price_is_that_of_laplace_noise() -> None:
    assert LaplaceCurator(0.5).event == LaplaceLoss(2.0)


def test_an_audit_stands_and_refutes_two_thirds_of_the_noise() -> None:
    """On the extreme rewards, and on rewards far outside the bounds, which are clipped to these."""
    claim = LaplaceCurator(1.0).event
    for asked, holds in ((1.0, True), (1.5, False)):
        for pair in ((0.0, 1.0), (-1e9, 1e9)):
            curator = LaplaceCurator(asked, bits=DeterministicBits(3))
            first, second = (curator.privatise(np.full(60_000, reward)) for reward in pair)
            assert judged(claim, first, second).holds is holds


def test_responses_are_on_one_grid_with_the_mean_and_deviation_of_the_noise() -> None:
    """The mean of 40,000 responses is known to 0.02; five deviations are allowed."""
    curator = LaplaceCurator(0.5, Clipped(0, 10), DeterministicBits(1))
    found = curator.privatise(np.full(40_000, 3.0))
    assert (GRID.cut(found) * GRID.step == found).all()
    assert found.mean() == pytest.approx(0.3, abs=0.07)
    assert found.std() == pytest.approx(math.sqrt(8), rel=0.05)
    assert math.isfinite(curator.privatise(math.nan))


def test_an_epsilon_that_cannot_be_kept_is_refused() -> None:
    for asked in (0.0, math.nan, 1e-7, 1e7):
        with pytest.raises(ParameterError, match="Laplace responses: epsilon"):
            LaplaceCurator(asked)
