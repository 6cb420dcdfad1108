"""What a paid calibration of logistic regression would gain, on the made-up data of `tuning_linear`.

    python -m benchmarks.tuning_calibration

A share of the budget goes to two noisy Newton steps on the intercept and the slope of the score of a fit that gets the
rest. Each row is the log loss of the fit that gets all, and what calibration takes off it; means of four seeds.
It gains at most 0.003 where there are many records, and loses up to 0.008 where noise is larger: so there is none.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit, logit
from sklearn.metrics import log_loss

from benchmarks.tuning_linear import made_up
from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.learners.linear.logistic_regression import LogisticRegression
from discreet.mechanisms.additive.gaussian import Gaussian

SHARE, STEPS, SEEDS, DELTA = 0.04, 2, 4, 1e-6
WIDE = 3.0  # the score that is taken for 1
LENGTH = math.sqrt(2.75)  # of what a record adds
SHAPES = ((8, 2), (30, 2), (27, 2))


def calibrated(scores: Array, y: Array, multiplier: float, rng: np.random.Generator) -> tuple[float, float]:
    """The intercept and the slope: a record adds (r, r s / 2, 2 h, h s, h s^2 / 2), and s is at most 2."""
    s, intercept, slope = np.clip(scores / WIDE, -2, 2), 0.0, WIDE
    stddev = LENGTH * multiplier * math.sqrt(STEPS / SHARE)
    for _ in range(STEPS):
        p = expit(intercept + slope * s)
        r, h = y - p, p * (1 - p)
        a, b, c, d, e = np.array([r, r * s / 2, 2 * h, h * s, h * s**2 / 2]).sum(axis=1) + rng.normal(0, stddev, 5)
        values, vectors = np.linalg.eigh(np.array([[c / 2, d], [d, 2 * e]]))
        step = vectors @ ((vectors.T @ np.array([a, 2 * b])) / np.maximum(values, 3 * stddev))
        step = np.clip(step, -1.5, 1.5)
        intercept, slope = intercept + float(step[0]), max(slope + float(step[1]), 0.3)
    return intercept, slope


def gains(n: int, shape: tuple[int, int], epsilon: float) -> tuple[float, float, float]:
    """The log loss without, what calibration takes off it, and the standard error of that."""
    rng, multiplier = np.random.default_rng(0), calibrate(Gaussian(), Budget(epsilon, DELTA)).multiplier
    plain, gained = [], []
    for seed in range(501, 501 + SEEDS):
        X, y = made_up(n, *shape, seed)
        rest = epsilon * math.sqrt(1 - SHARE)
        whole, part = (
            LogisticRegression(bounds=(-1, 1), classes=[0, 1], epsilon=own, delta=DELTA).fit(X[:n], y[:n])
            for own in (epsilon, rest)
        )
        scores = logit(np.clip(part.predict_proba(X)[:, 1], 1e-9, 1 - 1e-9))
        intercept, slope = calibrated(scores[:n], y[:n], multiplier, rng)
        found = expit(intercept + slope * np.clip(scores[n:] / WIDE, -2, 2))
        plain.append(log_loss(y[n:], whole.predict_proba(X[n:])[:, 1]))
        gained.append(plain[-1] - log_loss(y[n:], found))
    return float(np.mean(plain)), float(np.mean(gained)), float(np.std(gained) / math.sqrt(SEEDS))


if __name__ == "__main__":
    for n in (5000, 50_000):
        for epsilon in (1.0, 10.0):
            for shape in SHAPES:
                plain, gained, error = gains(n, shape, epsilon)
                words = f"{n} records, {shape[0]} features, epsilon {epsilon:g}"
                print(f"{words:<44} {plain:.4f}  gain {gained:+.4f} +- {error:.4f}", flush=True)
