"""One record more, whatever it holds, is one row more: everybody else is read as before, from every source."""

from __future__ import annotations

import csv
import datetime
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.neighbors import RECORD, Unit
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.sources.source_of import source_of

SCHEMA = Schema(
    {
        "x": Number(-10, 10),
        "kind": Category((0, 1, 2)),
        "ill": Category((True, False)),
        "sex": Category(("f", "m")),
        "code": Text(),
    }
)
PERSON = Unit("user", column="who", rows=2)
READ = ("x", "kind", "ill", "sex")
Table = dict[str, list[Any]]

EVERYBODY: Table = {
    "who": [100 + i % 10 for i in range(40)],
    "x": [i % 7 - 2 for i in range(40)],
    "kind": [i % 3 for i in range(40)],
    "ill": [i % 2 == 0 for i in range(40)],
    "sex": ["f"] * 40,
    "code": [i % 4 for i in range(40)],
}
"""Such that every reader that guesses types finds integers, booleans and (DuckDB, in `sex`) booleans again."""


def with_one_more(value: Any) -> Table:
    return {name: [*values, value] for name, values in EVERYBODY.items()}


def contents(records: Any, unit: Unit) -> Counter[Any]:
    """All that is read: rows, keys and the number of units."""
    source: Any = source_of(records, SCHEMA, unit)
    rows = np.concatenate([np.empty((0, len(READ))), *source.batches(READ)])
    found: Counter[Any] = Counter(tuple(row) for row in np.nan_to_num(rows, nan=-99.0).tolist())
    for batch in source.keys("code"):
        found.update({("code", key): count for key, count in batch.items()})
    found["units"] = source.units()
    return found


def check(records: Any, everybody: Counter[Any], unit: Unit) -> None:
    """Nobody is lost, and one row, one key and one unit at most come in."""
    found = contents(records, unit)
    assert not everybody - found
    assert (found - everybody).total() <= 3
    assert sum(count for key, count in (found - everybody).items() if key == "units" or key[0] == "code") <= 2


def arrays(table: Table) -> dict[str, Any]:
    return {name: np.fromiter(values, dtype=object, count=len(values)) for name, values in table.items()}


def relation(table: Table) -> Any:
    connection = duckdb.connect()
    connection.register("seen", pa.table(table))
    connection.execute("CREATE TABLE visits AS SELECT * FROM seen")
    return connection.table("visits")


def parquet(table: Table, folder: Path) -> Path:
    pa.parquet.write_table(pa.table(table), folder / "table.parquet")
    return folder / "table.parquet"


FORMS: dict[str, Callable[[Table, Path], Any]] = {
    "lists": lambda table, folder: table,
    "object arrays": lambda table, folder: arrays(table),
    "pandas": lambda table, folder: pd.DataFrame(table),
    "pandas, nullable": lambda table, folder: pd.DataFrame(table).convert_dtypes(),
    "pandas, Arrow": lambda table, folder: pd.DataFrame(table).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, categories": lambda table, folder: pd.DataFrame(table).astype("category"),
    "polars": lambda table, folder: pl.DataFrame(table),
    "polars columns": lambda table, folder: {name: pl.Series(name, values) for name, values in table.items()},
    "arrow": lambda table, folder: pa.table(table),
    "arrow columns": lambda table, folder: {name: pa.array(values) for name, values in table.items()},
    "parquet": lambda table, folder: parquet(table, folder),
    "relation": lambda table, folder: relation(table),
}
ARROW = ("arrow columns", "parquet", "relation")  # which hold what an Arrow table holds
CRAFTED: list[Any] = [
    *(
        None,
        0.5,
        -0.0,
        float("nan"),
        float("inf"),
        10**400,
        2**63,
        2**53 + 1,
        True,
        "maybe",
        "",
        "1.0",
        "007",
        "TRUE",
        "No",
    ),
    *(b"\xff", "half \ud800", np.longdouble("1e4000"), np.float32(0.1), pd.NA, pd.NaT, object(), [[]]),
    *(Decimal("1e999999999999"), Decimal("sNaN"), Decimal("9007199254740993.5"), Fraction(1, 3), np.zeros((1, 2)), {1}),
    *(datetime.date(1, 1, 1), datetime.datetime.max, datetime.time(1), datetime.timedelta(1), np.datetime64("NaT")),
]


def nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize("form", FORMS)
def test_a_record_of_any_kind_changes_no_other(form: str, tmp_path: Path) -> None:
    """Where a column's type cannot hold the value, there is none."""
    units = [(unit, contents(EVERYBODY, unit)) for unit in (RECORD, PERSON)]
    held = 0
    for value in [*CRAFTED, *([nested(10_000)] if form in ("lists", "object arrays", "pandas") else [])]:
        table = with_one_more(value)
        for name, values in table.items():
            if built(FORMS["arrow" if form in ARROW else form], {name: values}, tmp_path) is None:
                table[name][-1] = None
        if value is not None and all(values[-1] is None for values in table.values()):
            continue
        records, held = FORMS[form](table, tmp_path), held + 1
        unit, before = units[held % 2]
        check(records, before, unit)
    assert held >= 10


def built(form: Callable[[Table, Path], Any], table: Table, folder: Path) -> Any:
    """A table in this form; None where the form cannot hold it."""
    try:
        return form(table, folder)
    except (Exception, pl.exceptions.PanicException):
        return None


def of_csv(read: Callable[[Path], Any]) -> Callable[[Table, Path], Any]:
    def written(table: Table, folder: Path) -> Any:
        path = folder / "table.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(table)
            writer.writerows(zip(*table.values(), strict=True))
        return read(path)

    return written


def guessed(path: Path) -> Any:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE visits AS FROM read_csv('{path}', header=true, strict_mode=false)")
    return connection.table("visits")


READERS: dict[str, Callable[[Table, Path], Any]] = {
    "path": of_csv(lambda path: path),
    "pandas": of_csv(pd.read_csv),
    "pandas, Arrow": of_csv(lambda path: pd.read_csv(path, dtype_backend="pyarrow")),
    "pandas, nullable": of_csv(lambda path: pd.read_csv(path, dtype_backend="numpy_nullable")),
    "polars": of_csv(lambda path: pl.read_csv(path, infer_schema_length=None)),
    "arrow": of_csv(pa.csv.read_csv),
    "relation": of_csv(guessed),
}
FIELDS = ("", "1.5", "maybe", "m", "true", "0", "-7", "NaN", "1e400", "é", "9" * 20, "1_000", "0x10", "2020-01-01", "f")


@pytest.mark.parametrize("reader", READERS)
def test_what_a_reader_guesses_of_a_file_makes_no_difference(reader: str, tmp_path: Path) -> None:
    for unit in (RECORD, PERSON):
        everybody = contents(EVERYBODY, unit)
        assert contents(READERS[reader](EVERYBODY, tmp_path), unit) == everybody
        for field in FIELDS[unit is PERSON :: 2 if reader != "path" else 6]:
            if (records := built(READERS[reader], with_one_more(field), tmp_path)) is not None:
                check(records, everybody, unit)


ANYTHING = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.decimals(allow_nan=False), st.text(), st.binary()),
    *(st.dates(), st.datetimes()),
)


@settings(max_examples=25)
@given(st.tuples(*[ANYTHING] * len(EVERYBODY)))
def test_no_record_changes_another(record: tuple[Any, ...]) -> None:
    table = {name: [*values, value] for (name, values), value in zip(EVERYBODY.items(), record, strict=True)}
    everybody = contents(EVERYBODY, RECORD)
    for records in (table, pd.DataFrame(table), pd.DataFrame(table).astype("category")):
        check(records, everybody, RECORD)
