"""Records that come as Arrow record batches, again for every question, never all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.core.neighbors import RECORD, Unit
from discreet.core.schema import Schema
from discreet.trust.sources import source
from discreet.trust.sources.arrow_column import matrix, texts
from discreet.trust.sources.decoding import known
from discreet.trust.sources.kept import Kept
from discreet.trust.sources.source import Batched

Read = Callable[[Sequence[str]], Iterable[Any]]
"""Names of columns in, Arrow record batches with these columns out."""


Result = TypeVar("Result")


class Stream(Batched):
    """Arrow record batches as a source.

    What a unit keeps is set aside when the source is opened; without units every question reads the records again.

    Parameters
    ----------
    asked : str
        What is read, for errors.
    read : callable
        Names of columns in, Arrow record batches with these columns in this order out; the same records each time.
    schema : Schema
        Public. Columns that it does not describe are never read.
    unit : Unit
        Public. For a user, the rows beyond `unit.rows` and those without a unit are left out.
    """

    def __init__(self, asked: str, read: Read, schema: Schema, unit: Unit = RECORD) -> None:
        self.schema, self.unit = schema, unit
        self._asked, self._read = asked, read
        self._kept: Kept | None = None
        if unit.column is not None:
            records = self._records([unit.column, *schema.columns])
            self._kept = shielded(asked, lambda: Kept(records, schema, unit))
            self._read = self._kept.read

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        """Matrices of at most `BATCH` rows; see `Batched`."""
        for name in columns:
            known(self.schema, name)
        for batch in self._records(columns or list(self.schema.columns)[:1]):
            yield matrix(batch, columns, self.schema)

    def keys(self, column: str) -> Iterator[dict[str, int]]:
        """Rows per value of a text column; see `Source`."""
        for batch in self._records([column]):
            counts = texts(batch.column(0)).drop_null().value_counts()
            yield {count["values"]: count["counts"] for count in counts.to_pylist()}

    def units(self) -> int:
        """The number of units."""
        if self._kept is not None:
            return self._kept.units()
        return sum(int(batch.num_rows) for batch in self._records(list(self.schema.columns)[:1]))

    def _records(self, names: Sequence[str]) -> Iterator[Any]:
        """Batches of bounded size; an engine's errors are `shielded`."""
        try:
            yield from sliced(self._read(names))
            return
        except DiscreetError:
            raise
        except Exception as why:
            error = withheld(self._asked, why)
        raise error


def sliced(batches: Iterable[Any]) -> Iterator[Any]:
    """Record batches of at most `BATCH` rows; nothing is copied."""
    for batch in batches:
        for start in range(0, batch.num_rows, source.BATCH):
            yield batch.slice(start, source.BATCH)


def shielded(asked: str, action: Callable[[], Result]) -> Result:
    """What an engine gives; its own error may quote a record, and is not passed on, nor kept as a context."""
    try:
        return action()
    except DiscreetError:
        raise
    except Exception as why:
        error = withheld(asked, why)
    raise error


def withheld(asked: str, why: Exception) -> DiscreetError:
    """An engine's error without its words."""
    return DiscreetError(
        asked,
        f"its engine failed while it read the records ({type(why).__name__}; its words may quote one and are withheld)",
        "Read it without this library to see why.",
        "Nothing was released.",
    )
