"""The cells of a grid in stretches of one distance each from the target rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array, Steps
from discreet.mechanisms.ranks.rank_grid import RANK, RankGrid, Target
from discreet.mechanisms.ranks.shortlist import Ranking, Run

PART, WHOLE = 15, 16  # of a value that counts at its own place; the rest counts at its cell
SOON = 30.0  # exponents beyond the number of cells: all farther cells together are chosen once in 10**13 times


@dataclass(frozen=True)
class RankedStretches:
    """Stretches of cells with one distance each: single cells with values in them, and those between values.

    Only values near the target are distinguished. The cells beyond them make up the first and the last stretch, each
    with the least distance that a cell of it has; `distance` computes that of a single cell.

    Parameters
    ----------
    grid : RankGrid
        Public. The cells.
    values : array
        All values, in no order, nan where missing.
    number : int
        How many are not missing.
    target : Target
        The target rank.
    edges : array of int64
        Stretch i holds the cells above edge i up to edge i + 1.
    distances : array of int64
        Of each stretch, from the target.
    loose : array of bool
        Which stretches have cells that may be farther off.
    """

    grid: RankGrid
    values: Array
    number: int
    target: Target
    edges: Steps
    distances: Steps
    loose: NDArray[np.bool_]

    @classmethod
    def of(cls, grid: RankGrid, values: Array, target: Target) -> RankedStretches:
        """The stretches for a target rank of these values.

        Values are near if they are so few ranks away that farther cells are hardly ever chosen. Where cells are coarse,
        or values equal, even the best cell may be many ranks off: then correspondingly more are near.
        """
        ranking = Ranking.of(values)
        near = _Near.of(grid, ranking, target)
        found = cls._around(grid, values, target, near)
        best = float(found.distances[~found.loose & (found.lengths > 0)].min())
        if (found.distances[found.loose] >= best + beyond(grid) * target.scale).all():
            return found
        return cls._around(grid, values, target, _Near.of(grid, ranking, target, best / RANK, near.run))

    @classmethod
    def _around(cls, grid: RankGrid, values: Array, target: Target, near: _Near) -> RankedStretches:
        number = near.number
        off = target.off(near.below, number)
        edges = np.stack([near.cells - 1, near.cells], axis=1).ravel()
        distances = np.stack([np.abs(off[:-1]), near.inside(off[:-1])], axis=1).ravel()
        loose = np.zeros(len(distances) + 1, np.bool_)
        loose[0], loose[-1] = near.below[0] > 0, near.below[-1] < number
        edges, distances = np.hstack([-1, edges, grid.cells]), np.append(distances, np.abs(off[-1]))
        return cls(grid, values, number, target, edges, distances, loose)

    @property
    def lengths(self) -> Steps:
        return np.diff(self.edges)

    def distance(self, cell: int) -> int:
        cells = _cells(self.grid, self._places)
        below, held = int(np.count_nonzero(cells < cell)), np.sort(self._places[cells == cell])
        near = _Near(np.array([cell]), np.array([below, below + len(held)]), held, self.grid.finer, self.number)
        return int(near.inside(self.target.off(near.below[:1], self.number))[0])

    @cached_property
    def _places(self) -> Steps:
        return self.grid.places(self.values)


def beyond(grid: RankGrid) -> float:
    """The distance, in scales, of cells that are hardly ever chosen."""
    return SOON + math.log(grid.cells + 1)


def _cells(grid: RankGrid, places: Steps) -> Steps:
    """The cells that are nearest to these places."""
    return (places + grid.finer // 2) // grid.finer


@dataclass(frozen=True)
class _Near:
    """The distinct cells of values near the target, how many values are below each and below what follows, and theirs.

    A value that has a near one's cell is near too.
    """

    cells: Steps
    below: Steps
    places: Steps
    finer: int
    number: int
    run: Run | None = None

    @classmethod
    def of(
        cls, grid: RankGrid, ranking: Ranking, target: Target, aside: float = 0.0, known: Run | None = None
    ) -> _Near:
        """The values near the target, in cells that may be chosen; the best cell is `aside` ranks away from it."""
        number = ranking.number
        if not number:
            return cls(np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0, np.int64), grid.finer, 0)
        center = round(target.q * number)
        radius = math.ceil(min(aside + beyond(grid) * target.ranks + 2, number))
        start, stop = max(center - radius, 0), min(center + radius, number)
        run = known if known is not None and known.holds(start, stop) else ranking.run(start, stop)
        near = cls.among(grid, run, number, start, stop)
        return near if near.parted(grid, ranking, run) else cls.among(grid, ranking.everything(), number, start, stop)

    @classmethod
    def among(cls, grid: RankGrid, run: Run, number: int, start: int, stop: int) -> _Near:
        """Those of ranks from `start` to before `stop`, which a run holds."""
        places, before = grid.places(run.values), run.before
        parted = np.partition(places, [start - before, stop - 1 - before])
        first, last = _cells(grid, parted[[start - before, stop - 1 - before]])
        cells = _cells(grid, places)
        near = np.sort(places[(cells >= first) & (cells <= last)])
        held = _cells(grid, near)
        ends = np.append(np.flatnonzero(np.diff(held)), len(near) - 1)
        below = before + np.count_nonzero(cells < first)
        return cls(held[ends], np.append(below, below + ends + 1), near, grid.finer, number, run)

    def inside(self, off: Steps) -> Steps:
        """The distance of each cell with values, for what the number of values below it is off by.

        A value counts `PART` at its own place, and for the rest at its cell.
        """
        starts, number, unit = self.below[:-1] - self.below[0], np.diff(self.below), RANK // WHOLE
        at = self.cells * self.finer
        less, upto = np.searchsorted(self.places, at) - starts, np.searchsorted(self.places, at, "right") - starts
        return np.maximum(off + PART * unit * less, -off - PART * unit * upto - (WHOLE - PART) * unit * number)

    def parted(self, grid: RankGrid, ranking: Ranking, run: Run) -> bool:
        """Whether no value beyond the ends of a run has a cell in common with those that were found in it."""
        values, step = ranking.values, 2 * (grid.upper - grid.lower) / grid.cells
        low, high = _cells(grid, grid.places(np.array([run.low, run.high])))
        if low >= self.cells[0]:
            least = run.low - step if run.low - step > grid.lower else -math.inf  # all beyond the bounds have one cell
            close = values[(values < run.low) & (values >= least)]
            low = _cells(grid, grid.places(close)).max(initial=-1)
        if high <= self.cells[-1]:
            most = run.high + step if run.high + step < grid.upper else math.inf
            close = values[(values > run.high) & (values <= most)]
            high = _cells(grid, grid.places(close)).min(initial=grid.cells + 1)
        return bool(low < self.cells[0] and high > self.cells[-1])
