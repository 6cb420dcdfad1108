"""One table in every form that a source reads, and the questions that are asked of it."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet

from discreet.core.bound import Bound
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import RECORD, Unit
from discreet.questions.columns.moments import grouped_moments_of, moments_of
from discreet.questions.columns.total import total_of
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.sources.source import Source

COST = "co\"st'; DROP TABLE kept --"
SCHEMA = Schema(
    {
        COST: Number(-20, 100),
        "days": Number(0, 25),
        "kind": Category(("f", "m", "it's; --", 'a "b", c', "Zoë")),
        "town": Text(),
    }
)
PERSON = Unit("user", column="who", rows=3)
UNITS = {"records": RECORD, "one row": Unit("user", column="who"), "three rows": PERSON}

Table = dict[str, list[Any]]
ROWS = 1200


def table(order: Sequence[int] = range(ROWS)) -> Table:
    """Records with everything that could be read in two ways, in this order."""
    return {name: [values[row] for row in order] for name, values in _mixed().items()}


@cache
def _mixed() -> Table:
    rng = np.random.default_rng(7)
    people = ["ann", " ann ", "Ann", 'O\'Brien "x"; DROP TABLE kept', "Zoë", "日本", "", None, "7", "7.0", "𝄞"]
    costs = [None, float("inf"), float("-inf"), -0.0, 0.0, 5e-324, 1e308, -1e308, 0.1, 1 / 3, 99.99, 1e16 + 2]
    kinds = ["f", " f", "m\t", "it's; --", 'a "b", c', "Zoë", "x", "", None, "F", "NULL", "nan", "\xa0f"]
    towns = [
        "Bern",
        "Bern ",
        "Zürich",
        "'; DROP TABLE kept; --",
        'a "b", c',
        "",
        None,
        "null",
        "𝄞",
        "\ufffd",
        "\xa0z",
    ]
    who = [*rng.choice(np.array(people, dtype=object), ROWS // 2), *(f"p{n % 250}" for n in rng.zipf(1.5, ROWS // 2))]
    return {
        "who": who,
        COST: [costs[n] if n < len(costs) else round(float(n) - 30, 2) for n in rng.integers(0, 60, ROWS)],
        "days": [None if n > 30 else int(n) for n in rng.integers(0, 34, ROWS)],
        "kind": list(rng.choice(np.array(kinds, dtype=object), ROWS)),
        "town": list(rng.choice(np.array(towns, dtype=object), ROWS)),
        "note": ["never read"] * ROWS,
    }


LARGE = (2**53 - 1, 2**53 - 2, -(2**53) + 1, 10**15 + 1, 10**14 + 1)  # whole numbers that a float still has
NUMBERS = Schema(
    {
        COST: Number(-20, 100),
        "days": Number(0, 25),
        "kind": Category(("007", " 12", "-3", "f", "999999999999", "1.0", "x", *map(str, LARGE))),
        "town": Text(),
        "ill": Category(("true", "false")),
    }
)


def numbers_table(order: Sequence[int] = range(ROWS)) -> Table:
    """Records without any text: what an engine may decode by itself."""
    return {name: [values[row] for row in order] for name, values in _numbers().items()}


@cache
def _numbers() -> Table:
    rng = np.random.default_rng(8)
    whole = [7, 12, -3, 0, 999999999999, 1, None, *LARGE, 2**53, 2**53 - 3, 10**15]
    return {
        "who": [None if n > 200 else int(n) - 3 for n in rng.zipf(1.3, ROWS)],
        COST: _mixed()[COST],
        "days": _mixed()["days"],
        "kind": [whole[n] for n in rng.integers(0, len(whole), ROWS)],
        "town": [None if n == 5 else int(n) * 2**40 for n in rng.integers(0, 9, ROWS)],
        "ill": [[True, False, None][n] for n in rng.integers(0, 3, ROWS)],
        "note": ["never read"] * ROWS,
    }


def csv_of(table: Table, path: Path) -> Path:
    """A file with a header."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return path


def _zipped(table: Table, path: Path) -> Path:
    plain = csv_of(table, path.with_suffix(""))
    path.write_bytes(gzip.compress(plain.read_bytes()))
    return path


def _parquet(table: Table, path: Path) -> Path:
    pa.parquet.write_table(pa.table(table), path, row_group_size=100)
    return path


def _halves(write: Callable[[Table, Path], Path], ending: str) -> Callable[[Table, Path], Path]:
    def halves(table: Table, folder: Path) -> Path:
        cut = len(table["who"]) // 3
        place = folder / f"halves[1]{ending}"
        place.mkdir()
        write({name: values[:cut] for name, values in table.items()}, place / f"part*1{ending}")
        write({name: values[cut:] for name, values in table.items()}, place / f"part*2{ending}")
        (place / "_SUCCESS").touch()
        return place

    return halves


