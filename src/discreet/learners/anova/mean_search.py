"""A mean by noisy sums of values near where it seems to be: post-processing."""

from __future__ import annotations

import numpy as np

from discreet.core.held import unheld
from discreet.schema.schema import Number


@unheld("releases")
class MeanSearch:
    """Rounds of a search for a mean, each of which sums how far values are from the place that was found so far.

    The more certain later rounds count more, as turns squared, and the place has a prior around the first one: uniform
    over the values that are near it.

    Parameters
    ----------
    number : Number
        Public. The bounds of the values.
    place, size : float
        Where to begin, and how far away values are shrunk to.
    count : float
        The number of records.

    Examples
    --------
    >>> search = MeanSearch(Number(0.0, 10.0), 5.0, 2.0, 100.0)
    >>> search.add(-25.0, 0.1, 1)  # values are half a unit lower, on average
    >>> round(search.place, 3)
    4.5
    """

    def __init__(self, number: Number, place: float, size: float, count: float) -> None:
        self._number, self._first, self.place, self.size, self._count = number, place, place, size, count
        self._sum, self._weights, self._variance = 0.0, 0.0, 0.0

    def add(self, total: float, stddev: float, turn: int) -> None:
        """A sum of values about the place, in units of the size, with this noise."""
        weight = turn**2
        self._sum += weight * (self.place + self.size * float(np.clip(total / self._count, -1.0, 1.0)))
        self._weights += weight
        self._variance += (weight * self.size * stddev / self._count) ** 2
        prior = self.size**2 / 3
        kept = prior / (prior + self._variance / self._weights**2)
        found = self._first + kept * (self._sum / self._weights - self._first)
        self.place = float(np.clip(found, self._number.lower, self._number.upper))
