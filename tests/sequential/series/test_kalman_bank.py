"""Kalman filters of random walks, and which of them is believed."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.sequential.series.kalman_bank import RATIOS, KalmanBank


def test_one_filter_is_the_least_squares_estimate() -> None:
    """With steps of variance 2 and noise of variance 3, of which the third number is missing."""
    numbers = np.array([4.0, 7.0, np.nan, 5.0])
    bank = KalmanBank(1, 3.0, np.array([2.0]), laplace=False)
    for number in numbers:
        bank.step()
        bank.correct(np.array([number]), np.isfinite([number]))
    seen = [0, 1, 3]
    walk = 2.0 * np.minimum.outer(seen, seen) + 1e9  # a start of any size
    weights = np.linalg.solve(walk + 3.0 * np.eye(3), walk[:, 2])
    assert bank.means[0] == pytest.approx(weights @ numbers[seen], rel=1e-5)
    assert bank.variances[0] == pytest.approx(walk[2, 2] - weights @ walk[:, 2], rel=1e-4)


def test_the_filter_that_supposes_right_counts_most() -> None:
    """Among 200 walks, over 400 times, the mean of all filters errs hardly more than the right one alone."""
    rng = np.random.default_rng(0)
    for ratio in (RATIOS[2], RATIOS[8]):
        walks = np.cumsum(rng.normal(0, np.sqrt(ratio), (400, 200)), axis=0)
        noisy = walks + rng.laplace(0, np.sqrt(0.5), walks.shape)
        errors = []
        for steps in (np.array([ratio]), np.array(RATIOS)):
            bank = KalmanBank(200, 1.0, steps, laplace=True)
            for row in noisy:
                bank.step()
                bank.correct(row, np.ones(200, dtype=bool))
            errors.append(float(np.square(bank.means - walks[-1]).mean()))
        assert errors[1] < 1.25 * errors[0]
        assert bank.variances.mean() == pytest.approx(errors[1], rel=0.5)


def test_nothing_is_known_before_the_first_number() -> None:
    bank = KalmanBank(2, 1.0, np.array(RATIOS), laplace=True)
    bank.step()
    bank.correct(np.array([5.0, np.nan]), np.array([True, False]))
    assert bank.means.tolist() == [5.0, 0.0]
    assert bank.variances.tolist() == [1.0, np.inf]
