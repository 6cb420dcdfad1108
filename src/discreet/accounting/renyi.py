"""Renyi divergence: the currency of adaptive spending, for every event."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.accounting.event_renyi import (
    ApproximateRenyi,
    amplified_pure,
    interpolated,
    laplace,
    of_atoms,
    pure,
    sampled_curve,
    sampled_gaussian,
)
from discreet.accounting.pairs.directions import directions, has_pairs
from discreet.accounting.pairs.pairs import AtomsPair
from discreet.accounting.pairs.tabulation import TabulatedLoss, table_above
from discreet.accounting.terms import Term, refusal, terms
from discreet.core.errors import ParameterError
from discreet.core.events import (
    ApproximateLoss,
    ConcentratedLoss,
    DiscreteLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    LossTable,
    Parallel,
    PureLoss,
    RenyiLoss,
    Sampled,
)

__all__ = ["ApproximateRenyi", "delta_from_renyi", "epsilon_from_renyi", "renyi"]

SLACK = 1 + 2.0**-40


def renyi(event: Event, order: float) -> ApproximateRenyi:
    """Bound the event's Renyi divergence of this order from above, in both directions.

    Parts that only hold outside an event of small probability add that probability to `delta`; divergences add up
    (Mironov 2017, Proposition 1; Bun and Steinke 2016, Lemma 8.2 for the approximate kind).

    Parameters
    ----------
    event : Event
        What was released.
    order : float
        Above 1; infinity asks for pure epsilon.

    Examples
    --------
    >>> round(renyi(GaussianLoss(2.0), 8.0).divergence, 6)
    1.0
    >>> round(renyi(ApproximateLoss(0.5, 1e-6), math.inf).divergence, 6)
    0.5
    """
    if not order > 1:
        raise ParameterError("Renyi divergence", f"the order is {order}", "Give an order above 1.", order=order)
    found = [(term, _of_term(term.event, order, event)) for term in terms(event)]
    if order == math.inf:
        return _added(found)
    divergence = math.fsum(term.times * part.divergence for term, part in found)
    kept = math.fsum(term.times * _log1m(part.delta) for term, part in found)
    return ApproximateRenyi(divergence * SLACK, min(1.0, max(0.0, -math.expm1(kept)) * SLACK))


def _added(found: list[tuple[Term, ApproximateRenyi]]) -> ApproximateRenyi:
    """Pure epsilons and their deltas add up: exactly, and then rounded up, so that budgets can be spent whole."""
    delta = sum((term.times * Fraction(part.delta) for term, part in found), Fraction(0))
    if any(part.divergence == math.inf for _, part in found):
        return ApproximateRenyi(math.inf, min(1.0, _rounded_up(delta)))
    exact = (term.times * _exact(term.event, part.divergence) for term, part in found)
    return ApproximateRenyi(_rounded_up(sum(exact, Fraction(0))), min(1.0, _rounded_up(delta)))


def _exact(event: Event, epsilon: float) -> Fraction:
    return 1 / Fraction(event.multiplier) if isinstance(event, LaplaceLoss) else Fraction(epsilon)


def _rounded_up(value: Fraction) -> float:
    if value > sys.float_info.max:
        return math.inf
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def epsilon_from_renyi(orders: float | Sequence[float], divergences: float | Sequence[float], delta: float) -> float:
    """The least epsilon that some order's divergence promises at this delta.

    divergence + ln(1 - 1 / order) - ln(delta * order) / (order - 1): Canonne, Kamath and Steinke 2020, Proposition 12.
    An approximate divergence's own `delta` must be taken off the delta given here.

    Examples
    --------
    >>> round(epsilon_from_renyi((4.0, 8.0, 16.0), (0.2, 0.4, 0.8), 1e-6), 4)
    1.4717
    """
    pairs = zip(np.atleast_1d(orders), np.atleast_1d(divergences), strict=True)
    return min(_epsilon_at(float(order), float(divergence), delta) for order, divergence in pairs)


def delta_from_renyi(orders: float | Sequence[float], divergences: float | Sequence[float], epsilon: float) -> float:
    """The least delta that some order's divergence promises at this epsilon; `epsilon_from_renyi` the other way round.

    Examples
    --------
    >>> f"{delta_from_renyi((4.0, 8.0, 16.0), (0.2, 0.4, 0.8), 1.47165627):.2e}"
    '1.00e-06'
    """
    pairs = zip(np.atleast_1d(orders), np.atleast_1d(divergences), strict=True)
    return min(_delta_at(float(order), float(divergence), epsilon) for order, divergence in pairs)


def _epsilon_at(order: float, divergence: float, delta: float) -> float:
    if order == math.inf or divergence == math.inf or delta >= 1:
        return divergence if delta < 1 else 0.0
    if delta <= 0:
        return math.inf
    gain = math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1)
    return max(0.0, divergence + gain + 2.0**-48 * (divergence + abs(gain)))


def _delta_at(order: float, divergence: float, epsilon: float) -> float:
    if order == math.inf or divergence == math.inf:
        return 0.0 if divergence <= epsilon else 1.0
    log = (order - 1) * (divergence - epsilon + math.log1p(-1 / order)) - math.log(order)
    return min(1.0, math.exp(min(log + 2.0**-48 * (order * (divergence + epsilon + 1) + abs(log)), 0.0)))


def _of_term(event: Event, order: float, whole: Event) -> ApproximateRenyi:
    match event:
        case PureLoss(epsilon):
            return ApproximateRenyi(pure(epsilon, order))
        case ApproximateLoss(epsilon, delta):
            return ApproximateRenyi(pure(epsilon, order), delta)
        case GaussianLoss(multiplier):
            return ApproximateRenyi(order / multiplier / multiplier / 2)
        case LaplaceLoss(multiplier):
            return ApproximateRenyi(laplace(1 / multiplier, order))
        case ConcentratedLoss(rho):
            return ApproximateRenyi(order * rho if rho > 0 else 0.0)
        case RenyiLoss():
            return ApproximateRenyi(interpolated(event, order))
        case DiscreteLoss(step, remove, add):
            return _dearest(_of_table(step, remove, order), _of_table(step, add, order))
        case Parallel(events):
            return _dearest(*(renyi(part, order) for part in events))
        case Sampled(GaussianLoss(multiplier), rate, "poisson"):
            return ApproximateRenyi(sampled_gaussian(multiplier, rate, order))
        case Sampled(_, rate, _) if order == math.inf:
            inner = renyi(event.event, math.inf)
            return ApproximateRenyi(amplified_pure(inner.divergence, rate), inner.delta * rate * SLACK)
        case Sampled():
            return _sampled(event, order)
        case _:
            raise refusal(whole, event, "has no Renyi divergence")


def _of_table(step: float, table: LossTable, order: float) -> ApproximateRenyi:
    atoms = AtomsPair.of_table(step, table)
    return of_atoms(atoms.losses, atoms.p, atoms.p_alone, order)


@lru_cache(maxsize=64)
def _sampled_tables(event: Sampled) -> tuple[TabulatedLoss, ...]:
    """The sampled loss on a fine lattice, each way; unbounded losses are cut off where 1e-60 is left of them."""
    found = []
    for direction in directions(event):
        (pair,) = direction[0].alternatives
        reach = pair.reach(math.log(1e-60))
        step = max(reach.high - reach.low, 1e-9) / 2**16
        found.append(table_above(pair, step, math.log(1e-60), pair.lattice.origin if pair.lattice else 0.0))
    return tuple(found)


def _sampled(event: Sampled, order: float) -> ApproximateRenyi:
    if not has_pairs(event):
        delta = renyi(event.event, 2.0).delta
        bound = sampled_curve(lambda k: renyi(event.event, k).divergence, event.rate, order, event.scheme)
        return ApproximateRenyi(bound, delta)
    tables = _sampled_tables(event)
    found = _dearest(*(of_atoms(table.losses, table.masses, table.infinity, order) for table in tables))
    return ApproximateRenyi(found.divergence + max(table.slack for table in tables), found.delta)


def _dearest(*parts: ApproximateRenyi) -> ApproximateRenyi:
    return ApproximateRenyi(max(part.divergence for part in parts), max(part.delta for part in parts))


def _log1m(delta: float) -> float:
    return math.log1p(-delta) if delta < 1 else -math.inf
