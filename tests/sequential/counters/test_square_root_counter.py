"""Running sums by the square root: the price, the noise, the bound, what refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import solve_triangular, toeplitz

from discreet.audit.trial import judged
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import GaussianLoss
from discreet.core.grid import Array
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential.counters.square_root_counter import SquareRootCounter

RUNS = 40_000


def evidence(multiplier: float, values: list[float], contributions: int, seed: int) -> Array:
    """Of three releases what tells most: C x + z, which they are computed from, along what the unit moves.

    All numbers of an update are counters by themselves, whose noise is made for all of them to move: sqrt(RUNS) times.
    """
    noise = Gaussian(multiplier / math.sqrt(RUNS))
    counter = SquareRootCounter(3, noise, size=RUNS, contributions=contributions, bits=DeterministicBits(seed))
    found = np.array([counter.update(np.full(RUNS, value)) for value in values])
    noisy = solve_triangular(toeplitz(counter.factor.left, np.zeros(3)), found, lower=True)
    right = toeplitz(counter.factor.numerators / 2.0**22, np.zeros(3))
    return np.asarray(right[:, :contributions].sum(axis=1) @ noisy)


def test_an_audit_stands_and_refutes_two_thirds_of_the_noise() -> None:
    """An event that is the first update, and a user who makes the first two; updates of 1e9 are clipped."""
    for contributions in (1, 2):
        moved = [1e9] * contributions + [0.0] * (3 - contributions)
        for multiplier, holds in ((1.0, True), (2 / 3, False)):
            found = [evidence(multiplier, x, contributions, i) for i, x in enumerate(([0.0, 0.0, 0.0], moved))]
            assert judged(GaussianLoss(1.0), *found).holds is holds


def test_releases_are_running_sums_with_the_noise_that_is_said() -> None:
    """Updates of 2,000 numbers: deviations are known to 1.6 %, and 8 % are allowed."""
    counter = SquareRootCounter(100, Gaussian(2.0), Bound("l2", 3.0), size=2000, bits=DeterministicBits(0))
    assert counter.event == GaussianLoss(2.0)
    value = np.full(2000, 3.0 / math.sqrt(2000))
    for time in range(1, 101):
        errors = counter.update(value) - time * value
        if time in (1, 10, 33, 100):
            assert errors.std() == pytest.approx(counter.stddev(time), rel=0.08)
            assert errors.mean() == pytest.approx(0.0, abs=5 * counter.stddev(time) / math.sqrt(2000))
    assert counter.stddev(1) == pytest.approx(2.0 * 3.0 * counter.factor.norm())


def test_much_noise_makes_the_grid_coarser_and_not_the_sums() -> None:
    counter = SquareRootCounter(10, Gaussian(1e9), bits=DeterministicBits(0))
    found = [float(counter.update(1.0)) for _ in range(10)]
    assert 1e8 < np.std(found) < 1e11


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(ParameterError, match="Give Gaussian noise"):
        SquareRootCounter(4, Laplace(1.0))
    for horizon, contributions in ((0, 1), (2**17, 1), (4, 5)):
        with pytest.raises(ParameterError, match="square root counter"):
            SquareRootCounter(horizon, Gaussian(1.0), contributions=contributions)
    counter = SquareRootCounter(1, Gaussian(1.0), size=2)
    with pytest.raises(ParameterError, match="updates of shape"):
        counter.update(np.ones(1))
    counter.update([math.nan, 1.0])
    with pytest.raises(ParameterError, match="all 1 updates"):
        counter.update([1.0, 1.0])
