"""Public draws: of the laws that they are said to have."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from discreet.core.grid import Grid
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import DiscreteLaplace, Laplace
from discreet.releases.simulation import MANY, Simulation
from discreet.releases.spread import Spread

DRAWS = 50_000


@pytest.mark.parametrize("mean", [0.0, 0.3, 7.0, 900.0, 2 * MANY])
def test_counts_are_poisson(mean: float) -> None:
    """Distances between distribution functions of so many draws pass 2.5 / sqrt(draws) once in 10^5 cases."""
    counts = Simulation(1).poisson(np.array([[mean]]), DRAWS).ravel()
    at = np.unique(counts)
    own = np.searchsorted(np.sort(counts), at, side="right") / DRAWS
    assert np.abs(own - stats.poisson.cdf(at, mean)).max() < 2.5 / np.sqrt(DRAWS) + (0.002 if mean > MANY else 0)


def test_noise_is_that_of_the_release() -> None:
    for spread, law in (
        (Spread(Laplace(), 30.0), stats.laplace(scale=30 / 2**0.5)),
        (Spread(Gaussian(), 30.0), stats.norm(scale=30)),
    ):
        draws = Simulation(2).noise(spread, (DRAWS,), Grid(0))
        assert stats.kstest(draws, law.cdf).statistic < 2.5 / np.sqrt(DRAWS) + 0.02
        assert draws.std() == pytest.approx(30.0, rel=0.03)
    assert stats.kurtosis(Simulation(2).noise(Spread(Laplace(), 30.0, reports=50), (DRAWS,), Grid(0))) < 0.2


def test_discrete_laplace_noise_has_its_own_variance() -> None:
    draws = Simulation(6).noise(Spread(DiscreteLaplace(), 0.7), (DRAWS,), Grid(0))
    np.testing.assert_array_equal(draws, np.rint(draws))
    assert draws.std() == pytest.approx(0.7, rel=0.03)


def test_laplace_noise_is_on_the_grid() -> None:
    draws = Simulation(3).noise(Spread(Laplace(), 1.4), (1000,), Grid(0))
    np.testing.assert_array_equal(draws, np.rint(draws))


def test_uniform_numbers_are_inside() -> None:
    draws = Simulation(4).uniform((DRAWS, 2))
    assert 0 < draws.min() < draws.max() < 1
    assert stats.kstest(draws.ravel(), "uniform").statistic < 2.5 / np.sqrt(2 * DRAWS)


def test_the_same_draws_come_every_time() -> None:
    np.testing.assert_array_equal(Simulation().uniform((5,)), Simulation().uniform((5,)))
