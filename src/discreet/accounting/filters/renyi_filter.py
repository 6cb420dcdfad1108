"""The Renyi filter: divergences of one fixed order add up.

**What a price means.** An event has the price (r, d) at order a when, for neighbors with output laws P and Q, in both
directions, there are measures g <= P and h <= Q, the parts of the laws without failures, such that

    g has mass at least 1 - d    and    the integral of g^a h^(1-a) is at most exp((a - 1) r).

With d = 0 this is a bound on the Renyi divergence of order a.

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

from discreet.accounting.filters.amount import DELTA_UNITS, LOSS_UNITS, NOTHING, Amount
from discreet.accounting.renyi import renyi
from discreet.core.events import Event

STEPS = 2.0 ** (-1 / 2)
NARROWINGS = 38  # of an interval of 60 to less than a millionth, by the golden section
SMALLER = 16  # orders below the best one for Gaussian noise that are looked at


@dataclass(frozen=True)
class RenyiFilter:
    """Charges are admitted while their Renyi divergences, and their deltas, stay within the cap.

    Parameters
    ----------
    epsilon : float
        The epsilon that it keeps.
    share : int
        The delta, in units, that pays for the conversion from the divergence.
    order : float
        Above 1 and finite. It is fixed from the first charge on, for only one moment is bounded.
    cap : Amount
        The divergence and the delta that may be spent in all.

    Guarantee
    ---------
    (epsilon, share + cap.delta), however the events were chosen: the proof is above.

    Examples
    --------
    >>> RenyiFilter.of(1.0, Fraction(5e-7), Fraction(0), 23.3).cap.floats[0] > 0.5
    True
    """

    epsilon: float
    share: int
    order: float
    cap: Amount

    @classmethod
    def of(cls, epsilon: float, share: Fraction, failures: Fraction, order: float) -> RenyiFilter:
        """The filter of this order that keeps this epsilon with delta `share` + `failures`."""
        units = math.floor(share * DELTA_UNITS)
        with decimal.localcontext(prec=60):
            a, delta = Decimal(order), Decimal(units) / DELTA_UNITS
            conversion = (1 - 1 / a).ln() - (delta * a).ln() / (a - 1)
            room = Decimal(epsilon) - conversion - (Decimal(epsilon) + abs(conversion)) * Decimal("1e-50")
        return cls(epsilon, units, order, Amount.rounded_down(Fraction(max(room, Decimal(0))), failures))

    @property
    def aside(self) -> int:
        """Nothing is put aside: it grants no slack."""
        return 0

    @property
    def sound(self) -> bool:
        """Whether the cap is what the share of delta allows."""
        return self.cap.slack == self.aside and (
            self.cap.loss
            <= RenyiFilter.of(self.epsilon, Fraction(self.share, DELTA_UNITS), Fraction(0), self.order).cap.loss
        )

    def opening(self, event: Event) -> Amount | None:
        return self.price(event, NOTHING)

    def price(self, event: Event, spent: Amount) -> Amount | None:
        """What the event costs, rounded up; None if it has no divergence of this order."""
        return _price(event, self.order)

    def certified(self, spent: Amount) -> float:
        """The least epsilon whose filter, of the same order and delta, admits what was spent."""
        return self.epsilon - (self.cap.loss - spent.loss) / LOSS_UNITS

    def used(self, spent: Amount) -> float:
        return spent.loss / self.cap.loss


@lru_cache(maxsize=1024)
def _price(event: Event, order: float) -> Amount | None:
    cost = renyi(event, order)
    return None if math.isinf(cost.divergence) else Amount.rounded_up(cost.divergence, cost.delta).not_free(event)


def best_order(epsilon: float, delta: float) -> float:
    """The order that leaves the largest rho: it maximises (epsilon - conversion) / order.

    A Gaussian or concentrated charge of rho costs order * rho. The optimum is flat, so order - 1 keeps three digits.

    Examples
    --------
    >>> best_order(1.0, 5e-7)
    23.3
    """
    low, high = -30.0, 30.0
    for _ in range(NARROWINGS):
        left, right = low + (high - low) * 0.382, low + (high - low) * 0.618
        rho = [(epsilon - _conversion(x, delta)) / (1 + math.exp(x)) for x in (left, right)]
        low, high = (low, right) if rho[0] > rho[1] else (left, high)
    return 1 + float(f"{math.exp(low):.3g}")


def order_for(event: Event, epsilon: float, delta: float) -> float:
    """The order at which this event can be charged most often; sampled events want smaller ones than Gaussian noise."""
    above = best_order(epsilon, delta) - 1
    orders = [1 + float(f"{above * STEPS**k:.3g}") for k in range(SMALLER)]

    def times(order: float) -> float:
        cost = renyi(event, order).divergence
        return (epsilon - _conversion(math.log(order - 1), delta)) / cost if cost > 0 else 0.0

    return max(orders, key=times)


def _conversion(log: float, delta: float) -> float:
    """What the conversion at this ln(order - 1) and delta adds to the divergence."""
    above = math.exp(log)
    return log - math.log1p(above) - (math.log(delta) + math.log1p(above)) / above
