"""Records in CSV or Parquet files, read batch by batch."""

from __future__ import annotations

import glob
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from discreet.core.errors import MissingExtra, SchemaError
from discreet.core.held import unheld
from discreet.core.neighbors import RECORD, Unit
from discreet.schema.schema import Schema
from discreet.trust.sources import source
from discreet.trust.sources.columns.arrow_column import arrow, check_types
from discreet.trust.sources.columns.sql_column import decoded_columns
from discreet.trust.sources.csv_fields import Dialect
from discreet.trust.sources.csv_file import RFC4180, CsvForm, csv_batches, csv_header
from discreet.trust.sources.decoded_table import DecodedTable
from discreet.trust.sources.engine import check_engine, engine, file_literal, name
from discreet.trust.sources.header import check_header, read_columns
from discreet.trust.sources.kept_rows import named_columns
from discreet.trust.sources.shielded import check_reachable, shielded
from discreet.trust.sources.stream import Stream

Batch = TypeVar("Batch")

AHEAD = 4  # batches: the first of a row group takes as long as several others
ENDINGS = (".csv", ".csv.gz", ".parquet")


def ahead(batches: Iterable[Batch]) -> Iterator[Batch]:
    """The same batches in the same order, none of them None; `AHEAD` of them are read in advance.

    Examples
    --------
    >>> list(ahead(range(3)))
    [0, 1, 2]
    """
    source, reader = iter(batches), ThreadPoolExecutor(1)
    try:
        coming = deque(reader.submit(next, source, None) for _ in range(AHEAD))
        while (batch := coming.popleft().result()) is not None:
            coming.append(reader.submit(next, source, None))
            yield batch
    finally:
        reader.shutdown(cancel_futures=True)


def is_parquet(file: Path) -> bool:
    """Whether a file is read as Parquet: by its name."""
    return file.suffix == ".parquet"


def parquet_schema(file: Path) -> Any:
    """The names and types of a file's columns, as Arrow has them; a file that has none is refused."""
    try:
        return _schema(file)
    except (arrow().ArrowException, OSError) as why:
        raise SchemaError(f"open {file}", "it cannot be read as Parquet", "Check the file.") from why


def parquet_batches(files: Sequence[Path], names: Sequence[str]) -> Iterator[Any]:
    """Arrow record batches with these columns, in this order."""
    rows = source.batch_rows(len(names))
    for file in files:
        with _opened(file) as opened:
            for batch in opened.iter_batches(rows, columns=list(dict.fromkeys(names)), use_threads=False):
                yield batch.select(list(names))


def parquet_query(connection: Any, files: Sequence[Path], schema: Schema, unit: Unit) -> str | None:
    """All records, decoded, in SQL; see `sql_column`. None where Arrow must read them.

    Files whose types differ, and names that DuckDB takes for one, are left to Arrow.
    """
    fields = [_schema(file) for file in files]
    together = {column.casefold() for column in fields[0].names}
    if len(together) < len(fields[0].names) or not all(field.equals(fields[0]) for field in fields):
        return None
    wanted = read_columns(schema, unit)
    records = f"read_parquet([{', '.join(map(file_literal, files))}], hive_partitioning=false)"
    read = connection.sql(f"SELECT {', '.join(map(name, wanted))} FROM {records}")
    arrow_types = {column: str(fields[0].field(column).type) for column in wanted}
    columns = decoded_columns(schema, unit, arrow_types, dict(zip(wanted, map(str, read.types), strict=True)))
    return None if columns is None else f"SELECT {columns} FROM {records}"


def _schema(file: Path) -> Any:
    with _opened(file) as opened:
        return opened.schema_arrow


def _opened(file: Path) -> Any:
    arrow()
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(file, pre_buffer=False)


