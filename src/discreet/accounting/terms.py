"""The terms of an event: the multiset of irreducible parts that it adds up.

Composition is a sum, so repeated, nested and equal parts are gathered before anything is computed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from discreet.core.errors import Unaccountable
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    NoPromise,
    Parallel,
    PureLoss,
    Repeated,
    Sampled,
    parts,
    walked,
)

ROUNDING = 2.0**-50
SHOWN = 1e-100  # a Gaussian release with less noise counts as one that may show everything: its squares overflow


@dataclass(frozen=True)
class Term:
    """An irreducible event, and how many times it happens to the same units."""

    event: Event
    times: int


@lru_cache(maxsize=256)
def terms(event: Event) -> tuple[Term, ...]:
    """What the event adds up, each irreducible part once with its count.

    Irreducible are the leaves, a sampled leaf, a sample asked several different things, and parallel parts none of
    which covers the others. Gaussian parts are gathered into one (Dong, Roth and Su 2022, Corollary 3.3: the squares
    of 1 / multiplier add up).

    Raises
    ------
    Unaccountable
        A part promises nothing, or the parts are sound for different neighboring relations.

    Examples
    --------
    >>> terms(Composed((PureLoss(0.5), Repeated(Repeated(PureLoss(0.5), 2), 3))))
    (Term(event=PureLoss(epsilon=0.5), times=7),)
    """
    _check_relation(event)
    return _gathered(_expanded(event, event))


def branches(event: Event) -> tuple[Event, ...]:
    """The events that bound this one between them: for parallel parts, each that the unit may be in.

    Only parts that happen once are split; the others stay as they are.
    """
    found = [Composed(())]
    for term in terms(event):
        split = isinstance(term.event, Parallel) and term.times == 1 and len(found) * len(parts(term.event)) <= 256
        choices = parts(term.event) if split else (folded((term,)),)
        found = [Composed((*chosen.events, choice)) for chosen in found for choice in choices]
    return tuple(found)


def refusal(whole: Event, part: Event, reason: str, remedy: str = "") -> Unaccountable:
    """The error that names the whole event, the part that stands in the way, and why."""
    return Unaccountable(
        f"account for {_short(whole)}",
        f"its part {_short(part)} {reason}",
        remedy,
        whole=whole,
        part=part,
        reason=reason,
    )


def _check_relation(event: Event) -> None:
    sampled = [part for part in walked(event) if isinstance(part, Sampled) and part.rate < 1]
    split = [part for part in walked(event) if isinstance(part, Parallel) and len(part.events) > 1]
    replaced = [part for part in sampled if part.scheme != "poisson"]
    if replaced and (split or len(replaced) < len(sampled)):
        other = split[0] if split else next(part for part in sampled if part.scheme == "poisson")
        raise refusal(
            event,
            other,
            f"is sound for add/remove neighbors, while {replaced[0].scheme} samples are sound for replace neighbors",
            "Use one relation: poisson samples and parallel parts, or samples for replace neighbors.",
        )


def _expanded(event: Event, whole: Event) -> Iterator[Term]:
    match event:
        case Composed(events):
            for part in events:
                yield from _expanded(part, whole)
        case Repeated(inner, times):
            for term in _expanded(inner, whole):
                yield Term(term.event, term.times * times)
        case Sampled():
            yield from _sampled(event, whole)
        case Parallel(events):
            yield from _parallel([folded(_gathered(_expanded(part, whole))) for part in events], whole)
        case NoPromise(reason):
            raise refusal(whole, event, f"promises nothing ({reason})", "Only a waiver of the owner admits it.")
        case GaussianLoss(multiplier) if multiplier < SHOWN:
            yield Term(ApproximateLoss(0.0, 1.0), 1)
        case _:
            yield Term(event, 1)


def _sampled(event: Sampled, whole: Event) -> Iterator[Term]:
    inner = _gathered(_expanded(event.event, whole))
    match inner:
        case ():
            return
        case _ if event.rate == 1:
            yield from inner
        case _ if event.scheme == "poisson_replace" and not _one_gaussian(inner):
            remedy = "Add Gaussian noise, or draw samples of fixed size."
            raise refusal(whole, event, "is a poisson_replace sample of something else than Gaussian noise", remedy)
        case (Term(Sampled(deep, rate, _), 1),):
            yield Term(Sampled(deep, min(1.0, rate * event.rate * (1 + ROUNDING)), event.scheme), 1)
        case (Term(Parallel(events), 1),):
            yield from _parallel([Sampled(part, event.rate, event.scheme) for part in events], whole)
        case _:
            yield Term(Sampled(folded(inner), event.rate, event.scheme), 1)


def _one_gaussian(inner: tuple[Term, ...]) -> bool:
    return len(inner) == 1 and isinstance(inner[0].event, GaussianLoss)


def _parallel(found: list[Event], whole: Event) -> Iterator[Term]:
    dearest: list[Event] = []
    for part in found:
        if not any(_covers(other, part) for other in dearest):
            dearest = [other for other in dearest if not _covers(part, other)] + [part]
    if len(dearest) == 1:
        yield from _expanded(dearest[0], whole)
    else:
        yield Term(Parallel(tuple(dearest)), 1)


def _covers(dear: Event, cheap: Event) -> bool:
    """Whether whatever keeps the second promise keeps the first, by their numbers alone."""
    match dear, cheap:
        case (GaussianLoss(a), GaussianLoss(b)) | (LaplaceLoss(a), LaplaceLoss(b)):
            return a <= b
        case (PureLoss(a), PureLoss(b)) | (ConcentratedLoss(a), ConcentratedLoss(b)):
            return a >= b
        case ApproximateLoss(a, c), ApproximateLoss(b, d):
            return a >= b and c >= d
        case Sampled(a, p, first), Sampled(b, r, second):
            return first == second and p >= r and _covers(a, b)
        case Repeated(a, m), Repeated(b, n):
            return m >= n and _covers(a, b)
        case _:
            return dear == cheap


def _gathered(found: Iterable[Term]) -> tuple[Term, ...]:
    counts: dict[Event, int] = {}
    for term in found:
        counts[term.event] = counts.get(term.event, 0) + term.times
    noises = {event.multiplier: times for event, times in counts.items() if isinstance(event, GaussianLoss)}
    if sum(noises.values()) > 1:
        counts = {event: times for event, times in counts.items() if not isinstance(event, GaussianLoss)}
        least = min(noises)
        squares = math.fsum(times * (least / m) ** 2 for m, times in noises.items())
        counts[GaussianLoss((1 - ROUNDING) * least / math.sqrt(squares))] = 1
    return tuple(Term(event, times) for event, times in counts.items())


def folded(found: tuple[Term, ...]) -> Event:
    """The terms as one event again, in their simplest form."""
    events = tuple(term.event if term.times == 1 else Repeated(term.event, term.times) for term in found)
    return events[0] if len(events) == 1 else Composed(events)


def _short(event: Event) -> str:
    text = repr(event)
    return text if len(text) <= 200 else f"{text[:160]}... ({len(text)} letters)"
