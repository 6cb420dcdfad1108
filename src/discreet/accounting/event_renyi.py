"""Renyi divergence of single events: one formula for each currency, and samples of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, log_ndtr, logsumexp

from discreet.accounting.pairs.pairs import Array
from discreet.core.events import RenyiLoss, Scheme

DIGITS = 80.0  # the quadrature's own error is below exp(-DIGITS) of its integrand
MOST_POINTS = 2**18
NEGLIGIBLE = 1e-150  # of a divergence: sampling need not make it smaller


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


def sampled_gaussian(multiplier: float, rate: float, order: float) -> float:
    """The divergence of a Poisson-sampled Gaussian release, the greater of both directions.

    That of the mixture against N(0, m^2) (Mironov, Talwar and Zhang 2019, Theorems 4 and 5): a finite sum for whole
    orders, a quadrature with a proven error for the others.
    """
    unsampled = order / multiplier / multiplier / 2
    if math.isinf(unsampled) or unsampled < NEGLIGIBLE:
        return unsampled
    if order == int(order):
        excess = _binomial_excess(lambda k: k / multiplier**2 / 2, rate, int(order))
    elif _spacing(multiplier) * MOST_POINTS < order + 100 * multiplier:
        excess = _binomial_excess(lambda k: k / multiplier**2 / 2, rate, math.ceil(order))
        return min(unsampled, _log1p_exp(excess) / (math.ceil(order) - 1))
    else:
        excess = _integrated_excess(multiplier, rate, order)
    return min(unsampled, _log1p_exp(excess) / (order - 1))


def sampled_curve(curve: Callable[[float], float], rate: float, order: float, scheme: Scheme) -> float:
    """Bound a sampled release's divergence, in both directions, by the curve of the release alone.

    Both schemes mix over whether the unit is in, so the divergence is at most that of one draw by joint convexity:
    ln(1 - rate + rate * exp((order - 1) * curve(order))) / (order - 1). For Poisson samples and r the ratio of the two
    laws minus 1, also E[(1 + rate * r)^order] (a binomial sum, for the unit's removal) and, for its addition,
    E[(1 + rate * r)^(1 - order)] <= 1 + order (order - 1) / 2 * rate^2 * (1 - rate)^-(order + 1) * E[r^2],
    Taylor's formula with r >= -1. The least of what holds is returned; never more than `curve(order)`.
    """
    plain = curve(order)
    once = _log1p_exp(math.log(rate) + _log_expm1((order - 1) * plain)) / (order - 1)
    if scheme == "fixed_size" or math.ceil(order) > 4096:
        return min(plain, once)
    whole = math.ceil(order)
    removal = _log1p_exp(_binomial_excess(curve, rate, whole)) / (whole - 1)
    square = math.log(whole * (whole - 1) / 2) + 2 * math.log(rate) - (whole + 1) * math.log1p(-rate)
    addition = _log1p_exp(square + _log_expm1(curve(2.0))) / (whole - 1)
    return min(plain, once, max(removal, addition))


def amplified_pure(epsilon: float, rate: float) -> float:
    """Epsilon of a sampled pure release, ln(1 + rate (e^epsilon - 1)): Balle, Barthe and Gaboardi 2018, Theorem 8."""
    return _log1p_exp(math.log(rate) + _log_expm1(epsilon))


def _binomial_excess(curve: Callable[[float], float], rate: float, order: int) -> float:
    """ln(E[(1 + rate * r)^order] - 1), where E[(1 + r)^k] = exp((k - 1) * curve(k)); terms 0 and 1 cancel exactly."""
    k = np.arange(2, order + 1, dtype=float)
    chosen = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    moments = np.array([_log_expm1((j - 1) * curve(j)) for j in k])
    logs = chosen + k * math.log(rate) + (order - k) * math.log1p(-rate) + moments
    return float(logsumexp(logs)) + 2.0**-44 * (1 + order)


def _strip(multiplier: float) -> float:
    """Half the width of a strip of the complex plane on which the integrand is analytic and small."""
    return min(math.pi * multiplier**2, 4 * math.pi * multiplier)


def _spacing(multiplier: float) -> float:
    width = _strip(multiplier)
    return 2 * math.pi * width / (DIGITS + width**2 / (2 * multiplier**2))


def _integrated_excess(multiplier: float, rate: float, order: float) -> float:
    """ln(E[w^a - 1 - a (w - 1)]), w = 1 - rate + rate exp((2x - 1) / (2 m^2)), x ~ N(0, m^2), by the trapezoidal rule.

    The integrand is analytic where w has no zero, |Im x| < pi m^2, and there |w(x + iy)| <= w(x), so on the strip
    its modulus integrates to at most exp(d^2 / (2 m^2)) * (E[w^a] + 1 + 2a), and the rule errs by at most twice
    that over exp(2 pi d / step) - 1 (Trefethen and Weideman 2014, Theorem 5.1). The tails left out are bounded by w
    <= max(1, e^z).
    """
    step, variance = _spacing(multiplier), multiplier**2
    reach = math.sqrt(2 * (DIGITS + order * -math.log(rate)))
    left, right = -multiplier * reach, order + multiplier * reach
    x = left + step * np.arange(math.ceil((right - left) / step) + 1, dtype=np.float64)
    z = (2 * x - 1) / (2 * variance)
    power = order * _log_mixture(z, rate)
    tangent = order * rate * np.expm1(np.minimum(z, 700.0))
    bend = np.expm1(np.minimum(power, 50.0)) - tangent + 2.0**-48 * np.abs(tangent)
    logs = np.where(power > 50, power, np.log(np.maximum(bend, 1e-300)))
    weights = -(x**2) / (2 * variance) - math.log(multiplier * math.sqrt(2 * math.pi)) + math.log(step)
    total = float(logsumexp(logs + weights))
    tails = math.log(2 + 2 * order) + float(log_ndtr(-reach)) + max(0.0, (order - 1) * order / (2 * variance))
    error = math.log(4) - DIGITS + float(np.logaddexp(total, math.log(2 + 2 * order)))
    return float(logsumexp([total, tails, error])) + 2.0**-40


def _log_mixture(z: Array, rate: float) -> Array:
    """ln(1 - rate + rate * exp(z))."""
    small = np.log1p(rate * np.expm1(np.minimum(z, 30.0)))
    return np.where(z < 30, small, z + math.log(rate) + np.log1p((1 - rate) / rate * np.exp(-np.maximum(z, 30.0))))


def _log_expm1(x: float) -> float:
    """ln(exp(x) - 1) for x >= 0."""
    if x > 700:
        return x
    return math.log(math.expm1(x)) if x > 0 else -math.inf


def _log1p_exp(x: float) -> float:
    """ln(1 + exp(x))."""
    return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))
