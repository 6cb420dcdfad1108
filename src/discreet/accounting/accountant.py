"""What an event costs: epsilon at a delta, delta at an epsilon, always rounded up.

The best sound way is taken. Pure losses add up; Gaussian ones, and a single Laplace release, have a closed form;
whatever has dominating pairs is composed by its loss distribution; the rest (concentrated and Renyi losses, and lists
that hold some) goes through Renyi divergence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet.accounting.closed_forms import SLACK, gaussian_delta, gaussian_epsilon, laplace_delta, laplace_epsilon
from discreet.accounting.loss_distribution import ACCURACY, delta_above, delta_below, epsilon_above, epsilon_below
from discreet.accounting.pairs.directions import directions, has_pairs, witnesses
from discreet.accounting.renyi import ApproximateRenyi, delta_from_renyi, epsilon_from_renyi, renyi
from discreet.accounting.terms import Term, branches, terms
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import Event, GaussianLoss, LaplaceLoss, NoPromise, RenyiLoss, walked

ORDERS = 1 + np.geomspace(1e-2, 1e5, 60)
CLOSE = 0.01  # share of its epsilon that a plan may cost more, for delta 0


@dataclass(frozen=True)
class Bracket:
    """The true value lies between `lower` and `upper`."""

    lower: float
    upper: float


def epsilon(event: Event, delta: float, *, accuracy: float = ACCURACY) -> float:
    """Bound the event's epsilon at this delta from above.

    Parameters
    ----------
    event : Event
        What was, or would be, released.
    delta : float
        In [0, 1).
    accuracy : float
        How far above the least epsilon the answer may be, as a share of it, where a loss distribution is composed. A
        greater share is faster and still a bound.

    Raises
    ------
    Unaccountable
        A part promises nothing, or parts are sound for different neighboring relations.

    Examples
    --------
    >>> from discreet.core.events import LaplaceLoss, PureLoss, Repeated, Sampled
    >>> round(epsilon(Repeated(LaplaceLoss(10.0), 100), 1e-6), 4)
    4.6927
    >>> round(epsilon(Repeated(Sampled(GaussianLoss(1.1), 0.01), 1000), 1e-5), 3)
    1.515
    >>> epsilon(Repeated(PureLoss(0.25), 4), 0.0)
    1.0
    """
    _check(0 <= delta < 1, "epsilon", f"delta is {delta}", "Give a delta in [0, 1).")
    return max(_epsilon(branch, delta, accuracy) for branch in branches(event))


def delta(event: Event, epsilon: float, *, accuracy: float = ACCURACY) -> float:
    """Bound the event's delta at this epsilon from above.

    Examples
    --------
    >>> f"{delta(GaussianLoss(2.0), 1.0):.4e}"
    '6.8296e-03'
    """
    _check(0 <= epsilon < math.inf, "delta", f"epsilon is {epsilon}", "Give a finite epsilon, at least 0.")
    return max(_delta(branch, epsilon, accuracy) for branch in branches(event))


def pure_epsilon(event: Event) -> float:
    """Epsilon at delta 0; infinite where the event has none.

    Examples
    --------
    >>> pure_epsilon(GaussianLoss(1.0))
    inf
    """
    price = renyi(event, math.inf)
    return price.divergence if price.delta == 0 else math.inf


def epsilon_interval(event: Event, delta: float, *, accuracy: float = ACCURACY) -> Bracket:
    """Enclose the least epsilon that every release with this promise has at this delta.

    The lower end is reached by a release that keeps the promise (up to rounding, which is subtracted).

    Examples
    --------
    >>> from discreet.core.events import PureLoss, Repeated
    >>> found = epsilon_interval(Repeated(PureLoss(0.1), 100), 1e-6)
    >>> 4.7745 < found.lower < found.upper < 4.7746
    True
    """
    upper = epsilon(event, delta, accuracy=accuracy)
    if delta == 0 or upper in (0.0, math.inf) or _only_gaussian(event):
        return Bracket(upper if upper == math.inf else upper * (1 - 8 * SLACK), upper)
    lower = max(epsilon_below(witnesses(branch), delta, accuracy) for branch in branches(event))
    return Bracket(min(lower, upper), upper)


def delta_interval(event: Event, epsilon: float, *, accuracy: float = ACCURACY) -> Bracket:
    """Enclose the least delta that every release with this promise has at this epsilon."""
    upper = delta(event, epsilon, accuracy=accuracy)
    if upper == 0 or _only_gaussian(event):
        return Bracket(upper * (1 - 8 * SLACK), upper)
    lower = max(delta_below(witnesses(branch), epsilon, accuracy) for branch in branches(event))
    return Bracket(min(lower, upper), upper)


def _epsilon(event: Event, delta: float, accuracy: float) -> float:
    price = renyi(event, math.inf)
    pure = price.divergence if price.delta <= delta else math.inf
    if delta == 0 or pure == 0:
        return pure
    match terms(event):
        case (term,) if isinstance(term.event, GaussianLoss):
            return gaussian_epsilon(term.event.multiplier, delta)
        case (Term(LaplaceLoss(multiplier), 1),):
            return laplace_epsilon(multiplier, delta)
        case _ if has_pairs(event):
            return min(pure, epsilon_above(directions(event), delta, accuracy))
        case _:
            return min(pure, _least(event, lambda order, price: _epsilon_at(order, price, delta)))


def _delta(event: Event, epsilon: float, accuracy: float) -> float:
    price = renyi(event, math.inf)
    simple = price.delta if epsilon >= price.divergence else 1.0
    match terms(event):
        case _ if simple == 0:
            return 0.0
        case (term,) if isinstance(term.event, GaussianLoss):
            return gaussian_delta(term.event.multiplier, epsilon)
        case (Term(LaplaceLoss(multiplier), 1),):
            return laplace_delta(multiplier, epsilon)
        case _ if has_pairs(event):
            return min(simple, delta_above(directions(event), epsilon, accuracy))
        case _:
            return min(simple, _least(event, lambda order, price: _delta_at(order, price, epsilon)))


def _epsilon_at(order: float, price: ApproximateRenyi, delta: float) -> float:
    return epsilon_from_renyi(order, price.divergence, delta - price.delta)


def _delta_at(order: float, price: ApproximateRenyi, epsilon: float) -> float:
    return price.delta + delta_from_renyi(order, price.divergence, epsilon)


def _least(event: Event, promise: Callable[[float, ApproximateRenyi], float]) -> float:
    """The least promise over the orders: a scan, the tabulated orders, and a search around the best of them."""
    from scipy.optimize import minimize_scalar  # loading it takes longer than opening a ledger, which seldom needs it

    tabulated = [order for part in walked(event) if isinstance(part, RenyiLoss) for order in part.orders]
    orders = np.unique(np.append(ORDERS, tabulated))
    values = [promise(float(order), renyi(event, float(order))) for order in orders]
    best = int(np.argmin(values))
    low, high = (math.log(orders[i] - 1) for i in (max(best - 1, 0), min(best + 1, len(orders) - 1)))
    if not (math.isfinite(values[best]) and math.isfinite(high)):
        return values[best]

    def at(u: float) -> float:
        order = 1 + math.exp(u)
        return min(promise(order, renyi(event, order)), 2 * values[best] + 1)  # the search wants finite numbers

    found = minimize_scalar(at, bounds=(low, high), method="bounded", options={"xatol": 1e-4})
    return min(values[best], float(found.fun))


def _only_gaussian(event: Event) -> bool:
    return all(isinstance(term.event, GaussianLoss) for term in terms(event))


def _check(ok: bool, asked: str, obstacle: str, remedy: str) -> None:
    if not ok:
        raise ParameterError(f"accountant, {asked}", obstacle, remedy)


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
