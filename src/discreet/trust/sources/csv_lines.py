"""CSV files where one line is one record, read by DuckDB: no line changes the reading of another.

A quoted field may hold the delimiter, but not the end of a line. (A reader that lets a quoted field run on would let
one unbalanced quote swallow the records after it.) A line that is blank, or no text in UTF-8, is left out.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.errors import SchemaError
from discreet.trust.sources import source
from discreet.trust.sources.decoding import BLANKS
from discreet.trust.sources.engine import engine, file_literal, literal

NOWHERE = "\x1f"  # separates nothing, so that a line is one field
LONGEST = 2**24  # bytes in a line


def csv_header(path: Path, delimiter: str) -> tuple[str, ...]:
    """The names in a file's first line: the only one that is looked at."""
    names = tuple(name.strip() for name in next(csv.reader([_first_line(path)], delimiter=delimiter), []))
    if not any(names) or len(set(names)) != len(names):
        raise SchemaError(f"open {path}", "its first line does not name its columns", "Give a header line.")
    return names


def _first_line(path: Path) -> str:
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", errors="replace") as lines:
            return str(lines.readline(LONGEST))
    except (OSError, EOFError, zlib.error) as why:
        raise SchemaError(f"open {path}", f"it cannot be read ({why})", "Check the file.") from why


@dataclass(frozen=True)
class Field:
    """A field of a line: its place, and whether it is read as a number or as text."""

    place: int
    numeric: bool

    @property
    def sql(self) -> str:
        """Its value, without quotes around it. DuckDB casts the numbers that `decoding` reads, and `+-1` besides."""
        raw = f"fields[{self.place + 1}]"
        field = f"trim({raw}, {literal(BLANKS)})"
        inner = f"replace(substr({field}, 2, length({field}) - 2), '\"\"', '\"')"
        unquoted = f"CASE WHEN length({field}) > 1 AND {field} LIKE '\"%\"' THEN {inner} ELSE {field} END"
        text = f"CASE WHEN contains({raw}, '\"') THEN {unquoted} ELSE {raw} END"
        number = f"TRY_CAST(CASE WHEN contains({raw}, '+-') THEN NULL ELSE {text} END AS DOUBLE)"
        return number if self.numeric else text


def csv_batches(paths: Sequence[Path], fields: Sequence[Field], delimiter: str) -> Iterator[Any]:
    """Arrow record batches with these fields of each line.

    Parameters
    ----------
    paths : sequence of Path
        The files, all with the same header.
    fields : sequence of Field
        Public. What is read.
    delimiter : str
        Public. What separates the fields.
    """
    columns = ", ".join(f"{field.sql} AS c{i}" for i, field in enumerate(fields))
    connection = engine()
    yield from connection.sql(f"SELECT {columns} FROM ({_split(paths, delimiter)})").to_arrow_reader(source.BATCH)


def _split(paths: Sequence[Path], delimiter: str) -> str:
    """A query for the fields of every line, quotes and all."""
    files = ", ".join(map(file_literal, paths))
    lines = (
        f"read_csv([{files}], header=true, auto_detect=false, delim={literal(NOWHERE)}, quote='', escape='', "
        f"new_line='\\n', columns={{'line': 'VARCHAR'}}, ignore_errors=true, strict_mode=false, "
        f"max_line_size={LONGEST})"
    )
    mark = re.escape(delimiter)
    field = f'("(?:[^"]|"")*"|[^{mark}]*){mark}'
    ended = f"rtrim(line, chr(13)) || {literal(delimiter)}"
    quoted = f"regexp_extract_all({ended}, {literal(field)}, 1)"
    plain = f"string_split(rtrim(line, chr(13)), {literal(delimiter)})"
    split = f"CASE WHEN contains(line, '\"') THEN {quoted} ELSE {plain} END"
    return f"SELECT {split} AS fields FROM {lines} WHERE trim(line, chr(13) || ' ') <> ''"
