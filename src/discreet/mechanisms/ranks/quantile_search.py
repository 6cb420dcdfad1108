"""The search for a share in a range of a grid, and of the records on it, by the exponential mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.core.held import unheld
from discreet.mechanisms.ranks.rank_grid import Target
from discreet.mechanisms.ranks.shortlist import Ranks, Scatter, Shortlist, Sieve
from discreet.noise.choice import StretchWeight, stretch_choice, uniform_below
from discreet.noise.interval import Uniform

SOON = 30.0  # exponents beyond the number of places: all farther places together are chosen once in 10**13 times


@dataclass(frozen=True)
class SearchRange:
    """For each copy, the places from `low` to `high`, and the records from number `first` to before number `last`."""

    low: Steps
    high: Steps
    first: Steps
    last: Steps


@dataclass(frozen=True)
class FoundPlaces:
    """For each copy, a place, and how many records are below it."""

    places: Steps
    below: Steps


@dataclass(frozen=True)
class SortedPlaces:
    """The places of all records, sorted, in a row for each copy; two are equal only by chance.

    All places between two records have the same distance, so the stretch between is chosen as one, then its place.
    """

    places: Steps

    @classmethod
    def of(cls, places: Steps) -> SortedPlaces:
        return cls(np.sort(places, axis=1))

    @property
    def number(self) -> int:
        return int(self.places.shape[1])

    def chosen(self, part: SearchRange, target: Target, bits: Bits) -> FoundPlaces:
        start, stop = int(part.first.min()), int(part.last.max())
        low, high, first, last = (side[:, None] for side in (part.low, part.high, part.first, part.last))
        edges = np.hstack([low - 1, np.clip(self.places[:, start:stop], low - 1, high), high])
        distances = np.abs(target.off(np.arange(start, stop + 1) - first, last - first))
        lengths, each = np.diff(edges, axis=1), np.arange(len(edges))
        stretches = stretch_choice(bits, lengths, distances, target.scale)
        places = edges[each, stretches] + 1 + uniform_below(bits, lengths[each, stretches])
        return FoundPlaces(places, (self.places < places[:, None]).sum(axis=1))


@unheld("one call")
@dataclass
class RankedPlaces:
    """The places of all records of a single copy, where there are too many to sort: only those near a share are.

    The others have no place until one is asked for, which is hardly ever.

    The places beyond those make up the first and the last stretch, each with the least distance that a place of it has;
    a place of these is kept with probability exp(-(its own distance - the least) / scale), and otherwise all is drawn
    again: so the law is exact.
    """

    values: Array
    scatter: Scatter
    sieve: Sieve
    shortlist: Shortlist

    @classmethod
    def of(cls, values: Array, scatter: Scatter, ranks: Sequence[Ranks], bits: Bits) -> RankedPlaces:
        """Those of values of which none is missing; these ranks are expected to be asked for."""
        sieve = Sieve.of(scatter.grid, values, ranks)
        return cls(values, scatter, sieve, sieve.shortlist(values, scatter, bits))

    @property
    def number(self) -> int:
        return len(self.values)

    def near(self, ranks: Ranks, bits: Bits) -> Steps:
        """The places of these ranks, sorted."""
        found = self.shortlist.between(ranks)
        return self.everywhere(bits)[ranks.start : ranks.stop] if found is None else found

    def everywhere(self, bits: Bits) -> Steps:
        """The places of all records, sorted; from here on they are kept."""
        if len(self.shortlist.places) < self.number:
            self.shortlist = self.sieve.completed(self.shortlist, self.values, self.scatter, bits)
        return self.shortlist.places

    def chosen(self, part: SearchRange, target: Target, bits: Bits) -> FoundPlaces:
        low, high, first, last = (int(side[0]) for side in (part.low, part.high, part.first, part.last))
        ranks = around(target, first, last, high - low + 1)
        start, stop = ranks.start, ranks.stop
        near = self.near(ranks, bits) if start < stop else np.empty(0, np.int64)
        edges = np.hstack([low - 1, np.clip(near, low - 1, high), high])
        distances = np.abs(target.off(np.arange(start, stop + 1) - first, last - first))
        lengths = np.diff(edges)
        while True:
            stretch = int(stretch_choice(bits, lengths[None, :], distances[None, :], target.scale)[0])
            place = int(edges[stretch]) + 1 + int(uniform_below(bits, lengths[[stretch]])[0])
            outer = (stretch == 0 and start > first) or (stretch == len(near) and stop < last)
            below = int(np.searchsorted(self.everywhere(bits), place)) if outer else start + stretch
            behind = abs(int(target.off(np.array([below - first]), last - first)[0])) - int(distances[stretch])
            if behind == 0 or StretchWeight(1, behind, target.scale).exceeds(Uniform(bits, bits.integer(64))):
                return FoundPlaces(np.array([place]), np.array([below]))


def around(target: Target, first: int, last: int, places: int) -> Ranks:
    """The ranks from `first` to before `last` that are so near a target that farther places are hardly ever chosen."""
    center = first + round(target.q * (last - first))
    radius = math.ceil(min((SOON + math.log(places)) * target.ranks + 2, last - first))
    return Ranks(max(center - radius, first), min(center + radius, last))
