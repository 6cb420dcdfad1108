"""Rounding to the safe side: loss and sensitivity may only be overstated."""

from __future__ import annotations

import math
from fractions import Fraction


def upwards(exact: Fraction) -> float:
    """The least float that is not below an exact number.

    Examples
    --------
    >>> upwards(Fraction(1, 10)) >= Fraction(1, 10)
    True
    >>> upwards(Fraction(1, 4))
    0.25
    """
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)
