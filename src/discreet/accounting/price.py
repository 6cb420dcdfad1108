"""What a plan costs in two numbers, for its receipt."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from discreet.accounting.accountant import epsilon, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.events import Event, NoPromise, walked

CLOSE = 0.01  # share of its epsilon that a plan may cost more, for delta 0


@dataclass(frozen=True)
class Price:
    """A promise: (epsilon, delta)."""

    epsilon: float
    delta: float


@lru_cache(maxsize=1024)
def price(event: Event, account: Budget) -> Price:
    """The epsilon of an event at the delta of an account; at delta 0, if that is hardly more and within its epsilon.

    Parameters
    ----------
    event : Event
        What was released.
    account : Budget
        What may be spent in all.

    Examples
    --------
    >>> from discreet.core.events import GaussianLoss, LaplaceLoss
    >>> price(LaplaceLoss(2.0), Budget(1.0, 1e-6))
    Price(epsilon=0.5, delta=0.0)
    >>> f"{price(GaussianLoss(10.0), Budget(1.0, 1e-6)).epsilon:.3f}"
    '0.397'
    >>> price(NoPromise("k-anonymity"), Budget(1.0))
    Price(epsilon=inf, delta=0.0)
    """
    if any(isinstance(part, NoPromise) for part in walked(event)):
        return Price(math.inf, 0.0)
    pure = pure_epsilon(event)
    if account.delta == 0:
        return Price(pure, 0.0)
    approximate = epsilon(event, account.delta)
    close = pure <= min((1 + CLOSE) * approximate, account.epsilon)
    return Price(pure, 0.0) if close else Price(approximate, account.delta)
