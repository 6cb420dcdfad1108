"""A few ranks of many values, found without sorting all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.ranks.rank_grid import AT_HAND

MANY = 2**15  # values from which on a sample shows about where a rank is
SAMPLE = 2**14
MARGIN = 2.0  # what ranks in a sample are off by at most, nearly always, in roots of its size
Values = NDArray[Any]


@dataclass(frozen=True)
class Run:
    """Values that follow one another if sorted, here in no order.

    Parameters
    ----------
    values : array
        All values from `low` to `high`.
    before : int
        How many are less.
    low, high : float or int
        The ends; the least and the greatest number of all where nothing is beyond.
    """

    values: Values
    before: int
    low: Any
    high: Any

    def holds(self, start: int, stop: int) -> bool:
        """Whether the ranks from `start` to before `stop` are in it."""
        return self.before <= start and stop <= self.before + len(self.values)


@dataclass(frozen=True)
class Ranking:
    """Values in no order, nan where missing, with a sorted sample of them that shows about where a rank is.

    Parameters
    ----------
    values : array
        The values.
    number : int
        How many are not missing.
    sample : array
        Some of those, sorted; none, where there are few.

    Examples
    --------
    >>> values = np.random.default_rng(0).permutation(100_000)
    >>> run = Ranking.of(values).run(5000, 5010)
    >>> run.before <= 5000, set(range(5000, 5010)) <= set(run.values), len(run.values) < 10_000
    (True, True, True)
    """

    values: Values
    number: int
    sample: Values

    @classmethod
    def of(cls, values: Values, most: int = SAMPLE) -> Ranking:
        """The ranking of these values, with a systematic sample of `most` of them, or a few more."""
        number = int(values.size - np.count_nonzero(np.isnan(values)))
        sample = np.sort(values[:: max(len(values) // most, 1)]) if number >= MANY else values[:0]
        return cls(values, number, sample[: len(sample) - int(np.count_nonzero(np.isnan(sample)))])

    def run(self, start: int, stop: int) -> Run:
        """A run that holds the ranks from `start` to before `stop`: a short one, or everything where a sample misleads.

        Only the time depends on the sample.
        """
        known = len(self.sample)
        if known:
            margin, share = MARGIN * math.sqrt(known), known / self.number
            first, last = math.floor(start * share - margin), math.ceil(stop * share + margin)
            least, most = _ends(self.values)
            low = self.sample[first].item() if 0 <= first < known else least
            high = self.sample[last].item() if 0 <= last < known else most
            found = self._between(low, high)
            if found.holds(start, stop):
                return found
        return self.everything()

    def _between(self, low: Any, high: Any) -> Run:
        """All values from one number to another; few are read at a time, so that they stay in the cache."""
        inside, before = [], 0
        for start in range(0, len(self.values), AT_HAND):
            values = self.values[start : start + AT_HAND]
            less = values < low
            before += int(np.count_nonzero(less))
            inside.append(values[less ^ (values <= high)])
        return Run(np.concatenate(inside), before, low, high)

    def everything(self) -> Run:
        """All values that are not missing."""
        there = self.values if self.number == len(self.values) else self.values[~np.isnan(self.values)]
        return Run(there, 0, *_ends(self.values))


def _ends(values: Values) -> tuple[Any, Any]:
    """The least and the greatest number that such values can be."""
    if values.dtype.kind == "f":
        return -math.inf, math.inf
    return int(np.iinfo(values.dtype).min), int(np.iinfo(values.dtype).max)


def between(run: Run, start: int, stop: int) -> Values:
    """The values of a run with ranks from `start` to before `stop`, sorted."""
    if start == stop:
        return run.values[:0]
    first, last = start - run.before, stop - 1 - run.before
    return np.sort(np.partition(run.values, [first, last])[first : last + 1])
