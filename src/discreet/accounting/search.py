"""Searches that end: each has a bound on its steps, and an answer on the safe side whatever it is asked of.

A test `fits` is true of all large enough numbers. Where it answers nonsense, as for nan, a search ends all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

DOUBLINGS = 2200  # from the least positive float to the greatest
HALVINGS = 200


class Ends(NamedTuple):
    """Where a test changes: `high` fits; `low` does not, or is where nobody looked."""

    low: float
    high: float


def grown(fits: Callable[[float], bool], low: float, high: float, most: float, factor: float = 2.0) -> Ends | None:
    """The first of `high`, `factor` times as much, and so on that fits; None if it would be more than `most`.

    Examples
    --------
    >>> grown(lambda x: x > 5, 0.0, 1.0, 100.0), grown(lambda x: False, 0.0, 1.0, 100.0)
    (Ends(low=4.0, high=8.0), None)
    """
    for _ in range(DOUBLINGS):
        if not high <= most:
            return None
        if fits(high):
            return Ends(low, high)
        low, high = high, factor * high
    return None


def narrowed(
    fits: Callable[[float], bool],
    ends: Ends,
    close: Callable[[Ends], bool],
    middle: Callable[[Ends], float] = lambda ends: (ends.low + ends.high) / 2,
    steps: int = HALVINGS,
) -> Ends:
    """The ends brought together until they are close, or no number is between them.

    Examples
    --------
    >>> narrowed(lambda x: x >= 0.3, Ends(0.0, 1.0), lambda ends: ends.high - ends.low < 0.1)
    Ends(low=0.25, high=0.3125)
    """
    for _ in range(steps):
        between = middle(ends)
        if close(ends) or not ends.low < between < ends.high:
            break
        ends = Ends(ends.low, between) if fits(between) else Ends(between, ends.high)
    return ends
