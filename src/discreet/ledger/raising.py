"""A larger budget for an account: the same members of its filter, with caps computed anew.

All that was admitted under the old caps, slacks too, is counted and within the new ones, so everything together keeps
the larger budget (`union.md`). Shares of delta grow in proportion. No cap becomes smaller: what kept the old budget
keeps the new one.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from discreet.accounting.filters.amount import DELTA_UNITS, Amount
from discreet.accounting.filters.gaussian_filter import GaussianFilter
from discreet.accounting.filters.pure_filter import PureFilter
from discreet.accounting.filters.renyi_filter import RenyiFilter
from discreet.accounting.filters.union import Member, Union
from discreet.core.budget import Budget


def raised(union: Union, before: Budget, after: Budget) -> Union:
    """The members with the caps of a larger budget.

    Examples
    --------
    >>> from discreet.core.events import PureLoss
    >>> from discreet.accounting.filters.union import chosen
    >>> union = chosen(Budget(1.0), PureLoss(0.5))
    >>> raised(union, Budget(1.0), Budget(2.0)).members[0].certified(union.members[0].cap)
    1.0
    """
    grown = Fraction(after.delta) / Fraction(before.delta) if before.delta else Fraction(0)
    fresh = Fraction(0) if before.delta else Fraction(after.delta)  # an account without delta has one member
    members = []
    for member in union.members:
        share, failures = (grown * Fraction(units, DELTA_UNITS) for units in (member.share, member.cap.delta))
        members.append(_member(member, after.epsilon, share, failures + fresh))
    return Union(tuple(members))


def _member(member: Member, epsilon: float, share: Fraction, failures: Fraction) -> Member:
    found: PureFilter | GaussianFilter | RenyiFilter
    match member:
        case GaussianFilter(first=first):
            found = GaussianFilter.of(epsilon, share, failures, first)
        case RenyiFilter(order=order):
            found = RenyiFilter.of(epsilon, share, failures, order)
        case PureFilter(first=first):
            found = PureFilter.of(epsilon, share, failures, first)
        case _:
            raise TypeError(member)
    parts = ("loss", "delta", "slack")
    return replace(found, cap=Amount(*(max(getattr(found.cap, part), getattr(member.cap, part)) for part in parts)))
