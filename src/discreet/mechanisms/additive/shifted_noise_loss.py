"""The loss of noise that is shifted, or made wider or narrower, on a neighbor."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache


def inside(epsilon: float) -> float:
    """The part of slide and beta that is used; the rest is more than enough for rounding."""
    return 1 - 2.0**-30 - 2.0**-36 / epsilon


def laplace_shrunk(beta: float, epsilon: float) -> float:
    """The delta, at this epsilon, of Laplace noise against the same shrunk by the factor exp(-beta).

    The loss at |z| scales is |z| (e**beta - 1) - beta, above epsilon for |z| > t = (epsilon + beta) / (e**beta - 1);
    the first law has the mass e**-t there, and e**epsilon times the second the mass e**(-t - beta).
    """
    return math.exp(-(epsilon + beta) / math.expm1(beta)) * -math.expm1(-beta)


def gaussian_shrunk(beta: float, epsilon: float) -> float:
    """The delta, at this epsilon, of Gaussian noise against the same shrunk by the factor exp(-beta)."""
    edge = math.sqrt(2 * (epsilon + beta) / math.expm1(2 * beta))
    return math.erfc(edge / math.sqrt(2)) - math.exp(epsilon) * math.erfc(edge * math.exp(beta) / math.sqrt(2))


def gaussian_shifted(slide: float, epsilon: float) -> float:
    """The delta, at this epsilon, of Gaussian noise against the same shifted by `slide` deviations.

    Balle and Wang 2018, Theorem 8.
    """
    near, far = (epsilon / slide + side * slide / 2 for side in (-1, 1))
    return (math.erfc(near / math.sqrt(2)) - math.exp(epsilon) * math.erfc(far / math.sqrt(2))) / 2


@lru_cache(maxsize=1024)
def greatest(delta_at: Callable[[float, float], float], epsilon: float, delta: float) -> float:
    """The greatest argument up to epsilon, except for some rounding, at which a delta that grows with it is allowed."""
    low, high = 0.0, epsilon
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if delta_at(middle, epsilon) <= delta * (1 - 1e-9 - 2.0**-46 / epsilon) else (low, middle)
        )
    return low * inside(epsilon)
