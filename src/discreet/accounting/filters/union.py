"""The privacy filter of an account: a union of filters, of which one must hold.

Each member keeps (epsilon, delta_j) by itself, and the delta_j add up to the account's delta at most. A charge is
admitted while at least one member holds that held all along; then all charges together are (epsilon, delta), as
`union.md` proves. Every charge counts in every member, whichever of them admitted it.

What the members are is decided by the first charge, before anything is released: so a fresh account pays any plan that
costs no more than its budget. Of the delta that such a plan leaves, the members get fixed shares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from discreet.accounting import accountant
from discreet.accounting.filters.amount import DELTA_UNITS, NOTHING, Amount
from discreet.accounting.filters.gaussian_filter import GaussianFilter, delta_beside, gaussian_price
from discreet.accounting.filters.pure_filter import PureFilter, pure_price
from discreet.accounting.filters.renyi_filter import RenyiFilter, order_for
from discreet.accounting.pairs.directions import has_pairs
from discreet.accounting.renyi import renyi
from discreet.accounting.terms import terms
from discreet.core.budget import Budget
from discreet.core.events import Event, GaussianLoss

Spent = tuple[Amount | None, ...]
"""An amount for each member; None for one that was broken by a charge without a price."""


class Member(Protocol):
    """One filter of a union: it holds on a path while what was spent in it stays within the cap."""

    @property
    def share(self) -> int:
        """The delta, in units, that it needs without failures; `cap.delta` is for those."""

    @property
    def cap(self) -> Amount:
        """The most that may be spent."""

    @property
    def aside(self) -> int:
        """How much of the share is for slacks: for `cap.slack`."""

    @property
    def sound(self) -> bool:
        """Whether the cap is what the share of delta allows; computed anew."""

    def opening(self, event: Event) -> Amount | None:
        """What the first charge costs."""

    def price(self, event: Event, spent: Amount) -> Amount | None:
        """What the event costs after this was spent; None if it has no price here."""

    def certified(self, spent: Amount) -> float:
        """The epsilon, at the member's delta, if this were all that is ever asked."""

    def used(self, spent: Amount) -> float:
        """The part of a fresh account that is gone, from 0 to 1."""


@dataclass(frozen=True)
class FilterUnion:
    """The members of an account's filter.

    Guarantee
    ---------
    Everything that was ever admitted is, together, (epsilon, delta), however it was chosen: delta is the sum of the
    members' shares, and the largest of their caps on failures, which are the same failures for all (`union.md`).

    Examples
    --------
    >>> from discreet.core.events import LaplaceLoss
    >>> question = LaplaceLoss(10.0)
    >>> union = chosen(Budget(1.0, 1e-6), question)
    >>> spent = union.opening(question)
    >>> for _ in range(9):
    ...     spent = union.after(question, spent)
    >>> union.holds(spent), union.holds(union.after(question, spent))
    (True, False)
    """

    members: tuple[Member, ...]

    @property
    def delta(self) -> Fraction:
        """The shares of all members together, and failures once."""
        shares = failures = 0
        for member in self.members:
            shares, failures = shares + member.share, max(failures, member.cap.delta)
        return Fraction(shares + failures, DELTA_UNITS)

    def opening(self, first: Event) -> Spent:
        """What is spent in each member after the first charge."""
        prices = tuple([member.opening(first) for member in self.members])
        return prices if len(prices) == 1 else _alike(prices)

    def after(self, event: Event, spent: Spent) -> Spent:
        """What is spent in each member after one more charge. A member that was broken stays broken."""
        known = zip(self.members, spent, strict=True)
        prices = _alike(tuple([None if before is None else member.price(event, before) for member, before in known]))
        both = zip(spent, prices, strict=True)
        return tuple([None if before is None or price is None else before + price for before, price in both])

    def living(self, spent: Spent) -> dict[Member, Amount]:
        """The members that hold, with what is spent in them."""
        pairs = zip(self.members, spent, strict=True)
        return {member: amount for member, amount in pairs if amount is not None and amount.within(member.cap)}

    def holds(self, spent: Spent) -> bool:
        """Whether at least one member holds."""
        for member, amount in zip(self.members, spent, strict=True):
            if amount is not None and amount.within(member.cap):
                return True
        return False

    def certified(self, spent: Spent) -> float:
        """The least epsilon that a member certifies; where none holds, how much it would take."""
        known = {member: amount for member, amount in zip(self.members, spent, strict=True) if amount is not None}
        among = self.living(spent) or known
        return min((member.certified(amount) for member, amount in among.items()), default=math.inf)

    def used(self, spent: Spent) -> float:
        """The part of the account that is gone, in the member that has most left."""
        return min((member.used(amount) for member, amount in self.living(spent).items()), default=1.0)


