"""The Gaussian release in closed form: delta, epsilon and the multiplier, each from the other two.

Any list of Gaussian releases is one of them, whose 1 / multiplier^2 is the sum of theirs (Dong, Roth and Su 2022,
Corollary 3.3); `terms` gathers them so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy.special import erfcx, log_ndtr

from discreet.accounting.search import grown
from discreet.core.errors import ParameterError
from discreet.core.grid import upwards

SLACK = 2.0**-35  # covers the rounding of ln(delta); checked against many digits
MOST = 2.0**900  # a multiplier, or a ratio of multipliers
FAR = 2.0**20  # deviations, where delta is less than any float
STEPS = 40  # back over the rounding of a root
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
MARGIN = 2.0**-50  # relative; covers the rounding of expm1 and log1p


def log_delta(multiplier: float, epsilon: float) -> float:
    """The logarithm of delta at this epsilon, before slack.

    delta = Phi(mu / 2 - epsilon / mu) - e^epsilon Phi(-mu / 2 - epsilon / mu) with mu = 1 / multiplier: Balle and
    Wang 2018, Theorem 8. For small mu the two terms all but cancel; then, with R the Mills ratio and x = epsilon /
    mu - mu / 2, it is phi(x) times the integral of 1 - t R(t) from x to x + mu. Delta is below Phi(-x), and so below
    exp(-x^2 / 2), which is close enough far out.
    """
    mu = 1 / multiplier
    x = epsilon / mu - mu / 2
    if x > FAR:
        return -x * x / 2
    if mu >= 0.5:
        first, second = float(log_ndtr(-x)), epsilon + float(log_ndtr(-x - mu))
        return first + math.log(-math.expm1(min(second - first, -1e-300)))
    t = x + mu / 2 * (1 + NODES)
    bend = 1 - t * math.sqrt(math.pi / 2) * erfcx(t / math.sqrt(2))
    return -x * x / 2 - math.log(2 * math.pi) / 2 + math.log(mu / 2 * float(WEIGHTS @ np.maximum(bend, 1e-300)))


def gaussian_delta(multiplier: float, epsilon: float) -> float:
    """Delta of the Gaussian release at this epsilon, rounded up.

    Examples
    --------
    >>> f"{gaussian_delta(3.7306316348159, 1.0):.6e}"
    '1.000000e-05'
    """
    return min(1.0, math.exp(log_delta(multiplier, epsilon) + SLACK))


def gaussian_epsilon(multiplier: float, delta: float) -> float:
    """Epsilon of the Gaussian release at this delta, rounded up.

    Examples
    --------
    >>> round(gaussian_epsilon(20 / 1000**0.5, 1e-6), 8)
    8.30622505
    """
    if delta <= 0:
        return math.inf
    if log_delta(multiplier, 0.0) + SLACK <= math.log(delta):
        return 0.0
    mu = 1 / multiplier
    high = mu * mu / 2 + mu * math.sqrt(-2 * math.log(delta)) + mu
    return _root(lambda epsilon: log_delta(multiplier, epsilon) + SLACK - math.log(delta), high)


def gaussian_multiplier(epsilon: float, delta: float) -> float:
    """The least multiplier for this epsilon and delta, rounded up: the analytic Gaussian mechanism (Balle, Wang 2018).

    Examples
    --------
    >>> round(gaussian_multiplier(1.0, 1e-6), 10)
    4.2246788893
    """
    if not (0 < delta < 1 and 0 <= epsilon < math.inf):
        raise ParameterError(
            "Gaussian noise",
            f"no multiplier gives epsilon {epsilon} and delta {delta}",
            "Give 0 < delta < 1 and a finite epsilon; for delta 0 take Laplace noise.",
        )

    def excess(multiplier: float) -> float:
        return log_delta(multiplier, epsilon) + SLACK - math.log(delta)

    found = grown(lambda multiplier: excess(multiplier) <= 0, 0.0, 1.0, MOST)
    if found is None:
        obstacle = f"a multiplier above {MOST:g} would be needed for epsilon {epsilon} and delta {delta}"
        raise ParameterError("Gaussian noise", obstacle, "Give a larger delta.")
    return _root(excess, found.high)


def _root(excess: Callable[[float], float], high: float) -> float:
    """Where a decreasing function crosses 0, on the side where it is negative; infinity, where it stays above.

    It does so below `high`, but for rounding, which matters where numbers are huge.
    """
    from scipy.optimize import brentq  # loading it takes longer than opening a ledger, which seldom needs it

    if excess(high) > 0:
        beyond = grown(lambda times: excess(high * times) <= 0, 1.0, 2.0, MOST)
        if beyond is None:
            return math.inf
        high *= beyond.high
    ends = grown(lambda part: excess(high / part) > 0, 1.0, 2.0, MOST)
    if ends is None:
        return high
    low, high = high / ends.high, high / ends.low
    root = float(brentq(excess, low, high, xtol=1e-15 * high, rtol=8.9e-16))
    for step in range(STEPS):
        if excess(root) <= 0:
            return root
        root *= 1 + 2.0 ** (step - 50)
    return high


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
