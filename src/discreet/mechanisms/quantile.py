"""One quantile by the exponential mechanism, on a line of cells between public bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.answer import Apart, Records
from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.events import RenyiLoss
from discreet.core.grid import Array, Steps
from discreet.core.knob import check_knob
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.line import Line, Target
from discreet.noise.choice import Size, stretch_choice, uniform_below
from discreet.noise.interval import Uniform

SOON = 30.0  # exponents beyond the number of cells: all farther cells together are chosen once in 10**13 times


@dataclass(frozen=True)
class Quantile:
    """Release a value below which a given share of a column lies.

    A cell y of the line scores minus the number of ranks between share * n and those of y, from the number of values
    below y to the number of values at or below y: so zero, if y is the quantile. P(y) is in proportion to
    exp(epsilon score / reach), with the reach of one row from 1 to 2 ranks.

    Parameters
    ----------
    epsilon : float
        Public.
    share : float
        Public. In [0, 1].
    lower, upper : float
        Public. Values outside are moved to the nearer one.
    cells : int
        Public. How many steps there are from one to the other: releases are on this grid, whatever the data are.

    Guarantee
    ---------
    The event of `Exponential(epsilon)`. McSherry and Talwar 2007, Theorem 6; Cesar and Rogers 2021, Lemma 3.4; for the
    reach of one row, under both relations, see `quantile.md`.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> ages = Records(np.arange(1000.0)[:, None], 1, Neighbors.ADD_REMOVE)
    >>> Quantile(2.0, 0.9, 0.0, 1000.0, 1000).release(ages, DeterministicBits(1))
    np.float64(900.0)
    """

    epsilon: float = 1.0
    share: float = 0.5
    lower: float = 0.0
    upper: float = 1024.0
    cells: int = 1024
    knob: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_knob("Quantile", "epsilon", self.epsilon)
        Line(self.lower, self.upper, self.cells)
        if not 0 <= self.share <= 1:
            raise ParameterError("Quantile", f"share is {self.share}", "Give a share in [0, 1].", share=self.share)

    @property
    def event(self) -> RenyiLoss:
        """The price of one release."""
        return Exponential(self.epsilon).event

    def target(self, rows: int, neighbors: Neighbors) -> Target:
        """The rank that is looked for, for units of so many rows."""
        return Target.priced(self.share, self.epsilon, rows, neighbors)

    def release(self, answer: Records, bits: Bits) -> Array:
        """A value on the grid; one for each copy."""
        line = Line(self.lower, self.upper, self.cells)
        race = _Race.of(line, line.nearest(answer.values[:, 0]), self.target(answer.rows, answer.neighbors))
        return line.values(race.winners(bits, math.prod(answer.copies)).reshape(answer.copies))[()]

    def worst_neighbors(self) -> Apart:
        """A low record joins a high one: the few cells below it fall from best to worst."""
        low = self.lower + math.floor(0.1 * self.cells) * (self.upper - self.lower) / self.cells
        first, second = np.array([[self.upper]]), np.array([[self.upper], [low]])
        return Apart(Records(first, 1, Neighbors.ADD_REMOVE), Records(second, 1, Neighbors.ADD_REMOVE))


@dataclass(frozen=True)
class _Race:
    """Stretches of cells with one score each: single cells with records in them, and the gaps between.

    Only records near the target are told apart. The cells beyond them make up the first and the last stretch, each with
    the least distance that a cell of it has; a cell of these is kept with probability
    exp(-(its own distance - the least) / scale), and else all is drawn anew, so that the law is exact.

    Parameters
    ----------
    cells : array of int64
        Those of all records, in no order.
    target : Target
        The rank that is looked for.
    edges : array of int64
        Stretch i holds the cells above edge i up to edge i + 1.
    distances : array of int64
        Of each stretch, from the target.
    whole : bool
        Whether all records are near.
    """

    cells: Steps
    target: Target
    edges: Steps
    distances: Steps
    whole: bool

    @classmethod
    def of(cls, line: Line, cells: Steps, target: Target) -> _Race:
        """The race on a line, to be won by the quantile of these cells."""
        near = _Near.of(cells, target, line.cells + 1)
        off = target.off(near.below, len(cells))
        inside = np.maximum(np.maximum(off[:-1], -off[1:]), 0)
        edges = np.stack([near.distinct - 1, near.distinct], axis=1).ravel()
        distances = np.stack([np.abs(off[:-1]), inside], axis=1).ravel()
        whole = near.below[0] == 0 and near.below[-1] == len(cells)
        return cls(cells, target, np.hstack([-1, edges, line.cells]), np.append(distances, np.abs(off[-1])), whole)

    def winners(self, bits: Bits, copies: int) -> Steps:
        """So many cells, each drawn by itself."""
        lengths, last = np.diff(self.edges), len(self.distances) - 1
        won, again = np.empty(copies, np.int64), np.arange(copies)
        while again.size:
            rows = np.zeros(again.size, np.int64)
            stretch = stretch_choice(bits, lengths[None, :], self.distances[None, :], self.target.scale, rows)
            won[again] = self.edges[stretch] + 1 + uniform_below(bits, lengths[stretch])
            outer = np.flatnonzero(((stretch == 0) | (stretch == last)) & (not self.whole))
            again = again[[i for i in outer if not self._stays(bits, int(won[again[i]]), int(stretch[i]))]]
        return won

    def _stays(self, bits: Bits, cell: int, stretch: int) -> bool:
        """Whether a cell of an outer stretch is kept."""
        below, upto = np.count_nonzero(self.cells < cell), np.count_nonzero(self.cells <= cell)
        off = self.target.off(np.array([below, upto]), len(self.cells))
        behind = int(max(off[0], -off[1], 0) - self.distances[stretch])
        return behind == 0 or Size(1, behind, self.target.scale).exceeds(Uniform(bits, bits.integer(64)))


@dataclass(frozen=True)
class _Near:
    """The distinct cells of the records near the target, and how many records are below each, and below what follows.

    A record that has a near one's cell is near too.
    """

    distinct: Steps
    below: Steps

    @classmethod
    def of(cls, cells: Steps, target: Target, number: int) -> _Near:
        """All records, or as many as any of so many cells is likely to be chosen for."""
        if not len(cells):
            return cls(cells, np.zeros(1, np.int64))
        center = round(target.share * len(cells))
        radius = math.ceil(min((SOON + math.log(number)) * target.ranks + 2, len(cells)))
        start, stop = max(center - radius, 0), min(center + radius, len(cells))
        near = np.sort(np.partition(cells, [start, stop - 1])[start:stop])
        last = np.append(np.flatnonzero(np.diff(near)), len(near) - 1)
        below = np.append(np.count_nonzero(cells < near[0]), start + last + 1)
        below[-1] = np.count_nonzero(cells <= near[-1])
        return cls(near[last], below)
