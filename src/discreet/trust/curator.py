"""The curator: one trusted party that holds the records and adds the noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.condition import Condition
from discreet.core.errors import NotPermitted
from discreet.core.events import DiscreteLoss, Event
from discreet.core.grid import Array, Steps
from discreet.core.held import Secret, unheld
from discreet.core.mechanism import Mechanism, SecretSample
from discreet.core.neighbors import Neighbors, Unit
from discreet.mechanisms.vectors.sphere_report import promised
from discreet.noise.bernoulli import bernoulli
from discreet.noise.dealing import dealt
from discreet.noise.system_bits import system_bits
from discreet.noise.uniform import permutation
from discreet.questions.mapped import RecordMap
from discreet.questions.question import BoundedSum, Question
from discreet.schema.schema import Category, Schema
from discreet.trust.exact_sum import check_made_up, exact_sum
from discreet.trust.isolation.isolated import Form, isolated
from discreet.trust.permit import KEPT
from discreet.trust.sources.edge_list import Edges
from discreet.trust.sources.several_sums import answers
from discreet.trust.sources.source import Batched, Coins, Source, check_counted
from discreet.trust.sources.spark import SparkFrame

Release = TypeVar("Release")


@unheld("cache")
class CuratorsView(Secret):
    """All records of a source, as `View` says.

    Parameters
    ----------
    source : Source
        The records.
    neighbors : Neighbors
        Public. The relation under which answers make promises.
    bits : Bits
        Where secret choices come from.
    """

    def __init__(self, source: Source, neighbors: Neighbors, bits: Bits) -> None:
        self._source, self.neighbors, self.bits = source, neighbors, bits
        self.unit = source.unit
        self._listing: CuratorsView | None = None

    def sum(self, question: BoundedSum, sample: SecretSample | None = None) -> Steps:
        """The exact sum, in grid steps, over all records or over a fresh secret sample of the units."""
        if sample is None:
            return self._source.sum(question)
        source = self._batched
        return exact_sum(question, source.chosen(question.columns, self._coins(sample, source)))

    def sums(self, questions: Sequence[BoundedSum]) -> list[Steps]:
        """Several exact sums over all records, which may share a reading of them."""
        return self._source.sums(questions)

    def _coins(self, sample: SecretSample, source: Batched) -> Coins:
        """Whether each of the next n rows is in the sample, for rows that are units."""
        if sample.scheme == "poisson":
            return lambda n: bernoulli(self.bits, n, sample.rate)
        units = source.units()
        drawn = np.zeros(units, dtype=np.bool_)
        drawn[permutation(self.bits, units)[: math.floor(Fraction(sample.rate) * units)]] = True
        return _Slices(drawn).next

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        """Rows per value of a text column, batch by batch; of those alone that fulfil a condition."""
        return self._source.keys(column, condition)

    def listing(self, lists: Mapping[str, Category]) -> CuratorsView:
        """The same records, with columns of text that are read as categories of these values; the last stay open."""
        schema, reopened = self._source.schema.listing(lists), self._source.reopened
        assert reopened is not None  # `PrivateData.check_listing` was asked before anything was charged
        found = self._listing  # read once: another thread may put its own there at any time
        if found is None or found.schema != schema:
            found = self._listing = CuratorsView(reopened(schema), self.neighbors, self.bits)
        return found

    @property
    def schema(self) -> Schema:
        return self._source.schema

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        return self._batched.batches(columns)

    def everything(self, columns: Sequence[str]) -> Array:
        return self._batched.everything(columns)

    def edges(self) -> Steps:
        if not isinstance(self._source, Edges):
            obstacle = f"{type(self._source).__name__} is a table and no graph"
            raise NotPermitted("a whole graph", obstacle, "Open the edges with discreet.graphs.graph_data.", KEPT)
        return self._source.edges()

    def units_by_rows(self, most: int) -> Steps:
        """How many units have 1, 2, ... rows, of units that are pooled; the last number is of `most` rows or more."""
        return self._source.units_by_rows(most)

    def dealt(self, records: Array, blocks: int) -> list[Array]:
        """Records in secret random blocks, each record by itself."""
        return [records[block] for block in dealt(self.bits, len(records), blocks)]

    def isolated(
        self, of: Callable[[Array], Any], blocks: Sequence[Array], size: int, seconds: float, form: str
    ) -> list[Array | None]:
        """What an untrusted function returns for each block of records, in a process of its own."""
        return isolated(of, blocks, size, seconds, cast(Form, form))

    def mapped(self, by: RecordMap) -> Array:
        """All rows that an untrusted function makes of the records: where they are, or here."""
        if isinstance(self._source, SparkFrame):
            return self._source.mapped(by)
        return by.of(self.everything(by.reads), self.isolated)

    @property
    def _batched(self) -> Batched:
        if not isinstance(self._source, Batched):
            raise NotPermitted(
                "all records",
                f"{type(self._source).__name__} adds up where the records are and hands none over",
                "Ask for a sum, or read the records from a file or a data frame.",
                KEPT,
            )
        return self._source


class _Slices:
    """An array, some numbers at a time."""

    def __init__(self, numbers: NDArray[np.bool_]) -> None:
        self._rest = numbers

    def next(self, count: int) -> NDArray[np.bool_]:
        """The following ones."""
        found, self._rest = self._rest[:count], self._rest[count:]
        return found


class Curator(Secret):
    """Asks the records, keeps the exact answer to itself, and lets the mechanism release.

    Parameters
    ----------
    source : Source
        The records.
    neighbors : Neighbors
        Public. The relation under which this data set makes promises. Where it makes the number of records public, a
        source that may choose rows by what they hold is refused.
    bits : Bits, optional
        Where noise comes from; the operating system's where not given. Anything that could be replayed marks every
        receipt as not private.
    """

    def __init__(
        self, source: Source, neighbors: Neighbors = Neighbors.ADD_REMOVE, *, bits: Bits | None = None
    ) -> None:
        if self.tells_number:
            check_counted(source, neighbors)
        self._source = source
        self.neighbors = neighbors
        self._bits = system_bits() if bits is None else bits
        self.secret: bool = self._bits.secret
        self._view = CuratorsView(source, neighbors, self._bits)
        self.schema = source.schema
        self.unit = source.unit

    @property
    def source(self) -> Source:
        """The records, for a curator of rows that are made of them."""
        return self._source

    @property
    def bits(self) -> Bits:
        """Where noise comes from."""
        return self._bits

    tells_number = True
    """Whether the number of units is given out where the relation makes it public."""
    reports: float = 1
    local = False
    asks_again = True
    """Whether a question that failed while records were read released nothing to anybody, and may be asked again."""
    answers_together = True
    """Whether several questions may share a reading of the records."""

    def check_ready(self) -> None:
        """Refuse, before anything is charged, records that cannot be read now; see `Source`."""
        self._source.check_ready()

    @property
    def curated(self) -> bool:
        """Whether all records can be handed to a mechanism: by a source that does not only add up, for bounded rows."""
        return isinstance(self._source, Batched) and not self.unit.pooled

    @property
    def maps(self) -> bool:
        """Whether an untrusted function can be given each record: here, or by those who hold a part of them."""
        return isinstance(self._source, Batched | SparkFrame) and not self.unit.pooled

    @property
    def shows_all_rows(self) -> bool:
        """Whether all rows of all units are at hand: they are pooled, and none is left out."""
        return self.unit.pooled

    @property
    def rereads(self) -> bool:
        """Whether the records can be read again by a schema that lists the values of more columns."""
        return self.curated and self._source.reopened is not None

    def listing(self, lists: Mapping[str, Category]) -> Curator:
        """The same records, with columns of text that are read as categories of these values."""
        assert self._source.reopened is not None
        return Curator(self._source.reopened(self.schema.listing(lists)), self.neighbors, bits=self._bits)

    @property
    def units(self) -> int | None:
        """The number of units; the data set gives it out only where its relation makes it public."""
        return self._source.units()

    def keeps(self, event: Event) -> bool:
        """Every promise about a sum, since the curator holds the exact answer; not those about one person's report."""
        return not (isinstance(event, DiscreteLoss) and promised(event))

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """The mechanism's release of the exact answer.

        A function of the asker's own is tried on made-up records first. Where it fails on one of the records, that
        record adds nothing, and no error shows it.
        """
        put = self._put(question)
        return mechanism.release(put.answer(self._view), self._bits)

    def ask_each(self, asked: Sequence[tuple[Question, Mechanism[Any]]]) -> list[Any]:
        """The mechanisms' releases of several exact answers, of which sums may share a reading of the records."""
        found = answers(self._view, [self._put(question) for question, _ in asked])
        return [mechanism.release(answer, self._bits) for (_, mechanism), answer in zip(asked, found, strict=True)]

    def _put(self, question: Question) -> Question:
        """A question as it is put to the records: refused, where it fails on those that are made up."""
        if isinstance(question, BoundedSum) and question.recipe is None:
            check_made_up(question, self.schema)
        return question

    def __repr__(self) -> str:
        return f"Curator({type(self._source).__name__}, {self.neighbors})"


class ViewCurator(Secret):
    """A curator of records that are no table: tensors, an attribute, positions. It shows a question its own view.

    Parameters
    ----------
    view : object with neighbors, unit and bits
        All that a question is shown.
    """

    def __init__(self, view: Any) -> None:
        self._view = view
        self.neighbors: Neighbors = view.neighbors
        self.unit: Unit = view.unit

    @property
    def secret(self) -> bool:
        """Whether samples and noise are from secret bits."""
        secret: bool = self._view.bits.secret
        return secret

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """The mechanism's release of the exact answer."""
        return mechanism.release(question.answer(self._view), self._view.bits)

    def __repr__(self) -> str:
        return f"ViewCurator({type(self._view).__name__}, {self.neighbors})"
