"""CSV files: read block by block, in bounded memory, so that no record changes the reading of another."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any, get_args

from discreet.core.errors import ParameterError, SchemaError
from discreet.trust.sources import csv_fields
from discreet.trust.sources.columns.arrow_column import arrow
from discreet.trust.sources.csv_fields import Dialect, Fields, fields_of

BLOCK = 2**21  # bytes
MARK = b"\xef\xbb\xbf"  # a byte order mark


@dataclass(frozen=True)
class CsvForm:
    """How a CSV file is written."""

    delimiter: str = ","  # public: the character of ASCII that separates fields
    dialect: Dialect = "rfc4180"  # public: how records are separated

    def __post_init__(self) -> None:
        if len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '"\r\n':
            remedy = "Give one character of ASCII, such as , or ; or a tab."
            raise ParameterError("CSV", f"its delimiter is {self.delimiter!r}", remedy)
        if self.dialect not in get_args(Dialect):
            raise ParameterError("CSV", f"its dialect is {self.dialect!r}", f"Give one of {get_args(Dialect)}.")

    def fields(self, data: bytes) -> Fields:
        """The fields of all records that end in these bytes."""
        return fields_of(data, ord(self.delimiter), self.dialect)


RFC4180 = CsvForm()


def csv_header(path: Path, form: CsvForm) -> tuple[str, ...]:
    """The names in a file's first record: the only one that is looked at."""
    try:
        first = next(_records(path, form), None)
    except (OSError, EOFError, zlib.error) as why:
        raise SchemaError(f"open {path}", f"it cannot be read ({why})", "Check the file.") from why
    found = [] if first is None else first.values[: first.width[0]].to_pylist()
    names = tuple(name[:-1].decode(errors="replace").strip() for name in found)
    if not any(names) or len(set(names)) != len(names):
        raise SchemaError(f"open {path}", "its first line does not name its columns", "Give a header line.")
    return names


def csv_batches(paths: Sequence[Path], places: Sequence[int], form: CsvForm) -> Iterator[Any]:
    """Arrow record batches with the fields at these places of each record, as bytes.

    Parameters
    ----------
    paths : sequence of Path
        The files, all with the same header.
    places : sequence of int
        Public. What is read: columns of the header, the first of which is 0.
    form : CsvForm
        Public. How the files are written.
    """
    names = [f"c{i}" for i in range(len(places))]
    for path in paths:
        for headers, found in zip(chain([1], repeat(0)), _records(path, form), strict=False):
            columns = [found.after(headers).column(place) for place in places]
            yield arrow().record_batch(columns, names=names)


def _records(path: Path, form: CsvForm) -> Iterator[Fields]:
    """All records, the header among them, some at a time; what is left at the end is one more."""
    rest, long = b"", 0
    opened: Any = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        if file.peek(len(MARK)).startswith(MARK):
            file.read(len(MARK))
        while more := file.read(max(BLOCK, len(rest))):
            data = rest + more
            found = form.fields(data)
            rest = data[found.read :]
            if found.read:
                yield found.blanked(long)
                long = 0
            if len(rest) > csv_fields.LONGEST:
                rest, long = found.rest, 1
    if rest:
        found = form.fields(rest + b"\n")
        yield (found if found.read else form.fields(rest + b'"\n')).blanked(long)
