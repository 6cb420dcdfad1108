"""Counting queries over a public universe of cells, and their exact answers."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid, Steps
from discreet.core.neighbors import Neighbors

FINENESS = 16  # bits of a weight between 0 and 1
EXACT = 53  # bits that float64 adds without error
COARSE = 12  # bits between what one record adds and a step of the answers, at most
MOST = 2**45  # steps of an answer to plain counts, and of its distance from a guess
BLOCK = 2**22  # weights that are widened to float64 at a time


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Queries:
    """How much a record of each cell counts in each query: 0 or 1 in a plain count, anything between in a linear one.

    Weights between 0 and 1 are rounded to multiples of 2**-16, so that every answer is exact.

    Parameters
    ----------
    weights : array of numbers or truth values, shape (queries, cells) or (cells,)
        Public. Each in [0, 1].

    Examples
    --------
    >>> Queries([[1, 1, 0], [0, 0.5, 1]]).answers(np.array([10.0, 20.0, 30.0]))
    array([30., 40.])
    """

    weights: NDArray[np.float64] | NDArray[np.uint8]

    def __init__(self, weights: ArrayLike) -> None:
        object.__setattr__(self, "weights", _checked(np.atleast_2d(np.asarray(weights))))

    def __len__(self) -> int:
        return int(self.weights.shape[0])

    def __getitem__(self, place: int) -> Queries:
        """A single query, as fine as all of these: its answers are on the same grid."""
        one = object.__new__(Queries)
        object.__setattr__(one, "weights", self.weights[place : place + 1])
        return one

    @property
    def cells(self) -> int:
        """The size of the universe."""
        return int(self.weights.shape[1])

    @property
    def fineness(self) -> int:
        """How many bits after the point weights have: none, for plain counts."""
        return 0 if self.weights.dtype == np.uint8 else FINENESS

    @cached_property
    def row(self) -> Array:
        """The weights of the first query."""
        return self.weights[0].astype(np.float64)

    def answers(self, histograms: Array) -> Array:
        """The answer to each query on each histogram, along the last axis."""
        if len(self) == 1:  # faster than a matrix product, which wakes threads up
            return np.einsum("...i,i->...", histograms, self.row)[..., None]
        out = np.empty((*histograms.shape[:-1], len(self)))
        step = max(1, BLOCK // self.cells)
        for start in range(0, len(self), step):
            out[..., start : start + step] = histograms @ self.weights[start : start + step].astype(np.float64).T
        return out

    @cached_property
    def digest(self) -> str:
        """A digest that identifies these queries."""
        shape = repr((self.weights.shape, self.weights.dtype.str)).encode()
        return hashlib.sha256(shape + self.weights.tobytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Queries) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Queries({len(self)} over {self.cells} cells)"


def _checked(weights: NDArray[np.generic]) -> NDArray[np.float64] | NDArray[np.uint8]:
    if weights.ndim != 2 or weights.size == 0 or weights.dtype.kind not in "biuf":
        raise ParameterError(
            "counting queries",
            f"the weights are of type {weights.dtype} and shape {weights.shape}",
            "Give one row for each query, with a number or a truth value for each cell.",
        )
    if weights.dtype.kind != "b" and not ((weights >= 0) & (weights <= 1)).all():  # type: ignore[operator]
        raise ParameterError("counting queries", "a weight is not in [0, 1]", "Scale the query, and its answer back.")
    plain = weights.astype(np.uint8)
    if (plain == weights).all():
        plain.setflags(write=False)
        return plain
    linear: Array = np.rint(weights.astype(np.float64) * 2.0**FINENESS) / 2.0**FINENESS
    linear.setflags(write=False)
    return linear


TWO_CELLS = Queries([[1, 0], [0, 1]])


class ExactCounts:
    """The exact histogram behind counting queries. Secret, as an `Answer` is.

    Counts that are negative are raised to 0, and answers above `MOST` steps lowered to it; that brings no two answers
    farther apart. Counts are kept in limbs of so few bits that float64 adds those of all cells without error.

    Parameters
    ----------
    answer : Answer
        A histogram: each record adds at most one mark, to its cell.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer, self._width = answer, EXACT - FINENESS - answer.size.bit_length()
        counts, last = np.maximum(answer.steps, 0), (1 << self._width) - 1
        self._limbs = [(counts >> low & last).astype(np.float64) for low in range(0, 63, self._width)]

    @property
    def total(self) -> Answer:
        return self.to(Queries(np.ones(self._answer.size)))

    def to(self, queries: Queries) -> Answer:
        """The exact answers to queries: along the last axis, one answer for each.

        One record moves each by at most the l1 length of what it adds, since no weight is above 1; and replacing it
        moves none farther, if what it adds is not negative: both answers lie between those without it and that far up.
        A histogram on a grid far finer than that has its answers floored, to at most `COARSE` bits below it; the step
        by which that can move them is counted alike for plain and for linear queries.
        """
        if queries.cells != self._answer.size:
            raise ParameterError(
                "counting queries",
                f"they are over {queries.cells} cells and the histogram has {self._answer.size}",
                "Ask about the same universe.",
            )
        radius = self._answer.bound.sensitivity("l1", self._answer.size, Neighbors.ADD_REMOVE)
        floored = max(0, math.frexp(radius)[1] - COARSE - self._answer.grid.exponent)
        limbs = [np.ldexp(queries.answers(limb), queries.fineness).astype(np.int64) for limb in self._limbs]
        slack = math.ldexp(self._answer.slack * self._answer.size, -floored) + (floored > 0)
        return Answer(
            joined(limbs, self._width, floored, MOST << queries.fineness),
            Grid(self._answer.grid.exponent + floored - queries.fineness),
            Bound("linf", radius, self._answer.bound.nonnegative),
            self._answer.neighbors,
            math.ldexp(slack, queries.fineness),
        )


