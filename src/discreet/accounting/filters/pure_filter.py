"""The pure filter: epsilons add up, and so do deltas.

- A loss that is bounded, except for a failure, costs its bound.
- Any other costs its epsilon at a slack, and the slack: a part of delta was put aside, and a charge gets of it in
  proportion to the epsilon it takes.
- The first plan of an account may enter with its whole loss distribution: what follows then adds up to the greatest
  epsilon that keeps the share together with it. So a report of (1, 1e-6) leaves 1 of an account of (2, 1e-6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from discreet.accounting import accountant
from discreet.accounting.filters.amount import DELTA_UNITS, LOSS_UNITS, NOTHING, ROUNDING, Amount, slack_for_all
from discreet.accounting.renyi import renyi
from discreet.accounting.search import Ends, narrowed
from discreet.accounting.terms import terms
from discreet.core.events import ApproximateLoss, Event, LaplaceLoss, PureLoss

SPARE = 256  # beside a first plan, one part in so many of the share is for rounded sums and for slacks
ROUGH = 2e-4  # of epsilon: how nearly the greatest room is sought
STEPS = 10  # of the search for the price of a loss that is tiny beside its slack
DEARER = 2.0  # times the least epsilon that a price may be before a better one is sought
LEAST = 2.0**-100  # about a unit of loss


@dataclass(frozen=True)
class PureFilter:
    """Charges are admitted while their epsilons and their deltas stay within the cap.

    Parameters
    ----------
    epsilon : float
        The epsilon that it keeps.
    share : int
        Delta, in units. Half of what is spare is for what the cap may exceed epsilon by: whatever keeps epsilon + x
        without delta keeps epsilon with delta 1 - exp(-x) <= x. So ten questions of 0.1, whose float is a little more
        than a tenth, are one. Half is for the slacks of unbounded losses.
    first : Event, optional
        The first plan, where it enters with its loss distribution.
    cap : Amount
        What the epsilons of later charges may add up to, the delta of approximate events, and the slacks.

    Guarantee
    ---------
    (epsilon, share + cap.delta), however the events were chosen: basic composition (Dwork, McSherry, Nissim and Smith
    2006), which bounds the likelihood ratio on every path, as a filter (Rogers, Roth, Ullman and Vadhan 2016);
    `union.md` proves it with slacks and a first plan.

    Examples
    --------
    >>> rule = PureFilter.of(1.0, Fraction(0), Fraction(0))
    >>> rule.price(LaplaceLoss(2.0), Amount(0, 0)) == Amount(rule.cap.loss // 2, 0)
    True
    """

    epsilon: float
    share: int
    first: Event | None
    cap: Amount

    @classmethod
    def of(cls, epsilon: float, share: Fraction, failures: Fraction, first: Event | None = None) -> PureFilter:
        """The filter that keeps this epsilon with delta `share` + `failures`; a first plan must keep it by itself."""
        units = math.floor(share * DELTA_UNITS)
        if first is None:
            room = Fraction(epsilon)
        else:
            room = Fraction(room_beside(first, epsilon, (units - _spare(units, first)) / DELTA_UNITS * (1 - ROUNDING)))
        return cls(epsilon, units, first, _cap(units, first, room, failures))

    @classmethod
    def beside(cls, first: Event, epsilon: float, room: Fraction, failures: Fraction) -> PureFilter:
        """The filter with the least share of delta that admits, after the first plan, epsilons up to this room."""
        needed = math.ceil(Fraction(delta_beside(first, epsilon, float(room))) * DELTA_UNITS)
        units = needed + math.ceil(Fraction(needed, SPARE - 1)) + 2
        return cls(epsilon, units, first, _cap(units, first, room, failures))

    @property
    def aside(self) -> int:
        """What the share puts aside for slacks."""
        return _aside(self.share, self.first)

    @property
    def sound(self) -> bool:
        """Whether the cap is what the share of delta allows, beside a first plan up to rounding."""
        if self.cap.slack > self.aside:
            return False
        room = Fraction(self.cap.loss, LOSS_UNITS) - _excess(self.share, self.first)
        if self.first is None:
            return room <= Fraction(self.epsilon)
        kept = (self.share - _spare(self.share, self.first)) / DELTA_UNITS
        return delta_beside(self.first, self.epsilon, max(0.0, float(room))) <= kept * (1 + ROUNDING)

    def opening(self, event: Event) -> Amount | None:
        """What the first charge costs; nothing where it made the cap smaller already."""
        return self.price(event, NOTHING) if self.first is None else NOTHING

    def price(self, event: Event, spent: Amount) -> Amount | None:
        """What the event costs, rounded up; None if its loss is unbounded and nothing was put aside."""
        found = pure_price(event)
        if found is None:
            found = plain_price(event, self.cap.loss / LOSS_UNITS, slack_for_all(self.cap, spent))
        return found and found.not_free(event)

    def certified(self, spent: Amount) -> float:
        """The epsilon of what was spent, beside that of the first plan."""
        whole = Fraction(self.epsilon) + _excess(self.share, self.first)
        before = 0 if self.first is None else whole - Fraction(self.cap.loss, LOSS_UNITS)
        return float(before + Fraction(spent.loss, LOSS_UNITS))

    def used(self, spent: Amount) -> float:
        whole = math.ceil((Fraction(self.epsilon) + _excess(self.share, self.first)) * LOSS_UNITS)
        return 1 - (self.cap.loss - spent.loss) / whole


def _spare(share: int, first: Event | None) -> int:
    return share if first is None else share // SPARE


def _excess(share: int, first: Event | None) -> Fraction:
    """By how much sums may exceed epsilon: half of what is spare."""
    return Fraction(_spare(share, first) // 2, DELTA_UNITS)


def _aside(share: int, first: Event | None) -> int:
    """What is put aside for slacks: the other half."""
    spare = _spare(share, first)
    return spare - spare // 2


def _cap(share: int, first: Event | None, room: Fraction, failures: Fraction) -> Amount:
    cap = Amount.rounded_down(room + _excess(share, first), failures)
    return replace(cap, slack=_aside(share, first))


@lru_cache(maxsize=256)
def delta_beside(first: Event, epsilon: float, room: float) -> float:
    """Delta at epsilon of the first plan and randomized response of this room, which is the worst that can follow."""
    if room == 0:
        return accountant.delta(first, epsilon)
    p = 1 / (1 + math.exp(-room))
    near = accountant.delta(first, max(0.0, math.nextafter(epsilon - room, 0.0)))
    return (p * near + (1 - p) * accountant.delta(first, epsilon + room)) * (1 + ROUNDING)


def room_beside(first: Event, epsilon: float, delta: float) -> float:
    """A room that, after the first plan, keeps epsilon and delta; nearly the greatest one."""

    def left(share: float) -> float:
        return max(0.0, math.nextafter(epsilon - accountant.epsilon(first, min(share, 0.5), accuracy=ROUGH), 0.0))

    least = left(delta)
    greater = left(delta * (1 + math.exp(-left(delta * (1 + math.exp(-least))))))
    return greater if least > 0 and delta_beside(first, epsilon, greater) <= delta else least


@lru_cache(maxsize=1024)
def plain_price(event: Event, whole: float, aside: float) -> Amount | None:
    """An epsilon of an unbounded loss, and a slack: together they keep the event, and neither is free.

    A charge of epsilon p may have the slack f = aside p / whole, so p is sought with p >= epsilon(event, f) and f > 0.
    The epsilon at the whole of what was put aside is the least that there may be; at its part of the slack the event
    costs hardly more. Where it does, as for what shows itself with a chance below the slack and not otherwise, the
    least p is sought; `whole` itself is always one, and any that is found is sound.
    """
    if not (aside > 0 and whole > 0):
        return None
    least, rate = accountant.epsilon(event, aside), aside / whole
    if math.isinf(least):
        return None
    if least > whole:
        return Amount.rounded_up(least, 0, aside)
    if least * rate > 0:
        found = accountant.epsilon(event, least * rate)
        if found <= DEARER * least:
            return Amount.rounded_up(found, 0, least * rate)

    def fits(price: float) -> bool:
        return accountant.epsilon(event, price * rate, accuracy=ROUGH) <= price

    ends = Ends(min(max(least, LEAST), whole), whole)
    ends = narrowed(fits, ends, lambda ends: ends.high <= 1.5 * ends.low, _geometric, STEPS)
    return Amount.rounded_up(ends.high, 0, ends.high * rate)


def _geometric(ends: Ends) -> float:
    return math.sqrt(ends.low) * math.sqrt(ends.high)


@lru_cache(maxsize=256)
def pure_price(event: Event) -> Amount | None:
    """The exact sum of epsilons and deltas, so that whole budgets can be spent; None if the loss is unbounded."""
    epsilon = delta = Fraction(0)
    for term in terms(event):
        match term.event:
            case PureLoss(loss):
                epsilon += term.times * Fraction(loss)
            case LaplaceLoss(multiplier):
                epsilon += term.times / Fraction(multiplier)
            case ApproximateLoss(loss, failure):
                epsilon += term.times * Fraction(loss)
                delta += term.times * Fraction(failure)
            case other:
                cost = renyi(other, math.inf)
                if math.isinf(cost.divergence):
                    return None
                epsilon += term.times * Fraction(cost.divergence)
                delta += term.times * Fraction(cost.delta)
    return Amount.rounded_up(epsilon, delta)
