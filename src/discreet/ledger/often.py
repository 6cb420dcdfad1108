"""How often an account pays for the same event, one charge after the other."""

from __future__ import annotations

from discreet.accounting.terms import terms
from discreet.core.events import ApproximateLoss, ConcentratedLoss, Event, GaussianLoss, LaplaceLoss, PureLoss, Repeated
from discreet.ledger.account_state import AccountState

ONE_BY_ONE = 64
ADDED = (PureLoss, LaplaceLoss, ApproximateLoss, GaussianLoss, ConcentratedLoss)


def often(standing: AccountState, event: Event, most: int) -> int:
    """How many equal charges the account admits from now on, at most `most`.

    After the first ones, charges of noise alone are tried many at a time: together they cost what they cost one by one,
    or a little more. Training on samples costs less as one plan, so each is tried by itself.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> often(AccountState(Budget(1.0, 1e-6)), PureLoss(0.125), 100)
    8
    """
    growing = all(isinstance(term.event, ADDED) for term in terms(event))
    count, step = 0, 1
    while step >= 1 and count < most and not standing.expired:
        step = min(step, most - count)
        after = standing.after(event if step == 1 else Repeated(event, step))
        if after.holds:
            standing, count = after, count + step
            step = count if growing and count >= ONE_BY_ONE else step
        else:
            growing, step = False, step // 2
    return count
