"""Records in a CSV or Parquet file, read batch by batch through DuckDB."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.errors import MissingExtra, SchemaError
from discreet.core.grid import Array
from discreet.core.neighbors import RECORD, Unit
from discreet.core.schema import Category, Number, Schema, Text
from discreet.trust.sources.decoding import bounded
from discreet.trust.sources.source import BATCH, Batched

NOWHERE = "\x1f"  # separates nothing, so that a line is one field


def engine() -> Any:
    """A DuckDB connection of its own."""
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError as why:
        raise MissingExtra(
            "read a file", "DuckDB and PyArrow are not installed", "Run: pip install 'discreet[duckdb]'."
        ) from why
    return duckdb.connect()


def column_names(path: Path, delimiter: str = ",") -> tuple[str, ...]:
    """The names in a file's header: the only line that is looked at."""
    if not path.is_file():
        raise SchemaError(f"open {path}", "there is no such file", "Check the path.", path=str(path))
    if path.suffix == ".parquet":
        return _parquet_names(path)
    names = tuple(name.strip() for name in next(csv.reader([_first_line(path)], delimiter=delimiter), []))
    if not any(names) or len(set(names)) != len(names):
        raise SchemaError(f"open {path}", "its first line does not name its columns", "Give a header line.")
    return names


def _first_line(path: Path) -> str:
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", errors="replace") as lines:
            return str(lines.readline())
    except (OSError, EOFError, zlib.error) as why:
        raise SchemaError(f"open {path}", f"it cannot be read ({why})", "Check the file.") from why


def _parquet_names(path: Path) -> tuple[str, ...]:
    connection = engine()
    from duckdb import Error

    try:
        return tuple(connection.sql(f"SELECT * FROM read_parquet({_literal(str(path))}) LIMIT 0").columns)
    except Error as why:
        raise SchemaError(f"open {path}", "it cannot be read as Parquet", "Check the file.") from why


class File(Batched):
    """A CSV or Parquet file as a source.

    In a CSV file one line is one record: a quoted field may hold the delimiter, but not the end of a line, and whatever
    stands in a line changes the reading of no other. (A reader that lets a quoted field run on would let one unbalanced
    quote swallow the records after it.)

    Parameters
    ----------
    path : path-like
        The file; .csv, .csv.gz or .parquet. A line that is blank, or no text in UTF-8, is left out.
    schema : Schema
        Public. Columns that it does not describe are never read.
    unit : Unit
        Public. For a user, the rows beyond `unit.rows` and those without a unit are left out.
    delimiter : str
        Public. What separates the fields of a CSV line.
    """

    def __init__(self, path: str | Path, schema: Schema, unit: Unit = RECORD, *, delimiter: str = ",") -> None:
        self._path = Path(path)
        self.schema, self.unit = schema, unit
        names = column_names(self._path, delimiter)
        absent = [name for name in [*schema.columns, unit.column] if name is not None and name not in names]
        if absent:
            raise SchemaError(
                f"open {self._path}", f"it has no column {absent[0]!r}", "Correct the schema.", absent=absent
            )
        self._rows = self._bounded_rows(_table(self._path, names, delimiter))

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        """Matrices of at most `BATCH` rows; see `Batched`."""
        fields = ", ".join(f"{self._decoded(name)} AS c{i}" for i, name in enumerate(columns))
        reader = engine().sql(f"SELECT {fields} FROM {self._rows}").to_arrow_reader(BATCH)
        for batch in reader:
            matrix = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            yield bounded(np.column_stack(matrix).astype(np.float64, copy=False), columns, self.schema)

    def keys(self, column: str) -> Iterator[dict[str, int]]:
        """Rows per value of a text column; see `Source`."""
        query = f"SELECT {_text(column)} AS key, count(*) AS rows FROM {self._rows} GROUP BY key"
        for batch in engine().sql(f"{query} HAVING key IS NOT NULL").to_arrow_reader(BATCH):
            yield dict(zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True))

    def units(self) -> int:
        """The number of units."""
        counted = f"count(DISTINCT {_text(self.unit.column)})" if self.unit.column else "count(*)"
        return int(engine().sql(f"SELECT {counted} FROM {self._rows}").fetchall()[0][0])

    def _decoded(self, name: str) -> str:
        match self.schema.columns[name]:
            case Number():
                return f"TRY_CAST({_name(name)} AS DOUBLE)"
            case Category(values):
                listed = ", ".join(_literal(value.strip()) for value in values)
                return f"CAST(list_position([{listed}], {_text(name)}) - 1 AS DOUBLE)"
            case Text():
                raise SchemaError(f"column {name!r}", "its values are not public", "Use private key selection.")

    def _bounded_rows(self, table: str) -> str:
        """At most `unit.rows` rows of each unit: the ones with the least hash of their content."""
        if not self.unit.column:
            return table
        content = ", ".join(_text(name) for name in self.schema.columns)
        rank = f"row_number() OVER (PARTITION BY {_text(self.unit.column)} ORDER BY hash({content}), {content})"
        return f"(SELECT * FROM {table} WHERE {_text(self.unit.column)} IS NOT NULL QUALIFY {rank} <= {self.unit.rows})"


def _table(path: Path, names: Sequence[str], delimiter: str) -> str:
    if path.suffix == ".parquet":
        return f"read_parquet({_literal(str(path))})"
    lines = (
        f"read_csv({_literal(str(path))}, header=true, auto_detect=false, delim={_literal(NOWHERE)}, quote='', "
        f"escape='', new_line='\\n', columns={{'line': 'VARCHAR'}}, ignore_errors=true, strict_mode=false, "
        f"max_line_size=16777216)"
    )
    mark = re.escape(delimiter)
    field = f'("(?:[^"]|"")*"|[^{mark}]*){mark}'
    ended = f"rtrim(line, chr(13)) || {_literal(delimiter)}"
    written = "trim(line, chr(13) || ' ') <> ''"
    quoted = f"regexp_extract_all({ended}, {_literal(field)}, 1)"
    plain = f"string_split(rtrim(line, chr(13)), {_literal(delimiter)})"
    split = f"CASE WHEN contains(line, '\"') THEN {quoted} ELSE {plain} END"
    fields = f"SELECT {split} AS fields FROM {lines} WHERE {written}"
    columns = ", ".join(f"{_unquoted(i)} AS {_name(name)}" for i, name in enumerate(names, start=1))
    return f"(SELECT {columns} FROM ({fields}))"


def _unquoted(place: int) -> str:
    field = f"trim(fields[{place}])"
    inner = f"replace(substr({field}, 2, length({field}) - 2), '\"\"', '\"')"
    return f"CASE WHEN length({field}) > 1 AND {field} LIKE '\"%\"' THEN {inner} ELSE {field} END"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _text(name: str | None) -> str:
    return f"nullif(trim(CAST({_name(str(name))} AS VARCHAR)), '')"
