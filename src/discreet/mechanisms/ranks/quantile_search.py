"""The search for a share in a range of a grid, and of the records on it, by the exponential mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Steps
from discreet.mechanisms.ranks.rank_grid import Target
from discreet.mechanisms.ranks.ranking import Ranking, between
from discreet.noise.choice import Size, stretch_choice, uniform_below
from discreet.noise.interval import Uniform

SAMPLE = 2**16  # places that show about where a rank is; more than for one quantile, since several are searched for
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
        """These places, sorted."""
        return cls(np.sort(places, axis=1))

    @property
    def number(self) -> int:
        """How many records there are."""
        return int(self.places.shape[1])

    def chosen(self, part: SearchRange, target: Target, bits: Bits) -> FoundPlaces:
        """One place for each copy."""
        start, stop = int(part.first.min()), int(part.last.max())
        low, high, first, last = (side[:, None] for side in (part.low, part.high, part.first, part.last))
        edges = np.hstack([low - 1, np.clip(self.places[:, start:stop], low - 1, high), high])
        distances = np.abs(target.off(np.arange(start, stop + 1) - first, last - first))
        lengths, each = np.diff(edges, axis=1), np.arange(len(edges))
        stretches = stretch_choice(bits, lengths, distances, target.scale)
        places = edges[each, stretches] + 1 + uniform_below(bits, lengths[each, stretches])
        return FoundPlaces(places, (self.places < places[:, None]).sum(axis=1))


@dataclass(frozen=True)
class RankedPlaces:
    """The places of all records of a single copy, where there are too many to sort: only those near a share are.

    The places beyond those make up the first and the last stretch, each with the least distance that a place of it has;
    a place of these is kept with probability exp(-(its own distance - the least) / scale), and otherwise all is drawn
    again: so the law is exact.
    """

    ranking: Ranking

    @classmethod
    def of(cls, places: Steps) -> RankedPlaces:
        """These places."""
        return cls(Ranking.of(places, SAMPLE))

    @property
    def number(self) -> int:
        """How many records there are."""
        return self.ranking.number

    def chosen(self, part: SearchRange, target: Target, bits: Bits) -> FoundPlaces:
        """One place."""
        low, high, first, last = (int(side[0]) for side in (part.low, part.high, part.first, part.last))
        center = first + round(target.q * (last - first))
        radius = math.ceil(min((SOON + math.log(high - low + 1)) * target.ranks + 2, last - first))
        start, stop = max(center - radius, first), min(center + radius, last)
        near = between(self.ranking.run(start, stop), start, stop) if start < stop else np.empty(0, np.int64)
        edges = np.hstack([low - 1, np.clip(near, low - 1, high), high])
        distances = np.abs(target.off(np.arange(start, stop + 1) - first, last - first))
        lengths = np.diff(edges)
        while True:
            stretch = int(stretch_choice(bits, lengths[None, :], distances[None, :], target.scale)[0])
            place = int(edges[stretch]) + 1 + int(uniform_below(bits, lengths[[stretch]])[0])
            outer = (stretch == 0 and start > first) or (stretch == len(near) and stop < last)
            below = int(np.count_nonzero(self.ranking.values < place)) if outer else start + stretch
            behind = abs(int(target.off(np.array([below - first]), last - first)[0])) - int(distances[stretch])
            if behind == 0 or Size(1, behind, target.scale).exceeds(Uniform(bits, bits.integer(64))):
                return FoundPlaces(np.array([place]), np.array([below]))
