"""A limited number of rows of each unit, every row with the same chance, the same rows from every source.

A unit's n rows are put in order of their decoded content (missing first, categories by their place in the list, texts
by their bytes). Row number p of n is kept where (p * k + start) mod n < k: that is a systematic sample, exactly k rows
of n (all where n <= k), and since the start is spread over 0 ... n - 1 by the unit's name, each row is kept with chance
k / n. Which rows those are depends on nothing but the unit's own rows: on no other unit, and not on the order of the
table. Rows that tie have the same content, so it makes no difference which of them is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.neighbors import Unit
from discreet.schema.relation.limited_rows import START, choice, place
from discreet.schema.schema import Category, Column, Number, Schema
from discreet.trust.sources.columns.arrow_column import arrow, canonical, is_whole, names
from discreet.trust.sources.decoded_table import DecodedTable
from discreet.trust.sources.engine import counting

WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
UNIT_BITS = 20  # of numbers of units that are counted in an array of 16 MB
Ranks = NDArray[Any]
"""Numbers that order one column: nan never, missing least."""


def start(unit: str) -> int:
    """Where a unit's sample begins, before it is taken modulo the number of its rows: 60 bits of its name's MD5.

    It spreads, it does not hide: MD5 serves, and every engine has it.
    """
    return int(hashlib.md5(unit.encode(), usedforsecurity=False).hexdigest()[:15], 16)


def text_ranks(texts: Sequence[str | None]) -> Ranks:
    """The rank of each text among its column's, by code point; -1 where it is missing."""
    places = {text: place for place, text in enumerate(sorted({text for text in texts if text is not None}))}
    return np.array([-1 if text is None else places[text] for text in texts], dtype=np.int64)


