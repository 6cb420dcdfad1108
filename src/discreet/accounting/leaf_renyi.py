"""Renyi divergence of the leaves, one formula for each currency."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.pairs.pairs import Array
from discreet.core.events import RenyiLoss


@dataclass(frozen=True)
class ApproximateRenyi:
    """Outside an event of probability `delta`, the Renyi divergence is at most `divergence`, in both directions."""

    divergence: float
    delta: float = 0.0


def pure(epsilon: float, order: float) -> float:
    """Bound the divergence of this order between two laws whose ratio never exceeds exp(epsilon).

    Given its extremes and its mean 1, the ratio's power has the greatest mean when only the extremes occur (by
    convexity): randomized response, ln(cosh((order - 1/2) epsilon) / cosh(epsilon / 2)) / (order - 1).
    """
    if epsilon == 0 or order == math.inf:
        return epsilon
    a, b = order * epsilon / 2, (order - 1) * epsilon / 2
    if a > 300:
        rest = math.log1p(math.exp((1 - 2 * order) * epsilon)) - math.log1p(math.exp(-epsilon))
        return epsilon + rest / (order - 1)
    return math.log1p(2 * math.sinh(a) * math.sinh(b) / math.cosh(epsilon / 2)) / (order - 1)


def laplace(epsilon: float, order: float) -> float:
    """The divergence of this order between Laplace laws of scale 1 / epsilon, one apart.

    ln(a / (2a - 1) e^((a - 1) epsilon) + (a - 1) / (2a - 1) e^(-a epsilon)) / (a - 1): Mironov 2017, Proposition 6.
    """
    if order == math.inf:
        return epsilon
    up, down = (order - 1) * epsilon, order * epsilon
    if up > 1:
        rest = math.log1p((order - 1) / order * math.exp(-up - down))
        return epsilon + (math.log(order / (2 * order - 1)) + rest) / (order - 1)
    excess = (order * _beyond_tangent(up) + (order - 1) * _beyond_tangent(-down)) / (2 * order - 1)
    return math.log1p(excess) / (order - 1)


def _beyond_tangent(x: float) -> float:
    """exp(x) - 1 - x, to full relative precision."""
    if abs(x) > 0.5:
        return math.expm1(x) - x
    return math.fsum(x**k / math.factorial(k) for k in range(2, 18))


def interpolated(event: RenyiLoss, order: float) -> float:
    """The tabulated curve; (order - 1) * divergence is convex and 0 at order 1 (Van Erven, Harremoes 2014, Cor. 2)."""
    index = int(np.searchsorted(event.orders, order))
    if index == len(event.orders):
        return math.inf
    above, value = event.orders[index], event.values[index]
    if above in (order, math.inf):
        return value
    below, low = (event.orders[index - 1], event.values[index - 1]) if index else (1.0, 0.0)
    share = (order - below) / (above - below)
    return min(value, (share * (above - 1) * value + (1 - share) * (below - 1) * low) / (order - 1))


def of_atoms(losses: Array, masses: Array, infinity: float, order: float) -> ApproximateRenyi:
    """Sum p * exp((order - 1) * loss) over the finite losses, scaled to mass 1; infinite losses are `delta`."""
    losses, masses = losses[masses > 0], masses[masses > 0]
    if infinity >= 1 or not len(masses):
        return ApproximateRenyi(0.0, 1.0)
    if order == math.inf:
        return ApproximateRenyi(float(losses.max()) - math.log1p(-infinity), infinity)
    exponents = (order - 1) * losses
    top = float(exponents.max())
    if top < 1:
        excess = max(0.0, float(masses.sum()) + infinity - 1) + 2.0**-50 * float(masses @ np.abs(exponents))
        log = math.log1p((float(masses @ np.expm1(exponents)) + excess) / (1 - infinity))
    else:
        log = top + math.log(float(masses @ np.exp(exponents - top)) / (1 - infinity))
    return ApproximateRenyi(max(0.0, log / (order - 1)) - math.log1p(-infinity), infinity)
