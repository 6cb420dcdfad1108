"""A conversation with private data: counting queries one after another, for a price fixed before the first."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted
from discreet.core.grid import Array
from discreet.core.held import Held, exclusive
from discreet.core.receipt import Receipt
from discreet.mechanisms.online.multiplicative_weights import MultiplicativeWeights
from discreet.mechanisms.online.online_queries import MEASURED, TESTED, OnlineQueries
from discreet.mechanisms.online.queries import Queries
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.tables.domain import BINS, Bins, Condition, Domain
from discreet.releases.estimate import Estimate
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.statistics.tables.workload_answers import in_words
from discreet.trust.permit import KEPT, REPLAYED, Permit
from discreet.trust.private_data import PrivateData

SOURCES = {MEASURED: "measured", TESTED: "tested", -1: "unchecked"}


@dataclass(frozen=True, kw_only=True)
class Answered(Estimate):
    """One answer of a conversation: about how many records.

    Parameters
    ----------
    source : {"measured", "tested", "unchecked"}
        The exact answer with noise; a guess that was found near it; a guess, which has no interval.
    """

    source: str

    def __str__(self) -> str:
        return f"{super().__str__()}, {self.source}"


class Conversation(Held):
    """Ask counting queries over the cells of some columns, each after you have seen the answers to those before.

    Private multiplicative weights: as long as a public histogram answers well, answers cost nothing; it is corrected
    where it does not. Use it in a `with` block: what it may cost is charged on entering, whatever is asked then.

    A key that was used before holds the same conversation again: its stored answers, as long as the same queries are
    asked in the same order. It cannot be carried on, since only the answers were kept.

    Parameters
    ----------
    data : PrivateData
        The records, behind a curator.
    columns : sequence of str
        Public. Numbers, each cut into equal cells between its bounds, and categories; all their combinations are cells.
    bins : int, or mapping of str to int
        Public. The number of cells of each numeric column.
    epsilon, delta : float
        Public. What the whole conversation may cost.
    updates : int
        Public. The number of answers that may be measured. From then on every answer is a guess without error
        bar. The more there are, the more noise each answer has.
    queries : int
        Public. About how many will be asked: the threshold of the tests is such that noise alone passes it once in this
        many queries.
    confidence : float
        Public. Of each interval.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Guarantee
    ---------
    The event of `MultiplicativeWeights`, for as many queries as anybody likes. Hardt and Rothblum 2010.

    Examples
    --------
    >>> from discreet.schema.schema import Category, Number, Schema
    >>> schema = Schema({"age": Number(0, 80), "sex": Category(("f", "m"))})
    >>> people = PrivateData.of({"age": [30.0] * 9000, "sex": ["f"] * 9000}, schema, Budget(1.0))
    >>> with Conversation(people, ("age", "sex"), bins=4, epsilon=1.0, updates=5) as talk:
    ...     answer = talk.ask({"age": (20, 40), "sex": "f"})
    >>> answer.source, bool(abs(answer.value - 9000) < 300)
    ('measured', True)
    """

    def __init__(
        self,
        data: PrivateData,
        columns: Sequence[str],
        *,
        bins: Bins = BINS,
        epsilon: float = 1.0,
        delta: float = 0.0,
        updates: int = 20,
        queries: int = 1000,
        confidence: float = CONFIDENCE,
        key: str | None = None,
    ) -> None:
        check_confidence("conversation", confidence)
        self.confidence = confidence
        self.domain = Domain.listed(data.schema, columns, bins)
        self._data, self._key = data, key
        self._question = contingency_of(data.schema, self.domain.columns, self.domain.bins)
        universe = Queries(np.zeros(self.domain.size, dtype=np.bool_))
        mechanism = calibrate(MultiplicativeWeights(updates=updates, queries=universe), Budget(epsilon, delta))
        self._radius = self._question.bound.times(data.unit.rows).radius
        threshold = mechanism.tests.margin(1 / max(queries, 2), self._radius)
        self.mechanism = dataclasses.replace(mechanism, threshold=threshold)
        self._permit: Permit | None = None
        self._talk: OnlineQueries | _Stored | None = None

    @exclusive
    def __enter__(self) -> Conversation:
        purpose = f"a conversation on {', '.join(self.domain.columns)}"
        self._permit = self._data.permit(self.mechanism.event, purpose, key=self._key)
        self._permit.__enter__()
        opened: Any = self._permit.ask(self._question, self.mechanism.opening)
        self._talk = opened if isinstance(opened, OnlineQueries) else _Stored(np.asarray(opened))
        return self

    @exclusive
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(self._talk, OnlineQueries):
            np.asarray(self._talk)  # ends it, whoever still holds it
        self._talk = None
        if self._permit is not None:
            self._permit.__exit__(kind, error, trace)

    @property
    def receipt(self) -> Receipt:
        if self._permit is None:
            raise NotPermitted("receipt", "nothing was charged yet", "Enter the conversation first.")
        return self._permit.receipt

    @exclusive
    def ask(self, condition: Condition) -> Answered:
        """About how many records fulfil a condition, as in `Domain.where`."""
        try:
            return self._reply(condition)
        except DiscreetError as error:
            if self._permit is not None:
                error.settle(KEPT)
            raise

    def _reply(self, condition: Condition) -> Answered:
        if self._talk is None:
            raise NotPermitted("query", "the conversation is not open", "Ask inside `with Conversation(...) as talk:`.")
        query, name = Queries(self.domain.where(condition)), _name(condition)
        if isinstance(self._talk, _Stored):
            return self._answered(condition, *self._talk.ask(name))
        reply = self._talk.ask(query, name)
        return self._answered(condition, float(reply.values), int(reply.sources))

    def _answered(self, condition: Condition, value: float, source: int) -> Answered:
        """With the error of Laplace noise, or of the test: a guess that is farther off passes it rarely enough."""
        tests = self.mechanism.tests
        reach = {
            MEASURED: float(self.mechanism.noise.multiplier) * self._radius * math.log(1 / (1 - self.confidence)),
            TESTED: tests.threshold + tests.margin(1 - self.confidence, self._radius),
        }.get(source)
        return Answered(
            name=in_words(condition),
            value=value,
            low=None if reach is None else value - reach,
            high=None if reach is None else value + reach,
            confidence=None if reach is None else self.confidence,
            source=SOURCES[source],
            receipt=self.receipt,
        )


class _Stored:
    """The transcript of a conversation that is over."""

    def __init__(self, transcript: Array) -> None:
        self._rows = iter(transcript[:, 1:].T.tolist())

    def ask(self, name: int) -> tuple[float, int]:
        value, source, stored = next(self._rows, (0.0, 0.0, None))
        if stored != name:
            obstacle = "this conversation was held before, and then something else was asked, or nothing more"
            remedy = "Ask the same queries in the same order, or begin another conversation with another key."
            raise NotPermitted("query", obstacle, remedy, REPLAYED)
        return value, int(source)


def _name(condition: Condition) -> int:
    """A number to know a query again by: 48 bits, which float64 holds."""
    text = json.dumps(condition, sort_keys=True, default=list)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")
