"""Parquet files: read in batches by Arrow, or decoded by DuckDB where it reads every column as Arrow does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from discreet.core.errors import SchemaError
from discreet.core.neighbors import Unit
from discreet.schema.schema import Schema
from discreet.trust.sources import source
from discreet.trust.sources.columns.arrow_column import arrow
from discreet.trust.sources.columns.sql_column import decoded_columns
from discreet.trust.sources.engine import file_literal, name
from discreet.trust.sources.header import read_columns


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