def unit_numbers(units: Sequence[str]) -> NDArray[np.intp]:
    """The number of each row's unit, in the order in which they first occur.

    Examples
    --------
    >>> unit_numbers(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in units], dtype=np.intp)


def kept_rows(units: Sequence[str], content: Sequence[Ranks], rows: int) -> NDArray[np.intp]:
    """The rows to use, in table order.

    Parameters
    ----------
    units : sequence of str
        The unit of each row.
    content : sequence of arrays
        For each column, in the schema's order, ranks of its values.
    rows : int
        Public. The most rows of one unit.

    Examples
    --------
    >>> kept_rows(["a", "b", "a", "a"], [np.array([9.0, 5.0, 1.0, 4.0])], 2).tolist()
    [1, 2, 3]
    >>> len(kept_rows(["a"] * 1000, [np.arange(1000.0)], 7))
    7
    """
    unit, names = unit_numbers(units), list(dict.fromkeys(units))
    sizes = np.bincount(unit, minlength=len(names))
    starts = np.array([start(name) if size > rows else 0 for name, size in zip(names, sizes, strict=True)], np.int64)
    order = np.lexsort((*reversed(content), unit))
    unit = unit[order]
    first, size = (np.cumsum(sizes) - sizes)[unit], sizes[unit]
    place = np.arange(len(order)) - first
    share = np.minimum(min(rows, len(order)), size)
    kept = (place * share + starts[unit] % size) % size < share
    return np.sort(order[kept])


def canonical_fields(schema: Schema, unit_type: Any = None) -> Any:
    """The Arrow schema of `canonical_batches`."""
    pa = arrow()
    unit = unit_type if unit_type is not None and is_whole(unit_type) else pa.large_string()
    return pa.schema([("u", unit), *((f"c{i}", _type(kind)) for i, kind in enumerate(schema.columns.values()))])


def _type(kind: Column) -> Any:
    pa = arrow()
    match kind:
        case Number():
            return pa.float64()
        case Category():
            return pa.int32()
        case _:
            return pa.large_string()


def canonical_batches(batches: Iterable[Any], schema: Schema, unit_type: Any = None) -> Iterator[Any]:
    """Records as questions see them: what identifies units in `u`, the schema's columns in c0, c1, ...

    Parameters
    ----------
    batches : iterable of Arrow record batches
        The unit's column, then the schema's columns in order.
    schema : Schema
        Public.
    unit_type : Arrow type, optional
        Of the unit's column, where all batches agree: whole numbers stay what they are, all else becomes a name.
    """
    fields = canonical_fields(schema, unit_type)
    whole = is_whole(fields.field("u").type)
    for batch in batches:
        unit, *content = batch.columns
        columns = [canonical(column, name, schema) for column, name in zip(content, schema.columns, strict=True)]
        yield arrow().record_batch([unit if whole else names(unit), *columns], schema=fields)


def canonical_table(units: Sequence[str | None] | None, content: Sequence[Any], schema: Schema, size: int) -> Any:
    """The same for columns in memory, of so many rows; without units, each row is one and is named by its place."""
    pa, fields = arrow(), canonical_fields(schema)
    given = [list(map(str, range(size))) if units is None else list(units), *content]
    columns = [pa.array(one, type=field.type, from_pandas=True) for one, field in zip(given, fields, strict=True)]
    return pa.Table.from_arrays(columns, schema=fields)


def named(records: Any, schema: Schema, unit: Unit) -> Any:
    """Decoded records with their units by number or name, or by their places where every record is one."""
    return records.project(named_columns(records, schema, unit))


def named_columns(records: Any, schema: Schema, unit: Unit) -> str:
    """What to select of decoded records, so that units are as in `named`."""
    own = "row_number() OVER ()"
    if unit.column is not None:
        own = "u" if str(dict(zip(records.columns, records.types, strict=True))["u"]) in WHOLE else "CAST(u AS VARCHAR)"
    return ", ".join([f"{own} AS u", *(f"c{i}" for i in range(len(schema.columns)))])


def most_rows(unit: Unit) -> int:
    """How many rows a unit may keep, as an engine can count them."""
    return min(unit.rows, 2**62)


class KeptRows(DecodedTable):
    """At most `unit.rows` rows of each unit, set aside at once; `kept_rows` says which.

    The records are read once, so that what is counted is what is kept. Only units that have too many rows are put in
    order.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        An engine of its own: it holds the rows.
    records : duckdb.DuckDBPyRelation
        On this connection. All records, decoded: `u` identifies units, the schema's columns are c0, c1, ...
    schema, unit : Schema, Unit
        Public. What is read, and how many rows a unit may keep.
    """

    def __init__(self, asked: str, connection: Any, records: Any, schema: Schema, unit: Unit) -> None:
        super().__init__(asked, lambda: connection.cursor().table("kept"), schema, unit)
        content = ", ".join(self._columns.values())
        records.filter("u IS NOT NULL").create("records")
        with counting(connection, UNIT_BITS):
            connection.execute("CREATE TABLE sizes AS SELECT u, count(*) AS size FROM records GROUP BY u")
        numbered = f"SELECT u, size, {START} AS start, CAST(row_number() OVER () AS UINTEGER) AS n FROM sizes"
        connection.execute(f"CREATE TABLE crowded AS {numbered} WHERE size > {most_rows(unit)}")
        placed = f"SELECT n, {content}, {place(schema, 'n')} FROM records JOIN crowded USING (u)"
        chosen = f"SELECT {content} FROM ({placed}) JOIN crowded USING (n) WHERE {choice('start', most_rows(unit))}"
        everything = f"SELECT {content} FROM records ANTI JOIN crowded USING (u)"
        connection.execute(f"CREATE TABLE kept AS {everything} UNION ALL {chosen}")
        self._units = int(connection.execute("SELECT count(*) FROM sizes").fetchall()[0][0])
        for name in ("records", "sizes", "crowded"):
            connection.execute(f"DROP TABLE {name}")

    def units(self) -> int:
        return self._units
