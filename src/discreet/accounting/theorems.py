"""The theorems of the textbooks, by name, so that one can see what each of them gives.

Every function returns what its theorem promises as an `ApproximateLoss`, rounded up. The accountant is never worse.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, logsumexp

from discreet.accounting.accountant import epsilon as accounted
from discreet.accounting.closed_forms import gaussian_epsilon
from discreet.accounting.terms import ROUNDING, folded, refusal, terms
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import ApproximateLoss, ConcentratedLoss, Event, GaussianLoss, LaplaceLoss, PureLoss, Repeated

UP = 1 + 2.0**-48
REMEDY = "Turn it into an ApproximateLoss at some delta first."


def basic(epsilon: float, delta: float, times: int) -> ApproximateLoss:
    """Basic composition: epsilons add up, deltas add up (Dwork, Kenthapadi, McSherry, Mironov and Naor 2006).

    Examples
    --------
    >>> basic(0.5, 0.0, 4)
    ApproximateLoss(epsilon=2.0, delta=0.0)
    """
    return ApproximateLoss(times * epsilon, min(1.0, times * delta * UP))


def advanced(epsilon: float, delta: float, times: int, slack: float) -> ApproximateLoss:
    """Advanced composition (Dwork, Rothblum and Vadhan 2010, Theorem III.3): better than basic for many small epsilons.

    sqrt(2 k ln(1 / slack)) epsilon + k epsilon (e^epsilon - 1), at delta k delta + slack.

    Examples
    --------
    >>> round(advanced(0.1, 0.0, 100, 1e-6).epsilon, 5)
    6.30823
    """
    _check(0 < slack < 1, f"slack is {slack}", "Give a slack in (0, 1).")
    total = math.sqrt(2 * times * math.log(1 / slack)) * epsilon + times * epsilon * math.expm1(epsilon)
    return ApproximateLoss(total * UP, min(1.0, (times * delta + slack) * UP))


def optimal(epsilon: float, delta: float, times: int, target: float) -> ApproximateLoss:
    """Optimal composition of equal promises, on its own grid (Kairouz, Oh and Viswanath 2015).

    The promises are ((k - 2i) epsilon, 1 - (1 - delta)^k (1 - delta_i)) for i up to k / 2, with delta_i = sum over
    l < i of C(k, l) (e^((k - l) epsilon) - e^((k - 2i + l) epsilon)) / (1 + e^epsilon)^k. The one with the least
    epsilon whose delta is at most the target is returned.

    Examples
    --------
    >>> round(optimal(0.1, 0.0, 100, 1e-6).epsilon, 10)
    4.8
    """
    _check(0 <= target < 1, f"target is {target}", "Give a target delta in [0, 1).")
    low, high = 0, times // 2
    _check(
        _optimal_delta(epsilon, delta, times, 0) <= target,
        f"{times} releases have delta {_optimal_delta(epsilon, delta, times, 0)} already, above {target}",
        "Ask fewer times, or allow a greater delta.",
    )
    for _ in range(times.bit_length()):
        middle = (low + high + 1) // 2
        if low == high:
            break
        low, high = (middle, high) if _optimal_delta(epsilon, delta, times, middle) <= target else (low, middle - 1)
    return ApproximateLoss((times - 2 * low) * epsilon * UP, _optimal_delta(epsilon, delta, times, low))


def _optimal_delta(epsilon: float, delta: float, times: int, index: int) -> float:
    fewer = np.arange(index, dtype=float)
    chosen = gammaln(times + 1) - gammaln(fewer + 1) - gammaln(times - fewer + 1)
    gaps = np.log(-np.expm1(-2 * (index - fewer) * epsilon)) if epsilon > 0 else np.full(index, -np.inf)
    logs = chosen + (times - fewer) * epsilon + gaps - times * (epsilon + math.log1p(math.exp(-epsilon)))
    found = math.exp(min(0.0, float(logsumexp(logs)))) * (1 + 2.0**-36) if index else 0.0
    kept = times * math.log1p(-delta) + math.log1p(-min(found, 1 - 1e-16)) if delta < 1 else -math.inf
    return min(1.0, -math.expm1(kept) * UP)


def concentrated(rho: float, delta: float) -> ApproximateLoss:
    """From concentrated to approximate: rho + 2 sqrt(rho ln(1 / delta)) (Bun and Steinke 2016, Proposition 1.3).

    Examples
    --------
    >>> round(concentrated(0.5, 1e-6).epsilon, 4)
    5.7565
    """
    _check(0 < delta < 1, f"delta is {delta}", "Give a delta in (0, 1).")
    return ApproximateLoss((rho + 2 * math.sqrt(rho * math.log(1 / delta))) * UP, delta)


def amplified(epsilon: float, delta: float, rate: float) -> ApproximateLoss:
    """Privacy amplification by sampling: (ln(1 + rate (e^epsilon - 1)), rate * delta).

    Balle, Barthe and Gaboardi 2018, Theorems 8 and 9: Poisson samples for add/remove neighbors, samples of fixed
    size for replace neighbors. A shuffled pass over the data is neither.

    Examples
    --------
    >>> round(amplified(1.0, 1e-6, 0.01).epsilon, 6)
    0.017037
    """
    _check(0 < rate <= 1, f"rate is {rate}", "Give 0 < rate <= 1.")
    return ApproximateLoss(math.log1p(rate * math.expm1(epsilon)) * UP, min(1.0, rate * delta * UP))


def comparison(event: Event, delta: float) -> dict[str, float]:
    """Epsilon at this delta of a repeated pure, Laplace or Gaussian release, by each theorem and by the accountant.

    Of a Gaussian release the theorems about (epsilon, delta) see the exact epsilon at a part of delta: all of it
    shared out for basic composition, half of it for the others, which need the rest as slack.

    Examples
    --------
    >>> from discreet.core.events import GaussianLoss, PureLoss, Repeated
    >>> table = comparison(Repeated(PureLoss(0.1), 100), 1e-6)
    >>> {name: round(epsilon, 4) for name, epsilon in table.items()}
    {'basic': 10.0, 'advanced': 6.3082, 'optimal': 4.8, 'concentrated': 5.7565, 'accountant': 4.7746}
    >>> table = comparison(Repeated(GaussianLoss(50.0), 110), 1e-6)  # ten steps of DP-EM with five parts
    >>> list(table) == sorted(table, key=table.get, reverse=True)
    True
    """
    match event:
        case Repeated(PureLoss(epsilon), times):
            return _compared(event, delta, epsilon, times, times * epsilon**2 / 2)
        case Repeated(LaplaceLoss(multiplier), times):
            return _compared(event, delta, 1 / multiplier, times, times / multiplier**2 / 2)
        case Repeated(GaussianLoss(multiplier), times):
            whole, half = (gaussian_epsilon(multiplier, part * delta / times) for part in (1.0, 0.5))
            return {
                "basic": basic(whole, delta / times, times).epsilon,
                "advanced": advanced(half, delta / times / 2, times, delta / 2).epsilon,
                "optimal": optimal(half, delta / times / 2, times, delta).epsilon,
                "concentrated": concentrated(times / multiplier**2 / 2, delta).epsilon,
                "accountant": accounted(event, delta),
            }
    raise ParameterError(
        "comparison of theorems",
        f"{event!r} is not a repeated pure, Laplace or Gaussian release",
        "Write Repeated(PureLoss(epsilon), times).",
    )


def _compared(event: Event, delta: float, epsilon: float, times: int, rho: float) -> dict[str, float]:
    return {
        "basic": basic(epsilon, 0.0, times).epsilon,
        "advanced": advanced(epsilon, 0.0, times, delta).epsilon,
        "optimal": optimal(epsilon, 0.0, times, delta).epsilon,
        "concentrated": concentrated(rho, delta).epsilon,
        "accountant": accounted(event, delta),
    }


def _check(ok: bool, obstacle: str, remedy: str) -> None:
    if not ok:
        raise ParameterError("composition theorem", obstacle, remedy)


def group(event: Event, size: int) -> Event:
    """What the event promises when as many as `size` units change.

    Pure epsilons and the 1 / multiplier of Laplace and Gaussian noise grow by the factor `size`, concentration by
    its square (Bun and Steinke 2016, Proposition 1.9), and (epsilon, delta) becomes (size * epsilon, delta *
    (e^(size * epsilon) - 1) / (e^epsilon - 1)). For noise multipliers: a shift by one, repeated, is a shift by
    `size` (Dong, Roth and Su 2022, Theorem 2.14 and Proposition A.3, for log-concave noise).

    Raises
    ------
    Unaccountable
        Sampled, tabulated, Renyi and unlike parallel parts have no rule here.

    Examples
    --------
    >>> group(GaussianLoss(6.0), 3)
    GaussianLoss(multiplier=2.0)
    """
    check_whole("group privacy", "size", size)
    found = terms(event)
    grown = [_grown(term.event, int(size), event) for term in found]
    if len(found) == 1 and found[0].times == 1:
        return grown[0]
    return folded(tuple(type(term)(one, term.times) for one, term in zip(grown, found, strict=True)))


def _grown(event: Event, size: int, whole: Event) -> Event:
    match event:
        case PureLoss(epsilon):
            return PureLoss(size * epsilon)
        case ApproximateLoss(epsilon, delta):
            return ApproximateLoss(size * epsilon, min(1.0, delta * _steps(epsilon, size) * (1 + ROUNDING)))
        case GaussianLoss(multiplier):
            return GaussianLoss(multiplier / size)
        case LaplaceLoss(multiplier):
            return LaplaceLoss(multiplier / size)
        case ConcentratedLoss(rho):
            return ConcentratedLoss(size**2 * rho)
        case _ if size == 1:
            return event
        case _:
            raise refusal(whole, event, "has no rule for groups", REMEDY)


def _steps(epsilon: float, size: int) -> float:
    """1 + e^epsilon + ... + e^((size - 1) epsilon)."""
    if (size - 1) * epsilon > 700:
        return math.inf
    return math.fsum(math.exp(k * epsilon) for k in range(size))
