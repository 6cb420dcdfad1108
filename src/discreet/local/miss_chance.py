"""Chances of randomised reports, rounded so that exp(epsilon) is kept to the letter."""

from __future__ import annotations

import math
from decimal import Decimal
from functools import lru_cache

from discreet.noise.interval import Interval, settled


@lru_cache(maxsize=1024)
def miss_chance(epsilon: float, inside: int = 1, outside: int = 1) -> float:
    """The least float c that is not below outside / (inside * exp(epsilon) + outside).

    A report that is uniform among `outside` possible ones with probability c, and otherwise uniform among `inside`
    others, which depend on the value, keeps its promise exactly: (1 - c) / inside <= exp(epsilon) * c / outside. Coins
    of probability c are tossed exactly (`noise.bernoulli`), so rounding c up is the only rounding, and it is to the
    safe side.

    Parameters
    ----------
    epsilon : float
        Public.
    inside, outside : int
        Public. How many reports are more likely for a value than for another, and how many are not; or numbers in the
        same proportion.

    Examples
    --------
    >>> miss_chance(math.log(3.0))  # the float is a little above ln 3
    0.25
    """

    def holds(chance: float) -> bool:
        """Whether c (inside exp(epsilon) + outside) >= outside; the two are never equal for epsilon > 0."""

        def attempt() -> bool | None:
            total = Interval.of(epsilon).exp() * Interval.of(inside) + Interval.of(outside)
            found = total * Interval.of(chance)
            whole = Decimal(outside)
            return True if found.lo > whole else False if found.hi < whole else None

        return settled(attempt, [])

    chance = outside / (inside * math.exp(epsilon) + outside)
    while holds(chance):
        chance = math.nextafter(chance, 0.0)
    while not holds(chance):
        chance = math.nextafter(chance, 1.0)
    return chance
