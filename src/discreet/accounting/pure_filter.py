"""The pure filter: epsilons add up, and so do deltas."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from discreet.accounting.amount import DELTA_UNITS, LOSS_UNITS, NOTHING, Amount
from discreet.accounting.renyi import renyi
from discreet.accounting.terms import terms
from discreet.core.events import ApproximateLoss, Event, LaplaceLoss, PureLoss


@dataclass(frozen=True)
class PureFilter:
    """Charges are admitted while their epsilons and their deltas stay within the cap.

    Parameters
    ----------
    epsilon : float
        The epsilon that it keeps.
    share : int
        Delta, in units, for what the cap may exceed epsilon by: whatever keeps epsilon + x without delta keeps epsilon
        with delta 1 - exp(-x) <= x. So ten questions of 0.1, whose float is a little more than a tenth, are one.
    cap : Amount
        Epsilon and a share, and the delta of approximate events.

    Guarantee
    ---------
    (epsilon, share + cap.delta), however the events were chosen: basic composition (Dwork, McSherry, Nissim and Smith
    2006), which bounds the likelihood ratio on every path.

    Examples
    --------
    >>> rule = PureFilter.of(1.0, Fraction(0), Fraction(0))
    >>> rule.price(LaplaceLoss(2.0), Amount(0, 0)) == Amount(rule.cap.loss // 2, 0)
    True
    """

    epsilon: float
    share: int
    cap: Amount

    @classmethod
    def of(cls, epsilon: float, share: Fraction, failures: Fraction) -> PureFilter:
        """The filter that keeps this epsilon with delta `share` + `failures`."""
        units = math.floor(share * DELTA_UNITS)
        return cls(epsilon, units, Amount.rounded_down(Fraction(epsilon) + Fraction(units, DELTA_UNITS), failures))

    @property
    def sound(self) -> bool:
        """Whether the cap is what the share of delta allows."""
        return self.cap.loss <= PureFilter.of(self.epsilon, Fraction(self.share, DELTA_UNITS), Fraction(0)).cap.loss

    def opening(self, event: Event) -> Amount | None:
        """What the first charge costs."""
        return self.price(event, NOTHING)

    def price(self, event: Event, spent: Amount) -> Amount | None:
        """What the event costs, rounded up; None if its loss is unbounded."""
        return pure_price(event)

    def certified(self, spent: Amount) -> float:
        """The epsilon of what was spent."""
        return spent.loss / LOSS_UNITS

    def used(self, spent: Amount) -> float:
        """The share of epsilon that is gone."""
        return spent.loss / self.cap.loss


@lru_cache(maxsize=256)
def pure_price(event: Event) -> Amount | None:
    """The exact sum of epsilons and deltas, so that whole budgets can be spent; None if the loss is unbounded."""
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
            case other:
                cost = renyi(other, math.inf)
                if math.isinf(cost.divergence):
                    return None
                epsilon += term.times * Fraction(cost.divergence)
                delta += term.times * Fraction(cost.delta)
    return Amount.rounded_up(epsilon, delta)
