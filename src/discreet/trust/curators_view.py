"""What a curator shows of its records to a question."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.condition import Condition
from discreet.core.errors import NotPermitted
from discreet.core.grid import Array, Steps
from discreet.core.held import unheld
from discreet.core.neighbors import Neighbors
from discreet.core.secret import Secret
from discreet.core.secret_sample import SecretSample
from discreet.noise.bernoulli import bernoulli
from discreet.noise.dealing import dealt
from discreet.noise.uniform import permutation
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Category, Schema
from discreet.trust.exact_sum import exact_sum
from discreet.trust.isolation.isolated import Form, isolated
from discreet.trust.permit import KEPT
from discreet.trust.sources.edge_list import Edges
from discreet.trust.sources.source import Batched, Coins, Source


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
        """Of the records."""
        return self._source.schema

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        """All rows, batch by batch."""
        return self._batched.batches(columns)

    def everything(self, columns: Sequence[str]) -> Array:
        """All rows in one matrix."""
        return self._batched.everything(columns)

    def edges(self) -> Steps:
        """All edges of a graph."""
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
