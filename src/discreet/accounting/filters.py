"""A privacy filter: it decides, charge by charge, whether an account may pay.

One filter serves every budget: a Renyi filter at one fixed order a in (1, inf], chosen when the account is opened.
Order infinity is the pure filter, whose amounts are epsilons that add up.

**What a price means.** An event has the price (r, d) when, for neighbors with output laws P and Q, in both
directions, there are measures g <= P and h <= Q, the parts of the laws without failures, such that

    g has mass at least 1 - d    and    the integral of g^a h^(1-a) is at most exp((a - 1) r)

(for a = inf: g <= exp(r) h). With d = 0 this is a bound on the Renyi divergence of order a.

**Why charges chosen along the way are safe.** Let the i-th event be picked by anybody who has seen the outputs before
it; its price (r_i, d_i) and its parts g_i, h_i may depend on those outputs. The filter sees to it that on every path
sum r_i <= R and sum d_i <= D. Let G and H be the products of the g_i and of the h_i along the path.

1. *Failures.* G <= P, and G loses at most D: with m_i >= 1 - d_i the mass of g_i, the mass of G is the mean, over paths
   drawn from the normalised g_i, of prod m_i >= 1 - sum d_i >= 1 - D.
2. *Moments.* Let M_n be the product over i <= n of (g_i/h_i)^a exp(-(a - 1) r_i). Given the past, the h_i-mean of
   its i-th factor is at most 1, so M_n is a nonnegative supermartingale under H; at whatever time the asking stops its
   mean is at most 1 (Fatou). As sum r_i <= R on every path, the integral of G^a H^(1-a) is at most exp((a - 1) R).
3. *Conversion.* For x >= 0, (x - e^eps)_+ <= c x^a with c = exp(-(a - 1) eps) (1 - 1/a)^(a - 1) / a, with equality at
   x = e^eps a / (a - 1). Put x = G/H, integrate over H: for every set S, G(S) - e^eps H(S) <= d' where

       eps = R + ln(1 - 1/a) - ln(d' a) / (a - 1).

4. P(S) <= G(S) + D and H <= Q, so P(S) <= e^eps Q(S) + D + d': the whole transcript is (eps, D + d').
   For a = inf, step 2 reads G <= e^R H and no d' is needed.

The order is fixed when the account is opened, for step 2 bounds one moment; an account that let every path keep
whichever of several orders suits it would need a d' for each. Several reservations that are open at once are steps of
one path, in the order in which they were made.
Feldman and Zrnic 2021 (Renyi filter); Whitehouse, Ramdas, Rogers and Wu 2023 (approximate kinds); step 3 is the
conversion of Canonne, Kamath and Steinke 2020.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from discreet.accounting.renyi import renyi
from discreet.accounting.terms import terms
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError, Unaccountable
from discreet.core.events import ApproximateLoss, Event, LaplaceLoss, PureLoss

DIVERGENCE_BITS = 40
DELTA_BITS = 128

_FIXED_LISTS = {
    "loss distribution": "it adds up the privacy-loss distributions of a list of events",
    "advanced": "advanced composition (Dwork, Rothblum and Vadhan 2010) bounds a list of events",
    "optimal": "optimal composition (Kairouz, Oh and Viswanath 2015) bounds a list of events",
}


@dataclass(frozen=True)
class Amount:
    """What is charged, in whole units: divergence in 2^-40, delta in 2^-128.

    Examples
    --------
    >>> Amount.rounded_up(0.1, 0.0)  # 109951162777.6 units
    Amount(divergence=109951162778, delta=0)
    """

    divergence: int
    delta: int

    @classmethod
    def rounded_up(cls, divergence: float | Fraction, delta: float | Fraction) -> Amount:
        """The least amount that is not below these."""
        return cls(_units(divergence, DIVERGENCE_BITS), _units(delta, DELTA_BITS))

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.divergence + other.divergence, self.delta + other.delta)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.divergence - other.divergence, self.delta - other.delta)

    def within(self, cap: Amount) -> bool:
        """Whether neither part exceeds the cap."""
        return self.divergence <= cap.divergence and self.delta <= cap.delta

    @property
    def floats(self) -> tuple[float, float]:
        """Divergence and delta to the nearest float, for people to read."""
        return self.divergence / 2**DIVERGENCE_BITS, self.delta / 2**DELTA_BITS


NOTHING = Amount(0, 0)


def _units(value: float | Fraction, bits: int) -> int:
    if not 0 <= value < math.inf:
        raise Unaccountable("price", f"a loss of {value} cannot be charged", "Ask with more noise.", value=value)
    return math.ceil(Fraction(value) * 2**bits)


@lru_cache(maxsize=256)
def pure_price(event: Event) -> Amount | None:
    """The exact sum of epsilons and deltas, so that whole budgets can be spent; None if a part has no such pair."""
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
            case _:
                return None
    return Amount.rounded_up(epsilon, delta)


@dataclass(frozen=True)
class Filter:
    """The rule of one account: charges are admitted while their sum stays within the cap.

    Guarantee
    ---------
    Everything that was ever admitted is, together, (budget.epsilon, budget.delta), however the events were chosen.
    """

    budget: Budget
    order: float
    cap: Amount

    def price(self, event: Event) -> Amount:
        """What the event costs in this account, rounded up."""
        added = pure_price(event) if math.isinf(self.order) else None
        if added:
            return added
        cost = renyi(event, self.order)
        if math.isinf(cost.divergence):
            raise Unaccountable(
                "price",
                f"its Renyi divergence of order {self.order:g} is infinite",
                "Ask with a mechanism of finite pure loss, such as Laplace noise, or open the account with delta > 0."
                if math.isinf(self.order)
                else "Open the account with a smaller order.",
                order=self.order,
            )
        return Amount.rounded_up(cost.divergence, cost.delta)

    def admits(self, spent: Amount, price: Amount) -> bool:
        """Whether an account that has spent `spent` may pay this too."""
        return (spent + price).within(self.cap)

    def epsilon(self, spent: Amount) -> float:
        """The epsilon at the budget's delta, if this were all that is ever asked."""
        if spent == NOTHING:
            return 0.0
        return self.budget.epsilon - (self.cap.divergence - spent.divergence) / 2**DIVERGENCE_BITS

    def used(self, spent: Amount) -> float:
        """The share of the cap that is gone: of divergence or of delta, whichever is more."""
        of_delta = spent.delta / self.cap.delta if self.cap.delta else 0.0
        return max(spent.divergence / self.cap.divergence, of_delta)


