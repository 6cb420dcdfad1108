"""Admission: what an account lets in before any price is asked."""

from __future__ import annotations

from discreet.accounting.terms import terms
from discreet.core.errors import NotPermitted, ParameterError, Unaccountable
from discreet.core.events import (
    ApproximateLoss,
    ConcentratedLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    NoPromise,
    Parallel,
    PureLoss,
    Repeated,
    Sampled,
    leaves,
    walked,
)
from discreet.core.neighbors import Neighbors
from discreet.ledger.account_state import AccountState

ONE_BY_ONE = 64
ADDED = (PureLoss, LaplaceLoss, ApproximateLoss, GaussianLoss, ConcentratedLoss)


def waived(event: Event, waiver: str | None, purpose: str) -> bool:
    """Whether the event is charged nothing because the data set's owner waived the promise.

    Only a release all of whose parts are without a promise can be waived; one that is mixed would get its other parts
    for nothing.

    Examples
    --------
    >>> waived(NoPromise("k-anonymity"), "approved by the board on 3 May", "public table")
    True
    """
    whole = leaves(event)
    unpromised = [leaf for leaf in whole if isinstance(leaf, NoPromise)]
    if not unpromised:
        if waiver is not None:
            raise ParameterError(
                purpose, "a waiver was given for a release that keeps a promise", "Leave the waiver out."
            )
        return False
    if len(unpromised) < len(whole):
        raise Unaccountable(
            purpose, "parts of it have a promise and parts have none", "Charge them separately.", event=event
        )
    if waiver is None or not waiver.strip():
        raise NotPermitted(
            purpose,
            f"it has no promise ({unpromised[0].reason})",
            "Only the data set's owner may let it pass: give the reason as waiver=...",
        )
    return True


def check_relation(event: Event, neighbors: Neighbors | None, purpose: str) -> None:
    """Refuse an event whose price is not sound for the account's neighbors.

    A Poisson sample and parallel parts are for add/remove neighbors: replacing a unit touches two draws, or two parts.
    A sample of fixed size is for replace neighbors: with one unit more, every subset is another one.
    """
    for part in walked(event):
        match part:
            case Sampled(_, rate, scheme) if rate < 1:
                needed = Neighbors.ADD_REMOVE if scheme == "poisson" else Neighbors.REPLACE
                what = f"a {scheme} sample"
            case Parallel(events) if len(events) > 1:
                needed, what = Neighbors.ADD_REMOVE, "a question about disjoint parts"
            case _:
                continue
        if neighbors not in (None, needed):
            raise Unaccountable(
                purpose,
                f"{what} is sound for {needed.value} neighbors only, and this account is for {neighbors.value}",
                "Ask without it, or open the account for the other relation.",
                event=event,
            )


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
