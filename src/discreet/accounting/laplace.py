"""A single Laplace release in closed form: delta, epsilon and the multiplier, each from the other two.

With multiplier b, delta at epsilon is 1 - exp((epsilon - 1 / b) / 2), and 0 from 1 / b on: Balle, Barthe and Gaboardi
2018, Theorem 3.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.core.rounding import upwards

MARGIN = 2.0**-50  # relative; covers the rounding of expm1 and log1p


def laplace_delta(multiplier: float, epsilon: float) -> float:
    """Delta of the Laplace release at this epsilon, rounded up.

    Examples
    --------
    >>> f"{laplace_delta(1.0, 0.9):.6e}"
    '4.877058e-02'
    """
    beyond = upwards(max(1 / Fraction(multiplier) - Fraction(epsilon), Fraction(0)))
    return -math.expm1(-beyond / 2) * (1 + MARGIN)


def laplace_epsilon(multiplier: float, delta: float) -> float:
    """Epsilon of the Laplace release at this delta, rounded up.

    Examples
    --------
    >>> round(laplace_epsilon(1.0, laplace_delta(1.0, 0.9)), 9)
    0.9
    """
    return upwards(max(1 / Fraction(multiplier) - _spared(delta), Fraction(0)))


def laplace_multiplier(epsilon: float, delta: float) -> float:
    """The least multiplier for this epsilon and delta, rounded up.

    Examples
    --------
    >>> laplace_multiplier(0.5, 0.0), round(laplace_multiplier(0.5, 0.01), 4)
    (2.0, 1.9227)
    """
    return upwards(1 / (Fraction(epsilon) + _spared(delta)))


def _spared(delta: float) -> Fraction:
    """How much less epsilon is at this delta than at 0, rounded down."""
    return -2 * Fraction(math.log1p(-delta) * (1 - MARGIN))