@lru_cache(maxsize=256)
def privacy_filter(budget: Budget, by: str = "renyi", *, order: float | None = None, share: float = 0.5) -> Filter:
    """The filter that keeps a budget.

    Parameters
    ----------
    budget : Budget
        Public. The most that may be lost. Without delta, only events of finite pure loss are admitted.
    by : {"renyi", "pure"}
        Public. What is added up. "pure" is Renyi of order infinity: epsilons and deltas add up.
    order : float, optional
        Public. The Renyi order, above 1. By default infinity without delta, and otherwise the order that leaves
        the most room for Gaussian noise; subsampled training does better with a smaller one.
    share : float
        Public. The share of delta, in (0, 1], that pays for the conversion from the Renyi divergence; the rest pays
        for the deltas of approximate events. At order infinity all of delta is for those.

    Raises
    ------
    Unaccountable
        For a running total that is not sound when events are chosen along the way, such as "loss distribution".

    Examples
    --------
    >>> privacy_filter(Budget(1.0)).order
    inf
    >>> privacy_filter(Budget(1.0, 1e-6)).order
    23.3
    """
    if by in _FIXED_LISTS:
        raise Unaccountable(
            f"a filter by {by}",
            f"{_FIXED_LISTS[by]} that was fixed before the first answer, but an account is charged with events that"
            " are chosen after seeing answers, and then stopping when such a running total is used up can lose more"
            " than the total says (Rogers, Roth, Ullman and Vadhan 2016)",
            'Use by="renyi", or charge the whole fixed list as one event to a single plan.',
        )
    if by not in ("renyi", "pure"):
        raise ParameterError(f"a filter by {by!r}", "there is none", 'Use "renyi" or "pure".')
    if by == "pure" and order not in (None, math.inf):
        raise ParameterError("a pure filter", f"its order is infinity, not {order}", 'Use by="renyi".')
    if not 0 < share <= 1:
        raise ParameterError("a filter", f"the share is {share}", "Give a share in (0, 1].", share=share)
    converted = 0.0 if by == "pure" else budget.delta * share
    if order is None:
        order = best_order(budget.epsilon, converted) if converted > 0 else math.inf
    if not order > 1:
        raise ParameterError("a filter", f"the order is {order}", "Give an order above 1.", order=order)
    return Filter(budget, order, _cap(budget, order, converted))


def best_order(epsilon: float, delta: float) -> float:
    """The order that leaves the largest rho: it maximises (epsilon - conversion) / order.

    A Gaussian or concentrated charge of rho costs order * rho. The optimum is flat, so order - 1 keeps three digits.

    Examples
    --------
    >>> best_order(1.0, 5e-7)
    23.3
    """

    def rho(log: float) -> float:
        above = math.exp(log)  # order - 1
        conversion = log - math.log1p(above) - (math.log(delta) + math.log1p(above)) / above
        return (epsilon - conversion) / (1 + above)

    low, high = -30.0, 30.0
    while high - low > 1e-6:
        left, right = low + (high - low) * 0.382, low + (high - low) * 0.618
        low, high = (low, right) if rho(left) > rho(right) else (left, high)
    return 1 + float(f"{math.exp(low):.3g}")


def _cap(budget: Budget, order: float, converted: float) -> Amount:
    """What the account can pay in all, rounded down."""
    epsilon = Decimal(budget.epsilon)
    if math.isinf(order):
        return _rounded_down(epsilon, Fraction(budget.delta))
    if converted == 0:
        raise ParameterError(
            "a filter", f"order {order} needs a delta and the budget has none", "Use order infinity.", order=order
        )
    with decimal.localcontext(prec=60):
        a = Decimal(order)
        conversion = (1 - 1 / a).ln() - (Decimal(converted) * a).ln() / (a - 1)
        room = epsilon - conversion - (epsilon + abs(conversion)) * Decimal("1e-50")
    if room < Decimal(2) ** -DIVERGENCE_BITS:
        raise ParameterError(
            "a filter",
            f"at order {order} the conversion alone takes epsilon {float(conversion):.4g} of {budget.epsilon}",
            f"Use order {best_order(budget.epsilon, converted)}.",
            order=order,
        )
    return _rounded_down(room, Fraction(budget.delta) - Fraction(converted))


def _rounded_down(divergence: Decimal, delta: Fraction) -> Amount:
    return Amount(math.floor(Fraction(divergence) * 2**DIVERGENCE_BITS), math.floor(delta * 2**DELTA_BITS))