def _encoded(table: Table) -> Any:
    """An Arrow table of several chunks with dictionaries."""
    whole = pa.table(table)
    chunks = [whole.slice(start, 97) for start in range(0, len(whole), 97)]
    coded = pa.concat_tables(chunks)
    for i, name in enumerate(coded.schema.names):
        coded = coded.set_column(i, name, coded[name].dictionary_encode()) if name in ("who", "kind", "town") else coded
    return coded


def relation_of(table: Table) -> Any:
    """A plain table of DuckDB."""
    connection = duckdb.connect()
    connection.register("seen", pa.table(table))
    connection.execute("CREATE TABLE visits AS SELECT * FROM seen")
    return connection.table("visits")


class Driver:
    """The part of an ADBC connection that is used, in front of DuckDB."""

    def __init__(self, table: Table) -> None:
        self._connection = duckdb.connect()
        self._connection.register("seen", pa.table(table))
        self._connection.execute("CREATE TABLE visits AS SELECT * FROM seen")
        self.open = 0

    def cursor(self) -> Driver:
        return self

    def adbc_get_info(self) -> dict[str, str]:
        return {"vendor_name": "DuckDB"}

    def execute(self, query: str) -> None:
        self._relation = self._connection.sql(query)

    def fetch_record_batch(self) -> Any:
        return self._relation.to_arrow_reader(1000)

    def fetchall(self) -> list[Any]:
        return list(self._relation.fetchall())

    def __enter__(self) -> Driver:
        self.open += 1
        return self

    def __exit__(self, *error: object) -> None:
        self.open -= 1


FORMS: dict[str, Callable[[Table, Path], Any]] = {
    "mapping": lambda table, folder: table,
    "arrays": lambda table, folder: {name: np.array(values, dtype=object) for name, values in table.items()},
    "pandas": lambda table, folder: pd.DataFrame(table),
    "pandas, nullable": lambda table, folder: pd.DataFrame(table).convert_dtypes(),
    "pandas, Arrow": lambda table, folder: pd.DataFrame(table).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, categories": lambda table, folder: pd.DataFrame(table).astype({"kind": "category", "town": "category"}),
    "polars": lambda table, folder: pl.DataFrame(table),
    "polars, categories": lambda table, folder: pl.DataFrame(table).with_columns(pl.col("kind").cast(pl.Categorical)),
    "arrow": lambda table, folder: pa.table(table),
    "arrow, dictionaries": lambda table, folder: _encoded(table),
    "csv": lambda table, folder: csv_of(table, folder / "table.csv"),
    "csv.gz": lambda table, folder: _zipped(table, folder / "table.csv.gz"),
    "parquet": lambda table, folder: _parquet(table, folder / "table.parquet"),
    "csv folder": lambda table, folder: _halves(csv_of, ".csv")(table, folder),
    "parquet folder": lambda table, folder: _halves(_parquet, ".parquet")(table, folder),
    "relation": lambda table, folder: relation_of(table),
    "query": lambda table, folder: (Driver(table), "SELECT *, 1 AS one FROM visits;"),
}


def _products() -> BoundedSum:
    def of(records: Array) -> Array:
        values = np.nan_to_num(records)
        return (values[:, :, None] * values[:, None, :]).reshape(len(values), 9)

    return BoundedSum(of, Bound("l2", 50.0), (COST, "kind", "days"), Grid(-40))


def questions(schema: Schema) -> dict[str, BoundedSum]:
    """With and without formulas for an engine."""
    return {
        **{f"moments {d} {c}": moments_of(schema, COST, d, c) for d in (1, 2) for c in (False, True)},
        **{f"days in {bins}": contingency_of(schema, ("days",), (bins,)) for bins in (1, 10, 40)},
        "histogram": contingency_of(schema, ("kind",), (0,)),
        "total": total_of(schema, COST, 1.0),
        "by kind": grouped_moments_of(schema, "kind", COST, 1),
        "days by kind": grouped_moments_of(schema, "kind", "days", 2),
        "products": _products(),
        "features": BoundedSum(lambda records: np.nan_to_num(records), Bound("l1", 30.0), (COST, "days")),
        "rows": BoundedSum(lambda records: np.ones((len(records), 1)), Bound("l1", 1.0), (), Grid(0)),
    }


QUESTIONS = questions(SCHEMA)


def exact_sums(source: Source, asked: Iterable[str] = tuple(QUESTIONS)) -> dict[str, Any]:
    """The sums of these questions, in grid steps."""
    every = questions(source.schema)
    return {name: source.sum(every[name].for_unit(source.unit)).tolist() for name in asked}


def sums(source: Source, asked: Iterable[str] = tuple(QUESTIONS)) -> dict[str, Any]:
    """All that a source can be asked, exactly."""
    keys: Counter[str] = Counter()
    for batch in source.keys("town"):
        keys.update(batch)
    return {**exact_sums(source, asked), "keys": sorted(keys.items()), "units": source.units()}
