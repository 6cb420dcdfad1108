"""The pairs that dominate an event: unit removed, unit added."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.accounting.pairs.pairs import AtomsPair, GaussianPair, LaplacePair, LossPair
from discreet.accounting.pairs.sampled_pairs import ReplacedPair, SubsetPair, addition, removal, subset_witness
from discreet.accounting.pairs.tabulation import TabulatedLoss, convolved, envelope
from discreet.accounting.terms import ROUNDING, refusal, terms
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    DiscreteLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    LossTable,
    Parallel,
    PureLoss,
    Repeated,
    Sampled,
    walked,
)

Way = Literal["remove", "add", "both"]
PAIRED = (PureLoss, ApproximateLoss, GaussianLoss, LaplaceLoss, DiscreteLoss)


@dataclass(frozen=True)
class Part:
    """A release that is repeated; its unit is in one of the alternatives (parallel parts), mostly one."""

    alternatives: tuple[LossPair, ...]
    times: int


Direction = tuple[Part, ...]


def directions(event: Event) -> tuple[Direction, ...]:
    """The pairs to compose, for each direction that has to be looked at.

    Poisson samples and parallel parts speak of add/remove neighbors, where all releases see the unit go, or all see
    it come. Without them the neighbors may be replaced ones, for which a tabulated loss may have either direction each
    time, so the envelope of both is used.

    Raises
    ------
    Unaccountable
        A part has no dominating pair, as concentrated and Renyi losses.
    """
    found = terms(event)
    ways: tuple[Way, ...] = ("remove", "add") if _one_way(event) and _lopsided(event) else ("remove",)
    return tuple(
        tuple(Part(tuple(_pair(part, way, event) for part in _choices(term.event)), term.times) for term in found)
        for way in ways
    )


def has_pairs(event: Event) -> bool:
    """Whether every part has a dominating pair: whether `directions` has an answer."""
    found = [part for term in terms(event) for part in _choices(term.event)]
    inner = [term.event for part in found for term in terms(part.event if isinstance(part, Sampled) else part)]
    return all(isinstance(leaf, PAIRED) for leaf in inner)


def witnesses(event: Event) -> tuple[Direction, ...]:
    """Pairs of releases that do keep the promise, for bounds from below; parts without one are left out.

    A sample of fixed size is witnessed by a unit that is replaced by one like the others, or, of Gaussian noise, by a
    release that shows both; a concentrated loss by Gaussian noise of that concentration.
    """
    found = [(witness, term.times) for term in terms(event) if (witness := _witness(term.event)) is not None]
    ways: tuple[Way, ...] = ("remove", "add", "both") if _lopsided(event) else ("remove",)
    if not any(isinstance(part, Sampled) and part.scheme == "fixed_size" for part in walked(event)):
        ways = ways[:2]
    return tuple(
        tuple(Part(tuple(_witness_pair(part, way) for part in _choices(witness)), times) for witness, times in found)
        for way in ways
    )


def _witness(event: Event) -> Event | None:
    match event:
        case ConcentratedLoss(rho) if rho > 0:
            return GaussianLoss((1 + ROUNDING) / math.sqrt(2 * rho))
        case Sampled(inner, rate, scheme):
            choices = (_witness(term.event) for term in terms(inner))
            return next((Sampled(choice, rate, scheme) for choice in choices if isinstance(choice, PAIRED)), None)
        case Parallel(events):
            return Parallel(tuple(w for w in map(_witness, events) if w is not None)) if has_pairs(event) else None
        case _:
            return event if isinstance(event, PAIRED) else None


def _witness_pair(event: Event, way: Way) -> LossPair:
    match event:
        case Sampled(GaussianLoss(multiplier), rate, "fixed_size") if way == "both":
            return subset_witness(multiplier, rate)
        case Sampled(inner, rate, "poisson" | "fixed_size"):
            return (addition if way == "add" else removal)(_witness_pair(inner, way), rate)
        case DiscreteLoss(step, remove, add):
            return AtomsPair.of_table(step, add if way == "add" else remove)
        case _:
            return _pair(event, way, event)


def _choices(event: Event) -> tuple[Event, ...]:
    return event.events if isinstance(event, Parallel) else (event,)


def _one_way(event: Event) -> bool:
    return any(
        isinstance(part, Parallel) or (isinstance(part, Sampled) and part.scheme == "poisson") for part in walked(event)
    )


def _lopsided(event: Event) -> bool:
    return any(
        (isinstance(part, Sampled) and part.rate < 1) or (isinstance(part, DiscreteLoss) and part.remove != part.add)
        for part in walked(event)
    )


def _pair(event: Event, way: Way, whole: Event) -> LossPair:
    match event:
        case PureLoss(epsilon):
            return AtomsPair.of_response(epsilon, 0.0)
        case ApproximateLoss(epsilon, delta):
            return AtomsPair.of_response(epsilon, delta)
        case GaussianLoss(multiplier):
            return GaussianPair(multiplier)
        case LaplaceLoss(multiplier):
            return LaplacePair(1 / multiplier)
        case DiscreteLoss(step, remove, add) if _one_way(whole) or remove == add:
            return AtomsPair.of_table(step, remove if way == "remove" else add)
        case DiscreteLoss(step, remove, add):
            return _both(step, remove, add)
        case Sampled(inner, rate, "poisson"):
            sampled = removal if way == "remove" else addition
            return sampled(_pair(inner, way, whole), rate)
        case Sampled(inner, rate, "fixed_size"):
            pair = _pair(inner, way, whole)
            return SubsetPair(pair.without_zero() if isinstance(pair, AtomsPair) else pair, rate)
        case Sampled(GaussianLoss(multiplier), rate, "poisson_replace"):
            return ReplacedPair(multiplier, rate)
        case Composed() | Repeated():
            return convolved([(_pair(term.event, way, whole), term.times) for term in terms(event)])
        case _:
            raise refusal(whole, event, "has no dominating pair", "Ask for its Renyi divergence instead.")


def _both(step: float, remove: LossTable, add: LossTable) -> AtomsPair:
    tables = [
        TabulatedLoss(step, table.first, np.array(table.probabilities), table.infinity, 0.0) for table in (remove, add)
    ]
    found = envelope(tables)
    return AtomsPair.of_table(step, LossTable(found.first, tuple(found.masses), found.infinity))
