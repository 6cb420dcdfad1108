"""The places of the records near a few ranks, found in one pass over many values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.mechanisms.ranks.rank_grid import AT_HAND, RankGrid

MANY = 2**15  # values from which on a sample shows about where a rank is
FEW = 2**14
MARGIN = 2.0  # what ranks in a sample are off by at most, nearly always, in roots of its size
SAMPLE = 2**16  # values that show about where a rank is; more than for one quantile, since several are searched for
BINS = 2**12  # that cells are counted in


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
    def of(cls, values: Array, most: int = FEW) -> Ranking:
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


@dataclass(frozen=True)
class Ranks:
    """The ranks from `start` to before `stop`."""

    start: int
    stop: int


@dataclass(frozen=True)
class Shortlist:
    """The places of some records, sorted: all those in a few stretches of the grid.

    Parameters
    ----------
    places : array of int64
        Of all stretches, one after the other.
    ends : array of int64, shape (stretches + 1,)
        Stretch i has the places from number ends[i] to before number ends[i + 1].
    before : array of int64, shape (stretches,)
        How many records are below each stretch.
    """

    places: Steps
    ends: Steps
    before: Steps

    @classmethod
    def whole(cls, places: Steps) -> Shortlist:
        return cls(np.sort(places), np.array([0, len(places)]), np.zeros(1, np.int64))

    def between(self, ranks: Ranks) -> Steps | None:
        """The places of these ranks; None if they are not all in one stretch."""
        stretch = int(np.searchsorted(self.before, ranks.start, side="right")) - 1
        if stretch < 0:
            return None
        offset = int(self.ends[stretch] - self.before[stretch])
        if ranks.stop + offset > self.ends[stretch + 1]:
            return None
        return self.places[ranks.start + offset : ranks.stop + offset]


@dataclass(frozen=True)
class Scatter:
    """Each cell of a grid divided into 2**finer places, of which a record takes one at random."""

    grid: RankGrid
    finer: int

    @property
    def top(self) -> int:
        return ((self.grid.cells + 1) << self.finer) - 1

    def places(self, cells: Steps, bits: Bits) -> Steps:
        """A place for each cell, in place; few at a time, so that they stay in the cache."""
        cells <<= self.finer
        for start in range(0, len(cells), AT_HAND):
            part = cells[start : start + AT_HAND]
            part += (bits.words(len(part)) >> np.uint64(64 - self.finer)).view(np.int64)
        return cells


@dataclass(frozen=True)
class Sieve:
    """Bins of cells, some of which are listed: those where given ranks are, as a sample shows.

    A cell is in one bin, and the bins are in the order of their cells. Only the time depends on the sample.

    Parameters
    ----------
    grid : RankGrid
        Public. The cells.
    first, last : float
        The cells where the bins start and end, none beyond the grid; what is farther out is in the first or the last.
    listed : array of bool, shape (BINS,)
        Which ones are listed.
    """

    grid: RankGrid
    first: float
    last: float
    listed: NDArray[np.bool_]

    @classmethod
    def of(cls, grid: RankGrid, values: Array, ranks: Sequence[Ranks]) -> Sieve:
        """Bins for these ranks of the values."""
        sample = np.clip(grid.rounded(sampled(values, SAMPLE)), 0, grid.cells)
        share, margin = len(sample) / len(values), MARGIN * math.sqrt(len(sample))
        last = len(sample) - 1
        starts = np.floor([one.start * share - margin for one in ranks]).astype(np.int64)
        stops = np.ceil([one.stop * share + margin for one in ranks]).astype(np.int64)
        low, high = sample[np.clip(starts, 0, last)], sample[np.clip(stops, 0, last)]
        room = 1 + 2 * (high.max() - low.min()) / BINS  # the first bin and the last are for what is beyond
        ends = max(float(low.min() - room), 0.0), min(float(high.max() + room), float(grid.cells))
        found = cls(grid, *ends, np.zeros(BINS, np.bool_))
        first_bins, last_bins = np.where(starts < 0, 0, found.bins(low)), np.where(stops > last, BINS, found.bins(high))
        for start, stop in zip(first_bins, last_bins, strict=True):
            found.listed[start : stop + 1] = True
        return found

    def bins(self, cells: Array) -> Steps:
        place = np.clip(cells, self.first, self.last)
        place -= self.first
        place *= (BINS - 1) / max(self.last - self.first, 1.0)
        return place.astype(np.int64)

    def shortlist(self, values: Array, scatter: Scatter, bits: Bits) -> Shortlist:
        """The places of the values in listed bins."""
        counts = np.zeros(BINS, np.int64)
        places = scatter.places(self._kept(values, self.listed, counts), bits)
        edges = np.flatnonzero(np.diff(np.hstack([False, self.listed, False])))
        below, kept = (np.append(0, np.cumsum(each)) for each in (counts, counts * self.listed))
        return Shortlist(np.sort(places), np.append(kept[edges[::2]], kept[-1]), below[edges[::2]])

    def completed(self, known: Shortlist, values: Array, scatter: Scatter, bits: Bits) -> Shortlist:
        """The places of all values; those in listed bins keep theirs."""
        counts = np.zeros(BINS, np.int64)
        rest = scatter.places(self._kept(values, ~self.listed, counts), bits)
        return Shortlist.whole(np.concatenate([known.places, rest]))

    def _kept(self, values: Array, listed: NDArray[np.bool_], counts: Steps) -> Steps:
        """The cells of the values in these bins; those in all bins are counted."""
        kept = []
        for start in range(0, len(values), AT_HAND):
            cells = self.grid.rounded(values[start : start + AT_HAND])
            bins = self.bins(cells)
            counts += np.bincount(bins, minlength=BINS)
            kept.append(np.compress(listed.take(bins), cells))
        return np.clip(np.concatenate(kept), 0, self.grid.cells).astype(np.int64)