def _alike(prices: Spent) -> Spent:
    """The prices with one failure, the greatest that a member counts: failures are shared, so they must be the same.

    A first plan that is in a member's cap already costs nothing there.
    """
    failure = max([price.delta for price in prices if price is not None], default=0)
    if failure == 0:
        return prices
    return tuple([one if one is None or one == NOTHING else replace(one, delta=failure) for one in prices])


@dataclass(frozen=True)
class Shares:
    """How delta is divided, in parts of 128: a tenth at least for failures, which people ask for in such parts.

    The pure filter needs some for rounded sums and for unbounded losses.
    """

    pure: int
    gaussian: int
    renyi: int
    failures: int
    plain: int = 96
    """The most that plain sums after an unbounded first plan may take from the others."""


PARTS = 128
BOUNDED = Shares(pure=4, gaussian=47, renyi=64, failures=13)
"""Half for what only the Renyi filter takes, as one that stood alone would have."""
GAUSSIAN = Shares(pure=2, gaussian=66, renyi=47, failures=13)
"""Where the first plan is Gaussian: half for the Gaussian filter, which is nearly tight for more of the same."""
FAILING = Shares(pure=4, gaussian=24, renyi=8, failures=92)
"""Where the first plan fails with a probability of more than a hundredth of delta."""
DIVERGENT = Shares(pure=4, gaussian=0, renyi=96, failures=28)
"""Where the first plan is known by its Renyi divergences alone."""
SAMPLED = Shares(pure=4, gaussian=87, renyi=24, failures=13, plain=56)
"""Where the first plan enters the Gaussian filter by its loss distribution, as training on samples."""
CHEAP = 8  # a first charge of less than this part of the room may as well be priced as later ones are
WHOLE = 1 - 2.0**-10  # a plan that takes more than this part of delta leaves nothing


@lru_cache(maxsize=256)
def chosen(budget: Budget, first: Event) -> FilterUnion:
    """The members for an account whose first charge is this event.

    A plan that takes much of the account enters the Gaussian filter with its loss distribution, and the pure filter too
    if its loss is unbounded. What it needs of delta is taken off first, so that it can be paid whenever its delta at
    the budget's epsilon is not above the budget's.
    """
    whole, epsilon = Fraction(budget.delta), budget.epsilon
    if whole == 0:
        return FilterUnion((PureFilter.of(epsilon, whole, whole),))
    shares = _shares(first, whole)
    if not has_pairs(first):
        divergent = _union(epsilon, whole, DIVERGENT, first)
        if divergent.used(divergent.opening(first)) < 1 / CHEAP:
            return divergent
    elif _cheap(first, epsilon, whole / PARTS, shares):
        return _union(epsilon, whole, shares, first)
    needed = Fraction(math.ceil(Fraction(delta_beside(first, epsilon, 0.0)) * DELTA_UNITS), DELTA_UNITS)
    if needed > whole:
        return _union(epsilon, whole, shares, first)
    plain = _plain(epsilon, whole, shares, first, needed)
    if plain is None:
        return _union(epsilon, whole, shares, first, needed)
    left = whole - Fraction(plain.share, DELTA_UNITS)
    if left < needed + whole / PARTS:
        return FilterUnion((replace(plain, cap=replace(plain.cap, delta=math.floor(left * DELTA_UNITS))),))
    others = _union(epsilon, left, replace(shares, pure=0), first, needed)
    failures = others.members[-1].cap.delta
    return FilterUnion((replace(plain, cap=replace(plain.cap, delta=failures)), *others.members))


