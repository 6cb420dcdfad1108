"""Why an account does not pay for an event: what is short, and what would fit."""

from __future__ import annotations

import math

from discreet.accounting.accountant import Price, price
from discreet.accounting.filters.amount import DELTA_UNITS
from discreet.accounting.filters.pure_filter import pure_price
from discreet.core.errors import BudgetExceeded, Unaccountable
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    Parallel,
    PureLoss,
    Repeated,
)
from discreet.ledger.account import Account, holder
from discreet.ledger.account_state import AccountState

STEPS = 12  # of the search for the most that fits
LEAST = 2.0**-100


def refusal(
    standing: AccountState, after: AccountState, asked: str, event: Event, cost: Price, account: Account
) -> BudgetExceeded | None:
    """Why the event, after which the account would stand like this, cannot be paid, if it cannot."""
    if after.holds:
        return None
    budget = standing.budget
    if budget.delta == 0 and pure_price(event) is None:
        raise Unaccountable(
            asked,
            f"its loss is unbounded, and the account of {holder(account)} has no delta",
            "Ask with a mechanism of finite pure loss, such as Laplace noise, or open an account with delta > 0.",
        )
    if cost.epsilon == math.inf and (known := pure_price(event)):
        cost = Price(*known.floats)
    balance = standing.balance()
    needed, words = f"{cost.epsilon:.4g}", balance.left
    if needed == words:
        needed, words = f"{cost.epsilon:.17g}", f"{balance.remaining:.17g}"
    fits, failures = fitting(standing, event), _failures(standing, after)
    short = "epsilon" if failures is None else "delta"
    return BudgetExceeded(
        asked,
        f"it needs epsilon {needed} at delta {cost.delta:.6g}; the account of {holder(account)}"
        f" has {words} of {budget.epsilon:g} left at delta {budget.delta:g}, and {short} is short",
        _remedy(fits, failures),
        account=account and str(account),
        needed=cost.epsilon,
        needed_delta=cost.delta,
        left=balance.remaining,
        budget=budget,
        short=short,
        fits=fits,
    )


def _remedy(fits: float | None, failures: float | None) -> str:
    if failures is not None:
        most = f"a delta of at most {_down(failures)}" if failures > 0 else "no delta"
        return f"What may fail has {most} left: ask with a smaller delta, or with noise that cannot fail."
    if fits is None:
        return "Ask with more noise, or for less."
    if fits == 0:
        return "Not even a thousandth of it fits now."
    return f"The largest epsilon that fits now, for this kind of question, is {_down(fits)}."


def _down(value: float) -> str:
    """Three digits, rounded down, so that what is said fits."""
    if value <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return f"{math.floor(value / unit * (1 + 1e-12)) * unit:.3g}"


def _failures(standing: AccountState, after: AccountState) -> float | None:
    """The delta that is left for failures, if more of it is what the charge lacks."""
    if after.union is None:
        return None
    left = [
        (member.cap.delta - (before.delta if before else 0)) / DELTA_UNITS
        for member, spent, before in zip(
            after.union.members, after.spent, standing.spent or (None,) * len(after.spent), strict=True
        )
        if spent is not None and spent.loss <= member.cap.loss and spent.delta > member.cap.delta
    ]
    return max(left, default=None)


def fitting(standing: AccountState, event: Event) -> float | None:
    """The epsilon of the largest question of this kind that the account pays now; None if that cannot be told quickly.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> account = AccountState(Budget(1.0, 1e-6)).after(PureLoss(0.75))
    >>> round(fitting(account, LaplaceLoss(2.0)), 3)
    0.25
    """
    if standing.union is None or with_less(event, 0.5) is None:
        return None

    def pays(factor: float) -> bool:
        smaller = with_less(event, factor)
        return smaller is not None and standing.affords(smaller)

    plain = standing.balance().remaining / max(price(event, standing.budget).epsilon, LEAST)
    low, high = plain if 0 < plain < 1 and pays(plain) else 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if pays(middle) else (low, middle)
    found = with_less(event, low) if low else None
    return 0.0 if found is None else price(found, standing.budget).epsilon


def with_less(event: Event, factor: float) -> Event | None:
    """The event with losses that are smaller by this factor; None where it has a part that cannot be made smaller."""
    match event:
        case PureLoss(epsilon):
            return PureLoss(epsilon * factor)
        case ApproximateLoss(epsilon, delta):
            return ApproximateLoss(epsilon * factor, delta)
        case LaplaceLoss(multiplier):
            return LaplaceLoss(multiplier / factor)
        case GaussianLoss(multiplier):
            return GaussianLoss(multiplier / factor)
        case ConcentratedLoss(rho):
            return ConcentratedLoss(rho * factor**2)
        case Repeated(inner, times):
            smaller = with_less(inner, factor)
            return None if smaller is None else Repeated(smaller, times)
        case Composed(events) | Parallel(events):
            parts = [with_less(part, factor) for part in events]
            known = tuple(part for part in parts if part is not None)
            return type(event)(known) if len(known) == len(parts) else None
        case _:
            return None
