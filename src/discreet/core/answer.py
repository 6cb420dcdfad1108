"""The exact answer to a question. Secret: only `questions`, `mechanisms` and `trust` may import this module."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np

from discreet.core.bound import ORDER, ULP, Bound, Norm
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid, Steps, upwards
from discreet.core.held import Secret, unheld
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import Neighbors, Unit

LEAST_SCALE = 2.0**-19
FEWEST_CELLS = 24  # for noise that is shared among parties, in bits
MOST_CELLS = 40  # bits between a noise scale and the step of the grid it is drawn on


@unheld("cache")
@dataclass(frozen=True)
class Answer(Secret):
    """An exact sum on a grid, and how far one unit can move it.

    Parameters
    ----------
    steps : array of int64, shape (..., size)
        The sum, in grid steps. Leading axes stack independent answers to the same question: one report per person
        under local trust, one copy per run in an audit.
    grid : Grid
        What one step is worth. The noise is drawn on the same grid.
    bound : Bound
        The most one unit adds to the sum.
    neighbors : Neighbors
        The relation of the data set.
    slack : float
        How many more steps any coordinate may move, from flooring to a coarser grid.
    """

    steps: Steps = field(repr=False)
    grid: Grid
    bound: Bound
    neighbors: Neighbors
    slack: float = 0.0

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return int(self.steps.shape[-1])

    @property
    def monotone(self) -> bool:
        """Whether one unit moves all coordinates in one direction; flooring keeps that."""
        return self.bound.nonnegative and self.neighbors is Neighbors.ADD_REMOVE

    def sensitivity(self, norm: Norm) -> float:
        """The farthest one unit can move the sum, in `norm`, whatever norm bounds it; rounded up."""
        size = int(self.steps.shape[-1])
        flooring = self.slack * self.grid.step * size ** (1 / ORDER[norm])
        return self.bound.sensitivity(norm, size, self.neighbors) + flooring * (1 + 8 * ULP)

    def scale(self, multiplier: float | Fraction, norm: Norm) -> float:
        """The noise scale in grid steps, rounded up; below `LEAST_SCALE` the noise would always be zero."""
        if (multiplier, norm) not in self._scales:
            product = upwards(Fraction(multiplier) * Fraction(self.sensitivity(norm)))
            self._scales[multiplier, norm] = max(math.ldexp(product, -self.grid.exponent), LEAST_SCALE)
        return self._scales[multiplier, norm]

    @cached_property
    def _scales(self) -> dict[tuple[float | Fraction, Norm], float]:
        """The scales that were asked for: of one answer the same is asked before and after it is put on a grid."""
        return {}

    def coarsened(self, multiplier: float | Fraction, norm: Norm) -> Answer:
        """The answer on a grid coarse enough to draw this noise fast: floored, and the flooring counted.

        Floor, since |floor(a) - floor(b)| < |a - b| + 1 in every coordinate; rounding half to even moves farther. Where
        there are so many coordinates that this adds more noise than steps are saved, the grid stays as it is.
        """
        scale = self.scale(multiplier, norm)
        excess = math.frexp(scale)[1] - MOST_CELLS
        if excess <= 0:
            return self
        coarse = self._floored(excess)
        return coarse if coarse.scale(multiplier, norm) < scale else self

    def refined(self, multiplier: float | Fraction, norm: Norm) -> Answer:
        """The answer on a grid so fine that noise in whole steps is hardly different from noise in real numbers."""
        bits = max(0, FEWEST_CELLS - math.frexp(self.scale(multiplier, norm))[1])
        if bits == 0:
            return self
        return self.on(Grid(self.grid.exponent - bits))

    def on(self, grid: Grid) -> Answer:
        """The answer on another grid: as it is on a finer one; floored, and the flooring counted, on a coarser one."""
        bits = grid.exponent - self.grid.exponent
        if bits > 0:
            return self._floored(bits)
        finer, slack = np.left_shift(self.steps, min(-bits, 63)), math.ldexp(self.slack, -bits)
        return dataclasses.replace(self, steps=finer, grid=grid, slack=slack)

    def _floored(self, bits: int) -> Answer:
        return dataclasses.replace(
            self,
            steps=np.right_shift(self.steps, min(bits, 63)),
            grid=Grid(self.grid.exponent + bits),
            slack=math.ldexp(self.slack, -bits) + 1.0,
        )

    def limited(self) -> Answer:
        """With all numbers moved between -2**61 and 2**61 steps: none farther apart, and none that noise wraps around.

        For whatever compares numbers; a sum that is released may wrap around, see `noised`.
        """
        return dataclasses.replace(self, steps=np.clip(self.steps, -(2**61), 2**61))

    def greater(self, other: Answer) -> Answer:
        """The greater of two answers in every coordinate: no unit moves it farther than the one that it moves most."""
        self.check_alike(other)
        return dataclasses.replace(self, steps=np.maximum(self.steps, other.steps))

    def check_alike(self, other: Answer) -> None:
        """Refuse to go on with steps that mean something else: another grid, or another sensitivity."""
        if any(getattr(self, name) != getattr(other, name) for name in ("grid", "bound", "neighbors", "slack")):
            raise ParameterError(
                "two answers together",
                f"one is on steps of 2**{self.grid.exponent} and the other on steps of 2**{other.grid.exponent}, or"
                " one unit moves them differently",
                "Put both on one grid, with one bound.",
            )

    def stacked(self, count: int) -> Answer:
        """`count` copies of this answer, to be released independently."""
        return dataclasses.replace(self, steps=np.broadcast_to(self.steps, (count, *self.steps.shape)))

    def noised(self, noise: Steps) -> Array:
        """The release: the sum and its noise as values. Integers wrap around, which no output can undo."""
        return self.grid.values(self.steps + noise)


@dataclass(frozen=True)
class SampledAnswer(Secret):
    """The exact sum over a secret sample of the units.

    Parameters
    ----------
    answer : Answer
        The sum over the sample; how far one unit of the sample moves it.
    sample : SecretSample
        How the sample was drawn.
    """

    answer: Answer
    sample: SecretSample

    def stacked(self, count: int) -> SampledAnswer:
        """Copies of this answer, to the same sample, each to be released independently."""
        return dataclasses.replace(self, answer=self.answer.stacked(count))


@dataclass(frozen=True)
class KeyedAnswer(Secret):
    """How many rows hold each key, for keys that only the data know.

    Parameters
    ----------
    keys : tuple of str
        The keys that occur, sorted. Their very presence is secret.
    counts : array of int64, shape (..., len(keys))
        Rows per key.
    rows : int
        The most rows that one unit has.
    neighbors : Neighbors
        The relation of the data set.
    """

    keys: tuple[str, ...] = field(repr=False)
    counts: Steps = field(repr=False)
    rows: int
    neighbors: Neighbors


@dataclass(frozen=True)
class _Copied(Secret):
    """What is released `copies` times independently, by axes; once, where it is empty."""

    copies: tuple[int, ...] = field(default=(), kw_only=True)

    def stacked(self, count: int) -> Self:
        """The same, to be released `count` times independently."""
        return dataclasses.replace(self, copies=(count, *self.copies))


@dataclass(frozen=True)
class Records(_Copied):
    """All records themselves, for a mechanism that finds out by itself how far one unit can move what it releases.

    Parameters
    ----------
    values : array of shape (n, columns)
        One row per record: numbers inside the schema's bounds, places of categories, nan where missing. In no order.
    rows : int
        The most rows that one unit has.
    neighbors : Neighbors
        The relation of the data set.
    """

    values: Array = field(repr=False)
    rows: int
    neighbors: Neighbors


@dataclass(frozen=True)
class GramAnswer(_Copied):
    """A sum of products z z' of the vectors of records with themselves.

    Parameters
    ----------
    steps : array of int64, shape (size, size)
        The sum, symmetric.
    longest : int
        The most that the squared length of one row's vector z is, in the same steps.
    rows : int
        The most rows that one unit has.
    neighbors : Neighbors
        The relation of the data set.
    """

    steps: Steps = field(repr=False)
    longest: int
    rows: int
    neighbors: Neighbors


@dataclass(frozen=True)
class GraphAnswer(_Copied):
    """A whole graph, for a mechanism that finds out by itself how far one unit can move what it releases.

    Parameters
    ----------
    edges : array of int64, shape (m, 2)
        The ends of each edge, the lesser one first; no loops, and no edge twice. In no order.
    nodes : int
        Public. The nodes are 0 ... nodes - 1.
    unit : Unit
        An edge; or a node, of which all edges may change.
    neighbors : Neighbors
        The relation of the data set.
    """

    edges: Steps = field(repr=False)
    nodes: int
    unit: Unit
    neighbors: Neighbors


@dataclass(frozen=True)
class MovableRows(_Copied):
    """Rows of any length, of which one may have moved. How many there are is public.

    Parameters
    ----------
    values : array of shape (n, columns)
        Finite numbers.
    reach : float
        How far one row may have moved: all that is hidden.
    """

    values: Array = field(repr=False)
    reach: float


AnyAnswer = GraphAnswer | Answer | SampledAnswer | KeyedAnswer | Records | GramAnswer | MovableRows
"""What a question may answer."""


@dataclass(frozen=True)
class NeighborPair:
    """Two answers of neighboring data sets that are hardest to hide from each other."""

    first: AnyAnswer
    second: AnyAnswer


def whole_numbers(values: list[int], bound: Bound, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Answer:
    """An answer in whole numbers: what trials and local reports are made of."""
    return Answer(np.asarray(values, dtype=np.int64), Grid(0), bound, neighbors)
