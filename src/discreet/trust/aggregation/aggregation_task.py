"""What devices and aggregators agree on before anything is reported."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import ClassVar

import numpy as np

from discreet.core.answer import Answer
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Event, written
from discreet.core.grid import Array
from discreet.core.mechanism import Share
from discreet.core.neighbors import Neighbors
from discreet.crypto.fields.prime_field import Bytes
from discreet.crypto.messages import framed
from discreet.crypto.prio3.circuit import Circuit, Integers
from discreet.crypto.prio3.circuits import CountCircuit, SumCircuit, multiproof
from discreet.crypto.prio3.direct_histogram import DirectHistogramCircuit
from discreet.crypto.prio3.prio3 import Prio3
from discreet.mechanisms.additive.share_of import share_of
from discreet.questions.named import question_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import Recipe
from discreet.schema.plain_column import plain_column
from discreet.schema.schema import Schema
from discreet.trust.call import built
from discreet.trust.exact_sum import contributions

NEIGHBORS = Neighbors.REPLACE
MOST_ELEMENTS = 2**18  # of the field, in a report


@dataclass(frozen=True)
class AggregationTask:
    """One question to devices, the noise that each aggregator adds, and the one batch that is opened.

    Everybody builds the question from its recipe. A report is made for one task, and its proof fails in any other.

    Parameters
    ----------
    name : str
        Public. Which no other task has.
    recipe : Recipe
        Public. The question.
    event : Event
        Public. What each aggregator's noise alone promises to every device.
    schema : Schema
        Public. Of the devices' records, of which each has one.
    aggregators : int
        Public. How many there are, from 2 to 5.
    least : int
        Public. The fewest reports that are opened.
    packages : sequence of str
        Public. Whose recipes are used.

    Examples
    --------
    >>> from discreet.core.events import LaplaceLoss
    >>> count = Recipe("count", {"column": "x0"})
    >>> AggregationTask("1", count, LaplaceLoss(1.0), Schema.numeric(0.0, 1.0, 1)).circuit.measured
    1
    """

    name: str
    recipe: Recipe
    event: Event
    schema: Schema
    aggregators: int = 2
    least: int = 100
    packages: Sequence[str] = ("discreet",)

    scheme: ClassVar[type[Prio3]] = Prio3

    def __post_init__(self) -> None:
        if self.least < 1:
            raise ParameterError("task", f"the least batch has {self.least} reports", "Let it have one, or many.")

    @cached_property
    def share(self) -> Share:
        """What each aggregator adds: all of the noise, since only one of them is sure to be honest."""
        return share_of(self.event, 1)

    @cached_property
    def question(self) -> BoundedSum:
        """What each device contributes to; on a coarser grid, where its steps would be far below the noise."""
        question = question_of(self.recipe, self.schema, tuple(self.packages))
        while (coarse := self.share.prepared(_empty(question)).grid).exponent > question.grid.exponent:
            question = dataclasses.replace(question, grid=coarse, total=None)
        return question

    @cached_property
    def blank(self) -> Answer:
        """An empty sum, on the grid of contributions."""
        return _empty(self.question)

    @cached_property
    def empty(self) -> Answer:
        """An empty sum, on the grid that noise is drawn on: as fine as that of contributions, or finer."""
        return self.share.prepared(self.blank)

    @cached_property
    def digest(self) -> bytes:
        """All that is agreed on, in 32 bytes: no report of one task is of use in another."""
        numbers = json.dumps([self.name, self.aggregators, self.least]).encode()
        columns = json.dumps([[name, *plain_column(kind)] for name, kind in sorted(self.schema.columns.items())])
        question = built(self.question, self.empty).encode()
        asked = (self.recipe.written().encode(), written(self.event).encode())
        return sha256(framed(numbers, *asked, columns.encode(), question)).digest()

    @cached_property
    def reach(self) -> int:
        """The farthest that one coordinate of a contribution is from zero, in steps."""
        bound = self.question.bound
        return math.floor(math.ldexp(bound.radius * bound.rounding(self.question.size), -self.question.grid.exponent))

    @property
    def offset(self) -> int:
        """What is added to each coordinate, so that none is negative."""
        return 0 if self.question.bound.nonnegative else self.reach

    @cached_property
    def circuit(self) -> Circuit:
        """What a report proves: each number in range, and at most one of them one where the bound says so."""
        size, most = self.question.size, self.reach + self.offset
        bits = most.bit_length()
        if most < 1 or bits > 61 or size * bits > MOST_ELEMENTS:
            raise NotPermitted(
                self.recipe.name,
                f"a report would have {size} numbers of {bits} bits, and {MOST_ELEMENTS} bits can be proved",
                "Ask organisations instead of devices (SecureSum), or for fewer numbers.",
            )
        if self.one_cell:
            return CountCircuit() if size == 1 else DirectHistogramCircuit(length=size + 1)
        return SumCircuit(most=most) if size == 1 else multiproof(size, most)

    @property
    def one_cell(self) -> bool:
        """Whether a contribution is a single one, or nothing."""
        bound = self.question.bound
        return bound.norm == "l1" and self.reach == 1 and self.offset == 0

    @cached_property
    def vdaf(self) -> Prio3:
        """Prio3 for this task alone."""
        return self.scheme(self.circuit, self.aggregators, b"discreet aggregation 1" + self.digest)

    @property
    def refined(self) -> int:
        """By how many bits the grid of the noise is finer than that of contributions."""
        return self.question.grid.exponent - self.empty.grid.exponent

    @property
    def most(self) -> int:
        """The most reports whose sum, with its noise, is sure not to wrap around."""
        return self.circuit.field.prime // 4 // ((self.reach + self.offset) << self.refined)

    def measurements(self, records: Array) -> Integers:
        """What devices measure, one row of records each; whatever a record holds, it is in range."""
        steps = contributions(self.question, records).astype(np.int64)
        inside = np.clip(steps, -self.offset, self.reach) + self.offset
        if inside.shape[1] == 1:
            return inside[:, 0]
        if not self.one_cell:
            return inside
        return np.where(inside.any(axis=1), inside.argmax(axis=1), inside.shape[1])  # the last cell: nothing

    def noisy(self, share: Bytes, noise: Integers) -> Bytes:
        """An aggregator's share of the sum, on the grid of the noise and with its noise; nothing else of it leaves."""
        field = self.circuit.field.plain
        exact = field.integers(field.decoded(share))[: self.question.size]
        fine = [(one << self.refined) + int(two) for one, two in zip(exact, noise, strict=True)]
        return field.encoded(field.elements(fine))

    def opened(self, shares: Sequence[Bytes], reports: int) -> Array:
        """The noisy sum, from the noisy shares of all aggregators."""
        field = self.circuit.field.plain
        total = field.reduced(np.add.reduce([field.decoded(one) for one in shares]))
        lifted = field.elements([reports * self.offset << self.refined])
        middle = field.prime // 2
        steps = [(one + middle) % field.prime - middle for one in field.integers(total - lifted)]
        return self.empty.grid.values(np.array(steps, dtype=np.int64))


def _empty(question: BoundedSum) -> Answer:
    return Answer(np.zeros(question.size, dtype=np.int64), question.grid, question.bound, NEIGHBORS)
