"""Counting queries that are asked one after another, most of them answered from what is public already."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from discreet.core.answer import Answer, NeighborPair
from discreet.core.bits import Bits
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import NotPermitted
from discreet.core.events import Composed, Repeated
from discreet.core.grid import Array, Steps
from discreet.core.held import Held, exclusive
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.online.online_sparse_vector import ABOVE, BELOW, UNASKED, OnlineSparseVector, SparseVector
from discreet.mechanisms.online.queries import TWO_CELLS, ExactCounts, Queries, answer_steps, one_more

MEASURED, TESTED, UNCHECKED = ABOVE, BELOW, UNASKED
ENDED = "Their price was charged when they began, and this one was not answered."


class Hypothesis(Protocol):
    """A public estimate of a histogram, from releases alone. Arrays have an entry for each stacked answer."""

    def guesses(self, query: Queries) -> Array:
        """Its answers to a query."""
        ...

    def doubts(self, query: Queries, guesses: Array, exact: Answer) -> Answer:
        """How bad these guesses are, given the exact answers: scores that always have one sensitivity and one grid."""
        ...

    def learn(self, query: Queries, measured: Array, where: NDArray[np.bool_]) -> None:
        """Take in noisy answers, where there are any."""
        ...


@dataclass(frozen=True)
class Reply:
    """The answer to one query, and where it comes from; an entry for each stacked answer.

    Parameters
    ----------
    values : array
        The answer.
    sources : array of int
        1 (`MEASURED`) if it is the exact answer with noise; 0 (`TESTED`) if it is a guess that passed a noisy test;
        -1 (`UNCHECKED`) if it is a guess that was not tested.
    """

    values: Array
    sources: Steps


@dataclass(frozen=True)
class OnlineMechanism(CheckedParameters, ABC):
    """A mechanism that answers counting queries on a histogram one after another, for a price that is fixed before.

    The total comes first, with noise. For each query after it, a noisy test decides: either a guess is given, made from
    what was released before, or a noisy answer, which improves later guesses. When `updates` answers have been
    measured, every guess is given untested. Half of epsilon pays for all tests, the other half for the total and the
    measured answers.
    """

    epsilon: float = 1.0
    updates: int = 1
    queries: Queries = TWO_CELLS
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        name = type(self).__name__
        check_positive(name, "epsilon", self.epsilon, least=2.0**-30)  # tests are on a grid of 2**-16 records
        check_whole(name, "updates", self.updates, most=2**20)

    @property
    @abstractmethod
    def threshold_of_doubt(self) -> float:
        """The score at which a guess is too bad to be given."""

    @abstractmethod
    def hypothesis(self, total: Array, bits: Bits) -> Hypothesis:
        """The estimate from noisy totals alone."""

    @property
    def tests(self) -> SparseVector:
        """The tests of all guesses."""
        return SparseVector(self.epsilon / 2, self.threshold_of_doubt, self.updates)

    @property
    def noise(self) -> Laplace:
        """The noise of the total, and of each answer that is measured."""
        return Laplace(2 * (self.updates + 1) / self.epsilon)

    @property
    def event(self) -> Composed:
        """The price of all answers, for any queries."""
        return Composed((self.tests.event, Repeated(self.noise.event, self.updates + 1)))

    def release(self, answer: Answer, bits: Bits) -> Array:
        """Two rows, values and sources as in `Reply`: of the total, then of each query; two for each stacked answer."""
        online = OnlineQueries(self, answer, bits)
        for place in range(len(self.queries)):
            online.ask(self.queries[place])
        return online.transcript[..., :2, :]

    @property
    def opening(self) -> _Opening:
        """The same mechanism for queries that are not known yet: it releases `OnlineQueries`."""
        return _Opening(self)

    def worst_neighbors(self) -> NeighborPair:
        """One record more in the first cell."""
        return one_more(self.queries.cells)


@dataclass(frozen=True)
class _Opening:
    """Releases `OnlineQueries`, at the price of their mechanism."""

    mechanism: OnlineMechanism
    calibrated: ClassVar[str] = "epsilon"

    @property
    def event(self) -> Composed:
        return self.mechanism.event

    def release(self, answer: Answer, bits: Bits) -> OnlineQueries:
        return OnlineQueries(self.mechanism, answer, bits)

    def worst_neighbors(self) -> NeighborPair:
        return self.mechanism.worst_neighbors()


class OnlineQueries(Held):
    """Holds an exact histogram and answers queries about it, each chosen with all replies before it in view.

    It cannot be copied or pickled, and is refused to a fork. Threads that share it are answered one after another.
    Reading it as an array gives the transcript and ends it: that is what a permit stores when it is committed, so a key
    that is used again gives the transcript and no further answers.

    Parameters
    ----------
    mechanism : OnlineMechanism
        Public. How guesses are made, and the price.
    answer : Answer
        The histogram.
    bits : Bits
        Where noise comes from.

    Guarantee
    ---------
    `mechanism.event`, for any number of queries: `multiplicative_weights.md`.
    """

    def __init__(self, mechanism: OnlineMechanism, answer: Answer, bits: Bits) -> None:
        self._exact, self._bits, self._noise = ExactCounts(answer), bits, mechanism.noise
        self._tests = OnlineSparseVector(mechanism.tests, bits)
        self._rows: list[Array] = []
        self._over = False
        total = self._measured(self._exact.total)
        self._write(Reply(total, np.full(total.shape, MEASURED)), 0)
        self._hypothesis = mechanism.hypothesis(total, bits)

    @exclusive
    def ask(self, query: Queries, name: int = 0) -> Reply:
        """The answer to one query.

        Parameters
        ----------
        query : Queries
            Public. A single one.
        name : int
            Public. Identifies the query in the transcript.
        """
        if self._over:
            raise NotPermitted("query", "these online queries have ended", "Ask while their permit is open.", ENDED)
        return self._write(self._reply(query), name)

    def _reply(self, query: Queries) -> Reply:
        exact = self._exact.to(query)
        guesses = self._hypothesis.guesses(query)
        values = exact.grid.values(answer_steps(exact, guesses))
        if self._tests.ended:
            return Reply(values, np.full(values.shape, UNCHECKED))
        sources = self._tests.compare(self._hypothesis.doubts(query, guesses, exact))[..., 0]
        doubted = sources == MEASURED
        if doubted.any():
            values = np.where(doubted, self._measured(exact), values)
            self._hypothesis.learn(query, values, doubted)
        return Reply(values, sources)

    @property
    @exclusive
    def transcript(self) -> Array:
        """Three rows: values and sources as in `Reply`, and names; the total first, then each query that was asked."""
        return np.stack(self._rows, axis=-1)

    def _measured(self, exact: Answer) -> Array:
        return self._noise.release(exact, self._bits)[..., 0]

    def _write(self, reply: Reply, name: int) -> Reply:
        self._rows.append(np.stack([reply.values, reply.sources, np.full(reply.values.shape, name)], axis=-1))
        return reply

    @exclusive
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        self._over = True
        return self.transcript.astype(np.float64 if dtype is None else dtype)

    def __repr__(self) -> str:
        return f"OnlineQueries({len(self._rows) - 1} queries answered{', over' if self._over else ''})"