@unheld("cache")
class File(Stream):
    """A CSV or Parquet file as a source, or a folder of such files.

    Every record of a CSV file is one row, whatever stands in it: what cannot be read is missing. A record longer
    than 16 MiB has no values; a blank line is a record.

    Parameters
    ----------
    path : path-like
        A file: Parquet where its name ends so, else CSV (gzipped where it ends in .gz). Or a folder: all its .csv,
        .csv.gz or .parquet files. Or a pattern such as `visits/2024-*.parquet`. Several files must have the same
        header, and all be CSV or all Parquet.
    delimiter : str
        Public. The character that separates the fields of a CSV record.
    dialect : {"rfc4180", "lines"}
        Public. How the records of a CSV file are separated. Under `rfc4180` a quoted field may hold line ends: right
        for files of Python, pandas, Excel, PostgreSQL and others who quote what needs it and double quotes inside.
        Under `lines` every line is a record: right for logs and whatever was joined without quoting, where one quote
        would otherwise swallow the records after it.
    """

    counted = True
    early = False

    def __init__(
        self,
        path: str | Path,
        schema: Schema,
        unit: Unit = RECORD,
        *,
        delimiter: str = ",",
        dialect: Dialect = "rfc4180",
    ) -> None:
        asked, self._files, self._form = f"open {path}", files_at(path), CsvForm(delimiter, dialect)
        self._header = column_names(path, self._form)
        check_header(asked, self._header, schema, unit)
        kinds = [parquet_schema(file) for file in self._files if is_parquet(file)]
        for types in kinds:
            check_types(asked, {name: types.field(name).type for name in read_columns(schema, unit)}, schema)
        unit_types = {types.field(unit.column).type for types in kinds if unit.column is not None}
        if unit.column is not None:
            check_engine()
        self._engine: Any = None
        self._opening = threading.Lock()
        super().__init__(
            asked, self._batches, schema, unit, unit_type=unit_types.pop() if len(unit_types) == 1 else None
        )
        form: dict[str, Any] = {"delimiter": delimiter, "dialect": dialect}
        self.reopened = lambda other: shielded("read the records again", lambda: File(path, other, unit, **form))

    def _decoded_table(self) -> DecodedTable | None:
        try:
            with self._opening:
                connection = self._engine = self._engine or engine()
        except MissingExtra:
            return None  # Arrow reads Parquet without it
        query = shielded(self._asked, lambda: self._query(connection.cursor()))
        return None if query is None else DecodedTable(self._asked, lambda: connection.cursor().sql(query), self.schema)

    def check_ready(self) -> None:
        if self._bounded is None:
            check_reachable(self._asked, self._look, "Put the files back, or open what is there now.")
            _ = self._kept

    def _look(self) -> None:
        for file in self._files:
            file.open("rb").close()

    def query_for(self, connection: Any) -> str | None:

        def written() -> str | None:
            query = self._query(connection)
            if query is None:
                return None
            return f"SELECT {named_columns(connection.sql(query), self.schema, self.unit)} FROM ({query})"

        return shielded(self._asked, written)

    def _decoded(self, connection: Any) -> Any:
        query = self._query(connection)
        return super()._decoded(connection) if query is None else connection.sql(query)

    def _query(self, connection: Any) -> str | None:
        if not is_parquet(self._files[0]):
            return None
        return parquet_query(connection, self._files, self.schema, self.unit)

    def _batches(self, names: Sequence[str]) -> Iterator[Any]:
        if is_parquet(self._files[0]):
            return ahead(parquet_batches(self._files, names))
        return ahead(csv_batches(self._files, [self._header.index(name) for name in names], self._form))


def files_at(path: str | Path) -> tuple[Path, ...]:
    """The files that a path, a folder or a pattern stands for, in order of their names."""
    place = Path(path)
    if place.is_file():
        return (place,)
    if place.is_dir():
        found = [file for file in sorted(place.iterdir()) if file.name.endswith(ENDINGS) and file.is_file()]
    else:
        found = [Path(name) for name in sorted(glob.glob(str(path), recursive=True)) if Path(name).is_file()]
    if not found:
        raise SchemaError(f"open {path}", "there is no such file", "Check the path.", path=str(path))
    return tuple(found)


def column_names(path: str | Path, form: CsvForm = RFC4180) -> tuple[str, ...]:
    """The names in the header of a file, or of all files in a folder: the only record that is looked at."""
    files = files_at(path)
    names = _header(files[0], form)
    for file in files[1:]:
        if is_parquet(file) != is_parquet(files[0]) or _header(file, form) != names:
            raise SchemaError(
                f"open {path}",
                f"{file.name} does not have the header of {files[0].name}",
                "Put only files of one kind with the same columns together.",
            )
    return names


def _header(file: Path, form: CsvForm) -> tuple[str, ...]:
    return tuple(parquet_schema(file).names) if is_parquet(file) else csv_header(file, form)