def payable(budget: Budget, first: Event) -> bool:
    """Whether a fresh account can pay this plan; where its delta tells, no members are chosen."""
    if budget.delta > 0 and delta_beside(first, budget.epsilon, 0.0) <= budget.delta:
        return True
    union = chosen(budget, first)
    return union.holds(union.opening(first))


def _shares(first: Event, whole: Fraction) -> Shares:
    if renyi(first, 2.0).delta > whole / 100:
        return FAILING
    if gaussian_price(first, 1.0) is None:
        return SAMPLED
    return GAUSSIAN if _is_gaussian(first) else BOUNDED


def _plain(epsilon: float, whole: Fraction, shares: Shares, first: Event, needed: Fraction) -> PureFilter | None:
    """The pure filter beside an unbounded first plan: it leaves what the plain sum of epsilons leaves.

    Where little of delta would be left for the other filters, it takes no more than its part and leaves a little less.
    """
    bounded = pure_price(first)
    if bounded is not None and bounded.within(Amount.rounded_down(epsilon, shares.failures * (whole - needed) / PARTS)):
        return None
    asked = accountant.epsilon(first, float(whole))
    if asked > epsilon:
        return None
    most = shares.plain * whole / PARTS
    if needed > whole - most or float(whole) < (1 + math.exp(asked - epsilon)) * float(most):
        strict = PureFilter.beside(first, epsilon, Fraction(epsilon) - Fraction(asked), Fraction(0))
        if strict.share <= (whole if needed > whole - most else most) * DELTA_UNITS:
            return strict
    less = PureFilter.of(epsilon, most, Fraction(0), first)
    return less if less.certified(NOTHING) < epsilon else None


def _cheap(first: Event, epsilon: float, part: Fraction, shares: Shares) -> bool:
    """Whether the Gaussian filter loses little by pricing the first plan as it does later ones."""
    rule = GaussianFilter.of(epsilon, shares.gaussian * part, shares.failures * part)
    price = rule.price(first, NOTHING)
    return price is not None and price.within(replace(rule.cap, loss=rule.cap.loss // CHEAP))


def _is_gaussian(event: Event) -> bool:
    return all(isinstance(term.event, GaussianLoss) for term in terms(event))


def _union(
    epsilon: float, whole: Fraction, shares: Shares, first: Event, needed: Fraction | None = None
) -> FilterUnion:
    """Members with these shares of what the first plan leaves; those that cannot pay it give theirs to the Gaussian."""
    part = (whole - (needed or 0)) / PARTS
    failures = shares.failures * part
    members: list[Member] = []
    if float(part * PARTS) > (1 - WHOLE) * float(whole):
        members.append(PureFilter.of(epsilon, shares.pure * part, failures))
        order = order_for(first, epsilon, float(shares.renyi * part))
        members.append(RenyiFilter.of(epsilon, shares.renyi * part, failures, order))
    kept = [member for member in members if member.cap.loss and FilterUnion((member,)).holds((member.opening(first),))]
    share = whole - Fraction(sum(member.share for member in kept), DELTA_UNITS) - failures
    if not shares.gaussian:
        return FilterUnion(tuple(kept))
    if needed is None:
        return FilterUnion((*kept, GaussianFilter.of(epsilon, share, failures)))
    later = max(Fraction(0), failures - Fraction(renyi(first, 2.0).delta))
    return FilterUnion((*kept, GaussianFilter.of(epsilon, share, later, first)))
