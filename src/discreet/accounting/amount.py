"""What an account is charged, in whole units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.errors import Unaccountable

LOSS_UNITS = math.lcm(*range(1, 31)) * 10**6 * 2**40
"""Units of loss in 1: so many that a third, a seventh or 0.001 are whole numbers of them, and add up to the whole."""
DELTA_UNITS = 2**128


@dataclass(frozen=True)
class Amount:
    """A loss and a probability of failure, in whole units. What the loss is depends on the filter that counts it.

    Examples
    --------
    >>> third = Amount.rounded_up(Fraction(1, 3), 0.0)
    >>> third + third + third == Amount.rounded_up(1.0, 0.0)
    True
    """

    loss: int
    delta: int

    @classmethod
    def rounded_up(cls, loss: float | Fraction, delta: float | Fraction) -> Amount:
        """The least amount that is not below these."""
        return cls(math.ceil(_finite(loss) * LOSS_UNITS), math.ceil(_finite(delta) * DELTA_UNITS))

    @classmethod
    def rounded_down(cls, loss: float | Fraction, delta: float | Fraction) -> Amount:
        """The greatest amount that is not above these."""
        return cls(math.floor(_finite(loss) * LOSS_UNITS), math.floor(_finite(delta) * DELTA_UNITS))

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.loss + other.loss, self.delta + other.delta)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.loss - other.loss, self.delta - other.delta)

    def within(self, cap: Amount) -> bool:
        """Whether neither part exceeds the cap."""
        return self.loss <= cap.loss and self.delta <= cap.delta

    @property
    def floats(self) -> tuple[float, float]:
        """Loss and delta to the nearest float, for people to read."""
        return self.loss / LOSS_UNITS, self.delta / DELTA_UNITS


NOTHING = Amount(0, 0)


def _finite(value: float | Fraction) -> Fraction:
    if not 0 <= value < math.inf:
        raise Unaccountable("price", f"a loss of {value} cannot be charged", "Ask with more noise.", value=value)
    return Fraction(value)
