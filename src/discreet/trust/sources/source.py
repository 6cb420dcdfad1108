"""What every source of records offers: exact sums, in bounded memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.condition import Condition
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array, Steps
from discreet.core.held import Secret
from discreet.core.inherited_docs import inherit_docs
from discreet.core.neighbors import Neighbors, Unit
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Schema
from discreet.trust.exact_sum import exact_sum

BATCH = 2**16  # rows
NUMBERS = 2**18  # what a batch of several columns holds: a few of them are in memory at a time
Coins = Callable[[int], NDArray[np.bool_]]


def batch_rows(columns: int) -> int:
    """The rows of a batch with so many columns.

    Examples
    --------
    >>> batch_rows(1), batch_rows(100)
    (65536, 2621)
    """
    return max(1, min(BATCH, NUMBERS // max(1, columns)))


def sliced(batches: Iterable[Any]) -> Iterator[Any]:
    """Arrow record batches of at most `BATCH` rows; nothing is copied."""
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH):
            yield batch.slice(start, BATCH)


def check_counted(source: Source, neighbors: Neighbors) -> None:
    """Refuse records whose number would be public, and may depend on what they hold."""
    if neighbors is Neighbors.REPLACE and source.unit.is_row and not source.counted:
        raise ParameterError(
            f"{neighbors.value} neighbors",
            f"they make the number of records public, and a {type(source).__name__} may choose rows by what they hold",
            "Put all rows into a file, a data frame or a plain table of a database, or take add_remove neighbors.",
        )


class Source(Secret, ABC):
    """Records behind a schema, read again for every question.

    At most `unit.rows` rows of each unit; or all of them, where units are pooled, for sums that `pooled_sum` bounds.

    Parameters
    ----------
    schema : Schema
        Public. Columns that it does not describe are never read.
    unit : Unit
        Public. Rows without a unit are left out, and those beyond `unit.rows` unless units are pooled.
    """

    schema: Schema
    unit: Unit
    counted: bool = False
    """Whether every record is a row whatever it holds, so that the number of rows says nothing about their content."""
    reopened: Callable[[Schema], Source] | None = None
    """Gives the same records under another schema, if they can be read by one."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        inherit_docs(cls, Source)

    def check_ready(self) -> None:
        """Refuse records that cannot be read now, and make ready what can be: asked before anything is charged."""

    def copy_into(self, connection: Any, table: str) -> None:
        """Make a table of all records on this connection of DuckDB, decoded; no row of any unit is left out.

        `u` is the name of a record's unit, or its place where every record is one; the columns are c0, c1, ...
        """
        raise NotPermitted(
            "related tables",
            f"a {type(self).__name__} hands no rows over",
            "Give a data frame, a file, a DuckDB relation or a query.",
        )

    def query_for(self, connection: Any) -> str | None:
        """The same rows as a query that this connection of DuckDB can run; None where they must be copied."""
        return None

    @abstractmethod
    def sum(self, question: BoundedSum) -> Steps:
        """The exact sum, in grid steps, added up where the records are."""

    def sums(self, questions: Sequence[BoundedSum]) -> list[Steps]:
        """Several of them, which may share a reading of the records."""
        return [self.sum(question) for question in questions]

    @abstractmethod
    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        """Rows per value of a text column, batch by batch; of those alone that fulfil a condition."""

    @abstractmethod
    def units(self) -> int:
        """The number of units: public under replace neighbors only."""

    def units_by_rows(self, most: int) -> Steps:
        """How many units have 1, 2, ... rows, of units that are pooled; the last number is of `most` rows or more."""
        raise NotImplementedError(f"a {type(self).__name__} has no pooled units")


class Batched(Source):
    """A source that hands its records over batch by batch, and adds up here."""

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        """Matrices of at most `BATCH` rows with these columns, in this order.

        A number is itself, moved inside its bounds, and nan where it is missing or cannot be read. A category is its
        place in the schema's list, and nan where it is not listed. Nothing about a record's content raises.
        """

    def chosen(self, columns: Sequence[str], coins: Coins) -> Iterator[Array]:
        """Some of the rows, as in `batches`: those for which coins, tossed in the order of the rows, show True."""
        for batch in self.batches(columns):
            yield batch[coins(len(batch))]

    def everything(self, columns: Sequence[str]) -> Array:
        """All rows in one matrix, as in `batches`."""
        return np.concatenate([np.empty((0, len(columns))), *self.batches(columns)])

    def sum(self, question: BoundedSum) -> Steps:
        return exact_sum(question, self.batches(question.columns))
