"""What an account is charged, in whole units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.errors import Unaccountable
from discreet.core.events import Event, fails, loses

LOSS_UNITS = math.lcm(*range(1, 31)) * 10**6 * 2**40
"""Units of loss in 1: so many that a third, a seventh or 0.001 are whole numbers of them, and add up to the whole."""
DELTA_UNITS = 2**128
ROUNDING = 1e-9  # between machines


@dataclass(frozen=True)
class Amount:
    """A loss, a probability of failure and a slack, in whole units. What the loss is depends on the filter.

    Parameters
    ----------
    loss : int
        In `LOSS_UNITS`.
    delta : int
        The chance that the mechanism fails, in `DELTA_UNITS`: the same for every filter that counts the charge.
    slack : int
        What the filter leaves out of the law of a release, in `DELTA_UNITS`, of a part of delta that it put aside.

    Examples
    --------
    >>> third = Amount.rounded_up(Fraction(1, 3), 0.0)
    >>> third + third + third == Amount.rounded_up(1.0, 0.0)
    True
    """

    loss: int
    delta: int
    slack: int = 0

    @classmethod
    def rounded_up(cls, loss: float | Fraction, delta: float | Fraction, slack: float | Fraction = 0) -> Amount:
        """The least amount that is not below these."""
        return cls(
            math.ceil(_finite(loss) * LOSS_UNITS),
            math.ceil(_finite(delta) * DELTA_UNITS),
            math.ceil(_finite(slack) * DELTA_UNITS),
        )

    @classmethod
    def rounded_down(cls, loss: float | Fraction, delta: float | Fraction) -> Amount:
        """The greatest amount that is not above these."""
        return cls(math.floor(_finite(loss) * LOSS_UNITS), math.floor(_finite(delta) * DELTA_UNITS))

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.loss + other.loss, self.delta + other.delta, self.slack + other.slack)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.loss - other.loss, self.delta - other.delta, self.slack - other.slack)

    def within(self, cap: Amount) -> bool:
        """Whether no part exceeds the cap."""
        return self.loss <= cap.loss and self.delta <= cap.delta and self.slack <= cap.slack

    def not_free(self, event: Event) -> Amount:
        """The price of the event: a unit at least of what it loses, which may be too small for a float."""
        loss, delta = int(loses(event)), int(fails(event))
        if loss <= self.loss and delta <= self.delta:
            return self
        return Amount(max(self.loss, loss), max(self.delta, delta), self.slack)

    @property
    def floats(self) -> tuple[float, float]:
        """Loss and delta to the nearest float, for people to read."""
        return _nearest(self.loss, LOSS_UNITS), _nearest(self.delta, DELTA_UNITS)


NOTHING = Amount(0, 0)


def _nearest(amount: int, units: int) -> float:
    try:
        return amount / units
    except OverflowError:
        return math.inf


def _finite(value: float | Fraction) -> Fraction:
    if not 0 <= value < math.inf:
        raise Unaccountable("price", f"a loss of {value} cannot be charged", "Ask with more noise.", value=value)
    return Fraction(value)


def slack_for_all(cap: Amount, spent: Amount) -> float:
    """The slack of a charge that would take the whole cap; one that takes a part of the cap may have that part of it.

    While every charge keeps to this, slacks run out no sooner than losses do. A cap that was raised leaves less slack
    for each loss: as much as all losses that are left would have if they were alike. It is then rounded down to a few
    digits, so that equal charges have equal prices.
    """
    left, rest = cap.loss - spent.loss, cap.slack - spent.slack
    if rest <= 0 or cap.loss <= 0:
        return 0.0
    if left <= 0 or rest * cap.loss >= cap.slack * left:
        return cap.slack / DELTA_UNITS * (1 - ROUNDING)
    return _fewer_digits(Fraction(rest * cap.loss, left * DELTA_UNITS)) * (1 - ROUNDING)


def _fewer_digits(value: Fraction) -> float:
    """At most the value, and nearly: a float of eight digits in base 2; 0 where that underflows."""
    mantissa, exponent = math.frexp(float(value) * (1 - ROUNDING))
    return math.ldexp(math.floor(mantissa * 256) / 256, exponent)
