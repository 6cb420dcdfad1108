"""Exact hockey-stick divergences of known pairs, by formulas that share nothing with the code under test."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr


def gaussian(multiplier: float, epsilon: float) -> float:
    mu = 1 / multiplier
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def laplace(multiplier: float, epsilon: float) -> float:
    if abs(epsilon) >= 1 / multiplier:
        return max(0.0, 1 - math.exp(epsilon)) if epsilon < 0 else 0.0
    return 1 - math.exp((epsilon - 1 / multiplier) / 2)


def removed(base: object, rate: float, epsilon: float) -> float:
    """Of ((1 - q) Q + q P, Q), by q H((e^eps - 1 + q) / q), given the profile of (P, Q) in epsilon."""
    inner = (math.exp(epsilon) - 1 + rate) / rate
    return max(0.0, 1 - math.exp(epsilon)) if inner <= 0 else rate * base(math.log(inner))  # type: ignore[operator]


def of_atoms(p: Sequence[float], q: Sequence[float], epsilon: float) -> float:
    return float(np.maximum(np.array(p) - math.exp(epsilon) * np.array(q), 0.0).sum())


def product(p: Sequence[float], times: int) -> list[float]:
    """The masses of so many independent draws, outcome by outcome."""
    found = np.ones(1)
    for _ in range(times):
        found = np.outer(found, np.array(p)).ravel()
    return found.tolist()