def joined(limbs: list[Steps], width: int, floored: int, most: int) -> Steps:
    """The sum of limbs[i] * 2**(width * i), floored to a multiple of 2**floored and counted in those; at most `most`.

    Carries make digits of the limbs: of these only one is cut by flooring, and what is below it adds less than one.
    Digits beyond int64 wrap around, where the sum is far above `most` anyway.

    Examples
    --------
    >>> joined([np.array([5]), np.array([3])], width=2, floored=0, most=100), 5 + 3 * 4
    (array([17]), 17)
    """
    about = sum(limb * 2.0 ** (width * place - floored) for place, limb in enumerate(limbs))
    total, carry = np.zeros_like(limbs[0]), np.zeros_like(limbs[0])
    for place, limb in enumerate([*limbs, np.zeros_like(limbs[0])]):
        carried, at = limb + carry, width * place - floored
        digit = carried if place == len(limbs) else carried & ((1 << width) - 1)
        total += digit << at if at >= 0 else digit >> min(-at, 63)
        carry = carried >> width
    return np.where(np.asarray(about) < 1.5 * most, np.minimum(total, most), most)


def one_more(cells: int) -> NeighborPair:
    """Histograms of a handful of records, and of one more in the first cell."""
    bound, others = Bound("l1", 1.0, nonnegative=True), [2, *(cells - 2) * [0]][: cells - 1]
    return NeighborPair(whole_numbers([1, *others], bound), whole_numbers([2, *others], bound))


def distance(answer: Answer, guesses: Array) -> Answer:
    """How far exact answers are from public guesses at them: as sensitive as the answers, and not monotone."""
    return dataclasses.replace(
        answer,
        steps=np.abs(answer.steps - answer_steps(answer, guesses)),
        bound=Bound("linf", answer.sensitivity("linf")),
        neighbors=Neighbors.ADD_REMOVE,
        slack=0.0,
    )


def on_one_grid(scores: Answer, queries: Queries) -> Answer:
    """Scores on the grid of weights between 0 and 1, for any queries; none is above `MOST` steps of counts."""
    finer = FINENESS - queries.fineness
    steps = np.left_shift(np.minimum(scores.steps, MOST << queries.fineness), finer)
    return dataclasses.replace(scores, steps=steps, grid=Grid(scores.grid.exponent - finer))


def answer_steps(answer: Answer, guesses: Array) -> Steps:
    """Public guesses, on the grid of the exact answers."""
    steps = np.ldexp(guesses, -answer.grid.exponent)
    return np.rint(np.clip(steps, -(2.0**62), 2.0**62)).astype(np.int64)
