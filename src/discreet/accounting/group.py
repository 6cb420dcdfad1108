"""Group privacy: what an event promises to several units at once."""

from __future__ import annotations

import math

from discreet.accounting.terms import ROUNDING, folded, refusal, terms
from discreet.core.checks import check_whole
from discreet.core.events import ApproximateLoss, ConcentratedLoss, Event, GaussianLoss, LaplaceLoss, PureLoss

REMEDY = "Turn it into an ApproximateLoss at some delta first."


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
