"""A few ranks of many values, found without sorting all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array
from discreet.mechanisms.ranks.rank_grid import AT_HAND

MANY = 2**15  # values from which on a sample shows about where a rank is
SAMPLE = 2**14
MARGIN = 2.0  # what ranks in a sample are off by at most, nearly always, in roots of its size


@dataclass(frozen=True)
class Run:
    """Array that follow one another if sorted, here in no order.

    Parameters
    ----------
    values : array
        All values from `low` to `high`.
    before : int
        How many are less.
    low, high : float
        The ends; infinite where nothing is beyond.
    """

    values: Array
    before: int
    low: float
    high: float

    def holds(self, start: int, stop: int) -> bool:
        """Whether the ranks from `start` to before `stop` are in it."""
        return self.before <= start and stop <= self.before + len(self.values)


@dataclass(frozen=True)
class Ranking:
    """Array in no order, nan where missing, with a sorted sample of them that shows about where a rank is.

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
    >>> values = np.random.default_rng(0).permutation(np.arange(100_000.0))
    >>> run = Ranking.of(values).run(5000, 5010)
    >>> run.before <= 5000, set(range(5000, 5010)) <= set(run.values), len(run.values) < 10_000
    (True, True, True)
    """

    values: Array
    number: int
    sample: Array

    @classmethod
    def of(cls, values: Array, most: int = SAMPLE) -> Ranking:
        """The ranking of these values, with a systematic sample of `most` of them, or a few more."""
        number = int(values.size - np.count_nonzero(np.isnan(values)))
        sample = sampled(values, most) if number >= MANY else values[:0]
        return cls(values, number, sample[: len(sample) - int(np.count_nonzero(np.isnan(sample)))])

    def run(self, start: int, stop: int) -> Run:
        """A run that holds the ranks from `start` to before `stop`: a short one, or everything where a sample misleads.

        Only the time depends on the sample.
        """
        known = len(self.sample)
        if known:
            margin, share = MARGIN * math.sqrt(known), known / self.number
            first, last = math.floor(start * share - margin), math.ceil(stop * share + margin)
            low = float(self.sample[first]) if 0 <= first < known else -math.inf
            high = float(self.sample[last]) if 0 <= last < known else math.inf
            found = self._between(low, high)
            if found.holds(start, stop):
                return found
        return self.everything()

    def _between(self, low: float, high: float) -> Run:
        """All values from one number to another; few are read at a time, so that they stay in the cache."""
        inside, before = [], 0
        for start in range(0, len(self.values), AT_HAND):
            values = self.values[start : start + AT_HAND]
            less = values < low
            before += int(np.count_nonzero(less))
            inside.append(np.compress(less ^ (values <= high), values))
        return Run(np.concatenate(inside), before, low, high)

    def everything(self) -> Run:
        """All values that are not missing."""
        there = self.values if self.number == len(self.values) else self.values[~np.isnan(self.values)]
        return Run(there, 0, -math.inf, math.inf)


def sampled(values: Array, most: int) -> Array:
    """A systematic sample of `most` values, or a few more, sorted; all of them, where there are fewer."""
    return np.sort(values[:: max(len(values) // most, 1)])
