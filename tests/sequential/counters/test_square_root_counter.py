"""Running sums by the square root: the price, the noise, the bound, what refuses; convolutions row by row."""

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
from discreet.sequential.counters.square_root_counter import BLOCK, SquareRootCounter, StreamingConvolution
from tests.sequential.trial import CounterTrial, opened

TRIAL = CounterTrial(SquareRootCounter)

RUNS = 40_000


def evidence(multiplier: float, values: list[float], contributions: int, seed: int) -> Array:
    """Of three releases what tells most: C x + z, which they are computed from, along what the unit moves.

    All numbers of an update are counters by themselves, whose noise is made for all of them to move: sqrt(RUNS) times.
    """
    noise = Gaussian(multiplier / math.sqrt(RUNS))
    counter = opened(SquareRootCounter(3, noise, size=RUNS, contributions=contributions), DeterministicBits(seed))
    found = np.array([counter.update(np.full(RUNS, value)) for value in values])
    noisy = solve_triangular(toeplitz(counter.description.factor.left, np.zeros(3)), found, lower=True)
    right = toeplitz(counter.description.factor.numerators / 2.0**22, np.zeros(3))
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
    counter = opened(SquareRootCounter(100, Gaussian(2.0), Bound("l2", 3.0), size=2000), DeterministicBits(0))
    assert counter.description.event == GaussianLoss(2.0)
    value = np.full(2000, 3.0 / math.sqrt(2000))
    for time in range(1, 101):
        errors = counter.update(value) - time * value
        if time in (1, 10, 33, 100):
            assert errors.std() == pytest.approx(counter.description.stddev(time), rel=0.08)
            assert errors.mean() == pytest.approx(0.0, abs=5 * counter.description.stddev(time) / math.sqrt(2000))
    assert counter.description.stddev(1) == pytest.approx(2.0 * 3.0 * counter.description.factor.norm())


def test_much_noise_makes_the_grid_coarser_and_not_the_sums() -> None:
    counter = opened(SquareRootCounter(10, Gaussian(1e9)), DeterministicBits(0))
    found = [float(counter.update(1.0)) for _ in range(10)]
    assert 1e8 < np.std(found) < 1e11


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(ParameterError, match="Give Gaussian noise"):
        SquareRootCounter(4, Laplace(1.0))
    for horizon, contributions in ((0, 1), (2**17, 1), (4, 5)):
        with pytest.raises(ParameterError, match="square root counter"):
            SquareRootCounter(horizon, Gaussian(1.0), contributions=contributions)
    counter = opened(SquareRootCounter(1, Gaussian(1.0), size=2))
    with pytest.raises(ParameterError, match="updates of shape"):
        counter.update(np.ones(1))
    counter.update([math.nan, 1.0])
    with pytest.raises(ParameterError, match="all 1 updates"):
        counter.update([1.0, 1.0])


def test_outputs_are_those_of_a_whole_convolution_and_exact_for_integers() -> None:
    """Of 2.5 blocks of rows; products of 2^20 by 2^22 add up to less than 2^53."""
    rng, horizon = np.random.default_rng(0), 5 * BLOCK // 2
    coefficients, rows = rng.integers(0, 2**22, horizon), rng.integers(-(2**20), 2**20, (horizon, 3))
    streaming = StreamingConvolution(coefficients.astype(float), 3)
    found = np.array([streaming.push(row.astype(float)) for row in rows])
    exact = np.stack([np.convolve(coefficients, column)[:horizon] for column in rows.T], axis=1)
    np.testing.assert_array_equal(found.astype(np.int64), exact)


def test_one_goes_on_where_another_stopped() -> None:
    rng = np.random.default_rng(1)
    coefficients, rows = rng.random(100), rng.random((100, 2))
    for stop in (1, BLOCK - 1, BLOCK, 2 * BLOCK + 5, 99):
        first, second = (StreamingConvolution(coefficients, 2) for _ in range(2))
        found = [first.push(row) for row in rows]
        second.resume(rows[:stop])
        np.testing.assert_allclose([second.push(row) for row in rows[stop:]], found[stop:])
