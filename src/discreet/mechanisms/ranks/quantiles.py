"""Several quantiles by the exponential mechanism, by halves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.answer import NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.events import Repeated
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.ranks.quantile import price
from discreet.mechanisms.ranks.quantile_search import RankedPlaces, SearchRange, SortedPlaces, around
from discreet.mechanisms.ranks.rank_grid import RankGrid, Target, there
from discreet.mechanisms.ranks.shortlist import MANY, Ranks, Scatter

FINEST = 62  # bits of all places on a grid
AT_ONCE = 2**21  # records of all copies that are worked on together
AMPLE = 1.5  # of the ranks near a share: what the ends of its part may be off by


@dataclass(frozen=True)
class Quantiles(CheckedParameters):
    """Release values below which given shares of a column lie.

    The middle level is found first, then those below it among the records below what was found, and those above among
    the other records: every record takes part once on each level of halves. Each cell of the grid is divided into
    places, of which a record takes one at random; so records that are tied can be separated.

    Parameters
    ----------
    epsilon : float
        Public. Of all quantiles together.
    q : tuple of float
        Public. In [0, 1], ascending.
    lower, upper : float
        Public. Values outside are moved to the nearer one.
    cells : int
        Public. The number of grid steps from one to the other. Releases are on this grid.

    Guarantee
    ---------
    One event of `Exponential` for each level of halves. Kaplan, Schnapp and Stemmer 2022; the proof, under both
    relations and for units of several rows, is in `quantile.md`.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> ages = Records(np.arange(1000.0)[:, None], 1, Neighbors.ADD_REMOVE)
    >>> Quantiles(2.0, (0.1, 0.5, 0.9), 0.0, 1000.0, 1000).release(ages, DeterministicBits(1))
    array([101., 499., 901.])
    """

    epsilon: float = 1.0
    q: tuple[float, ...] = (0.25, 0.5, 0.75)
    lower: float = 0.0
    upper: float = 1024.0
    cells: int = 1024
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        levels = tuple(float(level) for level in self.q)
        object.__setattr__(self, "q", levels)
        if not levels or not all(0 <= a <= b <= 1 for a, b in zip((0.0, *levels), (*levels, 1.0), strict=True)):
            raise ParameterError("Quantiles", f"q is {levels}", "Give numbers in [0, 1], ascending.")
        RankGrid(self.lower, self.upper, self.cells)
        check_positive("Quantiles", "epsilon", self.epsilon / self.depth)

    @property
    def depth(self) -> int:
        """How many levels of halves there are."""
        return len(self.q).bit_length()

    @property
    def event(self) -> Repeated:
        return Repeated(price(self.epsilon / self.depth), self.depth)

    def target(self, q: float, level: int, rows: int, neighbors: Neighbors) -> Target:
        """The target rank on a level, for units of `rows` rows."""
        return Target.priced(q, self.epsilon / self.depth, rows, neighbors, parted=level > 0)

    def release(self, answer: Records, bits: Bits) -> Array:
        """One value for each share, on the grid; one row for each copy."""
        grid = RankGrid(self.lower, self.upper, self.cells)
        scatter, values = Scatter(grid, FINEST - (grid.cells + 1).bit_length()), there(answer.values[:, 0])
        number, copies = len(values), math.prod(answer.copies)
        found, together = np.empty((copies, len(self.q)), np.int64), max(1, AT_ONCE // (number + 1))
        if number >= MANY:
            ranks = self._expected(number, scatter.top, answer)
            for part in found:
                self._find(part[None], RankedPlaces.of(values, scatter, ranks, bits), scatter.top, answer, bits)
        else:
            cells = grid.nearest(values)
            for part in (found[start : start + together] for start in range(0, copies, together)):
                places = scatter.places(np.tile(cells, len(part)), bits).reshape(len(part), number)
                self._find(part, SortedPlaces.of(places), scatter.top, answer, bits)
        return grid.values(found >> scatter.finer).reshape(*answer.copies, -1)

    def _expected(self, number: int, top: int, answer: Records) -> list[Ranks]:
        """The ranks near each share that will be asked for, unless the ends of its part are far off."""
        steps = _steps(self.q, 0, len(self.q), 0)
        scales = {step.place: self.target(step.q, step.level, answer.rows, answer.neighbors).scale for step in steps}
        return [around(Target(q, AMPLE * scales[i]), 0, number, top + 1) for i, q in enumerate(self.q)]

    def _find(self, found: Steps, records: SortedPlaces | RankedPlaces, top: int, answer: Records, bits: Bits) -> None:
        """Find the place of each share, from 0 to `top`, in a row for each copy."""
        none, last = np.zeros(len(found), np.int64), len(self.q) + 1
        ends, below = {0: none, last: none + top}, {0: none, last: none + records.number}
        for step in _steps(self.q, 0, len(self.q), 0):
            part = SearchRange(ends[step.low], ends[step.high], below[step.low], below[step.high])
            chosen = records.chosen(part, self.target(step.q, step.level, answer.rows, answer.neighbors), bits)
            found[:, step.place] = ends[step.place + 1] = chosen.places
            below[step.place + 1] = np.clip(chosen.below, part.first, part.last)

    def scales(self, rows: int, neighbors: Neighbors) -> list[Array]:
        """For each share, the scales in ranks of independent noises that add up to the error of its rank: public.

        A level's rank is as far off as the ends that it lies between, in proportion, and by noise of its own: Laplace
        noise, where values lie evenly around it.
        """
        own = np.zeros((len(self.q) + 2, len(self.q)))
        for step in _steps(self.q, 0, len(self.q), 0):
            ends = (1 - step.q) * own[step.low] + step.q * own[step.high]
            own[step.place + 1] = ends
            own[step.place + 1, step.place] = self.target(step.q, step.level, rows, neighbors).ranks
        return [row[row > 0] for row in own[1:-1]]

    def worst_neighbors(self) -> NeighborPair:
        """A low record joins a high one: the few cells below it fall from best to worst."""
        low = self.lower + math.floor(0.1 * self.cells) * (self.upper - self.lower) / self.cells
        first, second = np.array([[self.upper]]), np.array([[self.upper], [low]])
        return NeighborPair(Records(first, 1, Neighbors.ADD_REMOVE), Records(second, 1, Neighbors.ADD_REMOVE))


@dataclass(frozen=True)
class _Step:
    """A share to be found between two others: its number, and those of the two in the list with 0 and 1 added."""

    place: int
    low: int
    high: int
    level: int
    q: float


def _steps(q: tuple[float, ...], start: int, stop: int, level: int) -> Iterator[_Step]:
    """The shares from number `start` to before number `stop`: the middle one, then those on its sides."""
    if start == stop:
        return
    middle, ends = (start + stop) // 2, (0.0, *q, 1.0)
    low, high = ends[start], ends[stop + 1]
    inner = (ends[middle + 1] - low) / (high - low) if high > low else 0.5
    yield _Step(middle, start, stop + 1, level, inner)
    yield from _steps(q, start, middle, level + 1)
    yield from _steps(q, middle + 1, stop, level + 1)
