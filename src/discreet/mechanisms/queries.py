"""Counting queries over a public universe of cells, and their exact answers."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.answer import Answer, Apart, whole_numbers
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid, Steps
from discreet.core.neighbors import Neighbors

FINENESS = 16  # bits of a weight between 0 and 1
EXACT = 53  # bits that float64 adds without error
FARTHEST = 2**40  # histogram steps between an answer and a guess at it
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
        """A single query."""
        return Queries(self.weights[place])

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
        """A name of these queries and no others."""
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

    Counts that are negative, or so many that float64 could not add all cells without error, are moved to the nearer
    limit; that brings no two counts farther apart.

    Parameters
    ----------
    answer : Answer
        A histogram: each record adds at most one mark, to its cell.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._counts = self._limited(answer.steps, 0)

    def _limited(self, counts: Steps | Array, fineness: int) -> Array:
        most = 2 ** (EXACT - 1 - fineness) // max(self._answer.size, 1)
        return np.clip(counts, 0, most).astype(np.float64)

    @property
    def total(self) -> Answer:
        """The exact number of records."""
        return self.to(Queries(np.ones(self._answer.size)))

    def to(self, queries: Queries) -> Answer:
        """The exact answers to queries: along the last axis, one answer for each.

        One record moves each by at most the l1 length of what it adds, since no weight is above 1; and replacing it
        moves none farther, if what it adds is not negative: both answers lie between those without it and that far up.
        """
        if queries.cells != self._answer.size:
            raise ParameterError(
                "counting queries",
                f"they are over {queries.cells} cells and the histogram has {self._answer.size}",
                "Ask about the same universe.",
            )
        counts = self._limited(self._counts, queries.fineness) if queries.fineness else self._counts
        radius = self._answer.bound.sensitivity("l1", self._answer.size, Neighbors.ADD_REMOVE)
        return Answer(
            np.ldexp(queries.answers(counts), queries.fineness).astype(np.int64),
            Grid(self._answer.grid.exponent - queries.fineness),
            Bound("linf", radius, self._answer.bound.nonnegative),
            self._answer.neighbors,
            math.ldexp(self._answer.slack * self._answer.size, queries.fineness),
        )


def one_more(cells: int) -> Apart:
    """Histograms of a handful of records, and of one more in the first cell."""
    bound, others = Bound("l1", 1.0, nonnegative=True), [2, *(cells - 2) * [0]][: cells - 1]
    return Apart(whole_numbers([1, *others], bound), whole_numbers([2, *others], bound))


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
    """Scores on the grid of weights between 0 and 1, whatever the queries are; none is above 2**40 histogram steps."""
    finer = FINENESS - queries.fineness
    steps = np.left_shift(np.minimum(scores.steps, FARTHEST << queries.fineness), finer)
    return dataclasses.replace(scores, steps=steps, grid=Grid(scores.grid.exponent - finer))


def answer_steps(answer: Answer, guesses: Array) -> Steps:
    """Public guesses, on the grid of the exact answers."""
    steps = np.ldexp(guesses, -answer.grid.exponent)
    return np.rint(np.clip(steps, -(2.0**EXACT), 2.0**EXACT)).astype(np.int64)
