"""The Gaussian filter: what is left is the power of a Gaussian release, and every charge leaves a smaller one.

Write G(w) for N(0, 1) against N(sqrt(w), 1), and let `room` be the w that is left. A charge is admitted when it and
what is left after it are together no worse than G(room), at every epsilon; `gaussian_filter.md` has the proofs.

- Gaussian noise leaves room - 1 / multiplier^2.
- A loss that never exceeds e is no worse than randomized response, and randomized response with G(r) is no worse than
  G(w) exactly if its total variation distance is not greater. While much is left that takes about e^2 of the room;
  of the last room it takes (2 Phi^-1(1 / (1 + exp(-e))))^2, about 1.57 e^2.
- Any other loss that has a distribution, as that of training on samples, takes the room of the least Gaussian release
  that covers it up to a slack (`gaussian_cover`). The slacks come from a part of delta that was put aside.
- The first plan of an account was chosen before anything was released. It may enter with its whole loss distribution:
  the room is then the greatest w for which that plan and G(w) keep epsilon and the share of delta.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from discreet.accounting import accountant
from discreet.accounting.closed_forms import gaussian_delta, gaussian_epsilon, gaussian_multiplier
from discreet.accounting.filters.amount import DELTA_UNITS, LOSS_UNITS, NOTHING, Amount, slack_for_all
from discreet.accounting.filters.gaussian_cover import covering_room
from discreet.accounting.renyi import renyi
from discreet.accounting.search import HALVINGS, Ends, grown, narrowed
from discreet.accounting.terms import Term, folded, terms
from discreet.core.errors import ParameterError, Unaccountable
from discreet.core.events import ApproximateLoss, Composed, Event, GaussianLoss, LaplaceLoss, Parallel, PureLoss

SLACK = 2.0**-48  # of a total variation distance, for the rounding of erf and of its arguments
ROUNDING = 1e-9  # between machines
DEAREST = 20.0  # a bounded loss of more than this is left to other filters
ASIDE = 32  # one part in so many of the share is for the slacks of charges that are neither Gaussian nor bounded
STEPS = 6  # of the search for the room beside a first plan
FARTHEST = 100.0  # beside a first plan, an account of more than this epsilon has no room
SATURATED = 16.0  # beside more than this, erf tells no distances apart: bounded losses are priced beside so much
DEAR = 64  # a bounded loss of less than this part of the room is not covered: its own price is quick, and small
MOST = 64  # repetitions of parallel parts that are charged one by one


@dataclass(frozen=True)
class GaussianFilter:
    """Charges are admitted while they leave a Gaussian release, of whatever little power.

    Parameters
    ----------
    epsilon : float
        The epsilon that it keeps.
    share : int
        Delta, in units. A part is put aside for slacks; at the rest, the first plan and the whole room keep epsilon.
    first : Event, optional
        The first plan, where it enters with its loss distribution.
    cap : Amount
        The whole room (a sum of squares of 1 / multiplier), the delta of approximate events, and the slacks.

    Guarantee
    ---------
    (epsilon, share + cap.delta), however the events were chosen. For Gaussian charges alone this is the filter of
    Smith and Thakurta 2022; `gaussian_filter.md` proves it with bounded losses and a first plan.

    Examples
    --------
    >>> rule = GaussianFilter.of(1.0, Fraction(1e-6) * 32 / 31, Fraction(0))
    >>> round(rule.cap.floats[0] * 4.2246788893**2, 6)
    1.0
    >>> rule.price(GaussianLoss(10.0), NOTHING).floats[0]
    0.01
    >>> round(rule.price(PureLoss(0.01), NOTHING).floats[0], 6)
    0.0001
    """

    epsilon: float
    share: int
    first: Event | None
    cap: Amount

    @classmethod
    def of(cls, epsilon: float, share: Fraction, failures: Fraction, first: Event | None = None) -> GaussianFilter:
        """The filter that keeps this epsilon with delta `share` + `failures`; the first plan must keep it by itself."""
        units = math.floor(share * DELTA_UNITS)
        room = _whole(epsilon, _for_room(units))
        if first is not None:
            needed = delta_beside(first, epsilon, 0.0)
            if Fraction(needed) * DELTA_UNITS > units:
                obstacle = f"its first plan needs delta {needed:g} and the share is {float(share):g}"
                raise ParameterError("a Gaussian filter", obstacle, "Give a larger share.", needed=needed)
            room = room_beside(first, epsilon, _float(_for_room(units)), room)
        cap = Amount.rounded_down(room * (1 - SLACK), failures)
        return cls(epsilon, units, first, replace(cap, slack=_aside(units) if cap.loss else 0))

    @property
    def aside(self) -> int:
        """What the share puts aside for slacks; nothing where there is no room, for the first plan has it all."""
        return _aside(self.share) if self.cap.loss else 0

    @property
    def sound(self) -> bool:
        """Whether the first plan and the whole room keep epsilon with the share of delta, up to rounding."""
        if self.cap.slack > self.aside:
            return False
        room = self.cap.loss / LOSS_UNITS
        units = _for_room(self.share) if room else self.share
        if self.first is None:
            return room <= _whole(self.epsilon, units) * (1 + ROUNDING)
        return delta_beside(self.first, self.epsilon, room) <= units / DELTA_UNITS * (1 + ROUNDING)

    def opening(self, event: Event) -> Amount | None:
        """What the first charge costs; nothing where it made the room smaller already."""
        return self.price(event, NOTHING) if self.first is None else NOTHING

    def price(self, event: Event, spent: Amount) -> Amount | None:
        """How much smaller the event makes the room, rounded up; None if it has no loss distribution.

        Of a room that is too small a bounded loss takes its price at the very end, so that a refusal can name it.
        """
        room = max(0, self.cap.loss - spent.loss) / LOSS_UNITS * (1 - SLACK)
        return gaussian_price(event, room, self.cap.loss / LOSS_UNITS * (1 + SLACK), slack_for_all(self.cap, spent))

    def certified(self, spent: Amount) -> float:
        """The epsilon of the first plan and of a Gaussian release as large as what was spent, at the share of delta."""
        found = _certified(self.first, spent.loss / LOSS_UNITS * (1 + SLACK), _float(_for_room(self.share)))
        return min(found, self.epsilon) if spent.within(self.cap) else found

    def used(self, spent: Amount) -> float:
        """How much of the room of a fresh account is gone."""
        return 1 - (self.cap.loss - spent.loss) / LOSS_UNITS / _whole(self.epsilon, _for_room(self.share))


def _for_room(share: int) -> int:
    """What a share leaves when slacks are taken off."""
    return share - _aside(share)


def _aside(share: int) -> int:
    """What is put aside for slacks."""
    return share // ASIDE


def _float(units: int) -> float:
    """A delta in units as a float, rounded down."""
    return units / DELTA_UNITS * (1 - SLACK)


@lru_cache(maxsize=256)
def _whole(epsilon: float, units: int) -> float:
    """The room of a fresh account, rounded down."""
    return gaussian_multiplier(epsilon, _float(units)) ** -2 * (1 - SLACK)


@lru_cache(maxsize=256)
def _certified(first: Event | None, square: float, delta: float) -> float:
    if first is not None:
        rest = (GaussianLoss(square**-0.5),) if square > 0 else ()
        return accountant.epsilon(Composed((first, *rest)), delta)
    return gaussian_epsilon(square**-0.5, delta) if square > 0 else 0.0


def room_beside(first: Event, epsilon: float, delta: float, whole: float) -> float:
    """A room of at most `whole` that, with the first plan, keeps epsilon and delta; nearly the greatest one.

    The root of ln(delta) is sought by regula falsi, halving the end that stays (Illinois); any room that fits is sound.
    """
    low, below = 0.0, _log_ratio(delta_beside(first, epsilon, 0.0), delta)
    if below > -(2.0**-10) or epsilon > FARTHEST:
        return 0.0
    high, above = whole, 1.0
    for step in range(STEPS):
        middle = low + (high - low) * (0.5 if step == 0 else min(0.9, max(0.1, below / (below - above))))
        excess = _log_ratio(delta_beside(first, epsilon, middle), delta)
        if excess <= 0:
            low, below, above = middle, excess, above / 2
        else:
            high, above, below = middle, excess, below / 2
    return low


def _log_ratio(found: float, delta: float) -> float:
    return math.log(max(found / delta, 1e-3))


@lru_cache(maxsize=256)
def delta_beside(first: Event, epsilon: float, room: float) -> float:
    """Delta at epsilon of the first plan and G(room); a single bounded loss is taken as randomized response."""
    if room == 0:
        return accountant.delta(first, epsilon)
    match terms(first):
        case (Term(PureLoss() | LaplaceLoss() as event, 1),) if (loss := _bounded(event)) and loss.epsilon <= epsilon:
            p, multiplier = 1 / (1 + math.exp(-loss.epsilon)), room**-0.5
            near, far = (gaussian_delta(multiplier, epsilon + sign * loss.epsilon) for sign in (-1, 1))
            return (p * near + (1 - p) * far) * (1 + SLACK)
        case _:
            return accountant.delta(Composed((first, GaussianLoss(room**-0.5))), epsilon)


@lru_cache(maxsize=4096)
def gaussian_price(event: Event, room: float, whole: float = 0.0, aside: float = 0.0) -> Amount | None:
    """How much of this room the event takes, and its chance of failure; None if it has no price.

    What is neither bounded nor Gaussian is covered with its part of what was put aside for the whole room.
    """
    parts = terms(event)
    if len(parts) == 1 and (single := _single_price(parts[0], room)):
        return single.not_free(event)
    square = taken = failures = slack = Fraction(0)
    bounded: list[tuple[Bounded, int]] = []
    for term in parts:
        match term.event:
            case GaussianLoss(multiplier):
                square += term.times / Fraction(multiplier) ** 2
            case Parallel(events) if term.times <= MOST:
                for _ in range(term.times):
                    left = _rest(room, taken)
                    dearest = _dearest(gaussian_price(part, left, whole, aside) for part in events)
                    if dearest is None:
                        return None
                    taken += Fraction(dearest.loss, LOSS_UNITS)
                    failures += Fraction(dearest.delta, DELTA_UNITS)
                    slack += Fraction(dearest.slack, DELTA_UNITS)
            case other:
                loss = _bounded(other)
                most = term.times * loss.epsilon**2 if loss else math.inf
                plain = isinstance(other, PureLoss | LaplaceLoss | ApproximateLoss) or most < room / DEAR
                least = None if plain else covering_room(folded((term,)), whole, aside)
                if least is not None and least < most:
                    square += Fraction(least)
                    slack += Fraction(least) * Fraction(aside / whole)
                elif loss is None:
                    return None
                else:
                    bounded.append((loss, term.times))
    for loss, times in sorted(bounded, key=lambda pair: -pair[0].epsilon):
        failures += times * loss.delta
        if loss.epsilon > 0:
            before = _rest(room, taken)
            taken += Fraction(before) - Fraction(_left(before, loss.epsilon, times)) + Fraction(abs(before) * SLACK)
    return Amount.rounded_up(square + taken, failures, slack).not_free(event)


def _single_price(term: Term, room: float) -> Amount | None:
    """The price of one kind of noise, which most charges are: the same number, to the unit, with fewer fractions."""
    match term.event:
        case GaussianLoss(multiplier):
            over, under = multiplier.as_integer_ratio()
            return Amount(-(-term.times * under * under * LOSS_UNITS // (over * over)), 0)
        case PureLoss() | LaplaceLoss() as event if (loss := _bounded(event)) and loss.epsilon > 0:
            taken = ExactFloatSum.of(room).less(_left(room, loss.epsilon, term.times)).more(abs(room) * SLACK)
            return Amount(taken.rounded_up(LOSS_UNITS), 0) if taken.count >= 0 else None
        case _:
            return None


@dataclass(frozen=True)
class ExactFloatSum:
    """A sum of floats without rounding: a whole number of a power of 1/2.

    Examples
    --------
    >>> ExactFloatSum.of(0.1).more(0.2).less(0.3).rounded_up(2**55)
    1
    """

    count: int
    power: int

    @classmethod
    def of(cls, value: float) -> ExactFloatSum:
        over, under = value.as_integer_ratio()
        return cls(over, under.bit_length() - 1)

    def more(self, value: float) -> ExactFloatSum:
        other = ExactFloatSum.of(value)
        power = max(self.power, other.power)
        return ExactFloatSum((self.count << power - self.power) + (other.count << power - other.power), power)

    def less(self, value: float) -> ExactFloatSum:
        return self.more(-value)

    def rounded_up(self, units: int) -> int:
        """How many units it is, rounded up."""
        return -(-self.count * units >> self.power)


def _rest(room: float, taken: Fraction) -> float:
    """What is left of a room, rounded down."""
    return math.nextafter(float(Fraction(room) - taken), -math.inf) if taken else room


def _dearest(prices: Iterable[Amount | None]) -> Amount | None:
    found = list(prices)
    known = [price for price in found if price is not None]
    if len(known) < len(found):
        return None
    return Amount(*(max(getattr(price, part) for price in known) for part in ("loss", "delta", "slack")))


@dataclass(frozen=True)
class Bounded:
    """Outside of failures of probability `delta`, a loss of at most `epsilon`."""

    epsilon: float
    delta: Fraction


def _bounded(event: Event) -> Bounded | None:
    match event:
        case PureLoss(epsilon):
            found = Bounded(epsilon, Fraction(0))
        case LaplaceLoss(multiplier):
            found = Bounded(1 / multiplier * (1 + SLACK), Fraction(0))
        case ApproximateLoss(epsilon, delta):
            found = Bounded(epsilon, Fraction(delta))
        case _:
            cost = renyi(event, math.inf)
            found = Bounded(cost.divergence, Fraction(cost.delta))
    return found if found.epsilon <= DEAREST else None


def _left(room: float, epsilon: float, times: int) -> float:
    """What is left of a room after so many losses of at most epsilon each; negative if it is too small.

    At r, a smaller room, each costs at most its price beside G(r), as long as r is left after the last.
    """
    if epsilon == 0:
        return room
    if times == 1:
        return _after(room, epsilon)
    if room > 0:
        half = room / 2
        if room - times * price_beside(epsilon, half) >= half:
            rest = room - times * price_beside(epsilon, half)
            return room - times * price_beside(epsilon, rest)
        if times * epsilon**2 / 2 < room:
            return _left(_left(room, epsilon, times // 2), epsilon, times - times // 2)
    return room - times * price_beside(epsilon, 0.0)


def _after(room: float, epsilon: float) -> float:
    """The greatest r, up to rounding, such that randomized response and G(r) are no worse than G(room)."""
    if room <= 0 or distance(epsilon, 0.0) + SLACK > _distance(room):
        return room - price_beside(epsilon, 0.0)
    if room - price_beside(epsilon, SATURATED) >= SATURATED:
        return room - price_beside(epsilon, SATURATED)

    p, most = 1 / (1 + math.exp(-epsilon)), _distance(room)
    low, high, close = 0.0, room, 2.0**-40 * min(room, epsilon**2)
    for _ in range(HALVINGS):  # `narrowed`, of `distance`, written out: most charges come here
        rest = (low + high) / 2
        if high - low <= close or not low < rest < high:
            break
        root = math.sqrt(2 * rest)
        near, far = math.erf(epsilon / root + root / 4), math.erf(epsilon / root - root / 4)
        if p * near - (1 - p) * far + SLACK > most:
            high = rest
        else:
            low = rest
    return low


def _near(ends: Ends, size: float) -> bool:
    return ends.high - ends.low <= 2.0**-40 * size


@lru_cache(maxsize=4096)
def price_beside(epsilon: float, rest: float) -> float:
    """The least v, rounded up, such that randomized response and G(rest) are no worse than G(rest + v).

    Examples
    --------
    >>> round(price_beside(0.1, 0.0) / 0.1**2, 2), round(price_beside(0.1, 0.1) / 0.1**2, 2)
    (1.57, 1.02)
    """
    rest = min(rest, SATURATED)

    def fits(price: float) -> bool:
        return distance(epsilon, rest) + SLACK <= _distance(rest + price)

    found = grown(fits, 0.0, epsilon**2 / 8 + SLACK, FARTHEST**2)
    if found is None:
        raise Unaccountable("price", f"no room is known to pay for a loss of {epsilon}", "Ask with more noise.")
    return narrowed(fits, found, lambda ends: _near(ends, ends.high)).high


def distance(epsilon: float, rest: float) -> float:
    """The total variation distance of randomized response together with G(rest)."""
    p = 1 / (1 + math.exp(-epsilon))
    if rest <= 0:
        return math.tanh(epsilon / 2)
    root = math.sqrt(2 * rest)
    near, far = math.erf(epsilon / root + root / 4), math.erf(epsilon / root - root / 4)
    return p * near - (1 - p) * far


def _distance(room: float) -> float:
    """The total variation distance of G(room)."""
    return math.erf(math.sqrt(room / 8))
