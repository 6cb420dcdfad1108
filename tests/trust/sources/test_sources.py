"""Every source gives the same numbers for the same table, and no value of a record can make it fail."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet.core.errors import MissingExtra, SchemaError
from discreet.core.neighbors import Unit
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.sources import source as source_module
from discreet.trust.sources.file import File, column_names
from discreet.trust.sources.source_of import source_of

SCHEMA = Schema({"age": Number(0, 100), "sex": Category(("f", "m")), "town": Text()})
TABLE: dict[str, list[Any]] = {
    "age": [30.0, 200.0, None, -5.0, 42.5],
    "sex": ["f", "m", "x", None, " f"],
    "town": ["Bern", "Zug", "Bern", "", None],
    "note": ["not", "read", "at", "all", "!"],
}
NUMBERS = np.array([[30, 0], [100, 1], [np.nan, np.nan], [0, np.nan], [42.5, 0]])


def csv_file(folder: Path) -> Path:
    path = folder / "table.csv"
    pd.DataFrame(TABLE).to_csv(path, index=False)
    return path


def zipped(folder: Path) -> Path:
    path = folder / "table.csv.gz"
    path.write_bytes(gzip.compress(csv_file(folder).read_bytes()))
    return path


def parquet_file(folder: Path) -> Path:
    path = folder / "table.parquet"
    pd.DataFrame(TABLE).to_parquet(path)
    return path


KINDS = {
    "mapping": lambda folder: TABLE,
    "pandas": lambda folder: pd.DataFrame(TABLE),
    "polars": lambda folder: pl.DataFrame(TABLE),
    "csv": csv_file,
    "csv.gz": zipped,
    "parquet": parquet_file,
}


@pytest.fixture(params=list(KINDS))
def records(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return KINDS[request.param](tmp_path)


def everything(source: Any, columns: tuple[str, ...]) -> np.ndarray:
    return np.vstack(list(source.batches(columns)))


def test_every_source_reads_the_same_table(records: Any) -> None:
    source = source_of(records, SCHEMA)
    rows = everything(source, ("age", "sex"))
    np.testing.assert_array_equal(np.sort(rows, axis=0), np.sort(NUMBERS, axis=0))
    assert source.units() == 5


def test_every_source_counts_the_same_keys(records: Any) -> None:
    counts: dict[str, int] = {}
    for batch in source_of(records, SCHEMA).keys("town"):
        for key, count in batch.items():
            counts[key] = counts.get(key, 0) + count
    assert counts == {"Bern": 2, "Zug": 1}


def test_a_text_column_cannot_be_read_as_numbers(records: Any) -> None:
    with pytest.raises(SchemaError, match="key selection"):
        everything(source_of(records, SCHEMA), ("town",))


def test_a_column_that_is_not_there_is_an_error_before_any_charge(records: Any) -> None:
    with pytest.raises(SchemaError, match="no column 'height'"):
        source_of(records, Schema({"height": Number(0, 3)}))


WILD = [np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e308, "1e999", "?", "", None, 10**400, object()]


@pytest.mark.parametrize("wild", WILD, ids=lambda wild: f"{type(wild).__name__} {wild!r:.12}")
def test_a_wild_value_is_missing_or_clamped_and_never_raises(wild: Any) -> None:
    column = np.empty(3, dtype=object)
    column[:] = [1.0, wild, 2.0]
    source = source_of({"age": column, "sex": column}, Schema({"age": Number(0, 100), "sex": Category(("1.0",))}))
    rows = everything(source, ("age", "sex"))
    assert rows.shape == (3, 2)
    assert rows[0, 0] == 1.0
    assert np.isnan(rows[1, 0]) or 0 <= rows[1, 0] <= 100


LINES = {
    b"40": [40, np.nan],
    b"50,m,Zug,extra,fields": [50, 1],
    b'"60,f,Bern': [np.nan, 0],
    b'60",f,"Bern': [np.nan, 0],
    b'"61","f","Bern, the ""capital"""': [61, 0],
    b'" 62 ", m ,Zug': [62, 1],
    b"63,f,\xff\xfe": [63, 0],
    b"64,f\x1f,Bern": [64, np.nan],
    b"65,f,Bern\r": [65, 0],
    b"": [np.nan, np.nan],
    b',"",': [np.nan, np.nan],
    b"66,f,a\x00b": [66, 0],
    b"67\r68,f,Bern": [np.nan, 0],
    b"x" * 3_000_000: [np.nan, np.nan],
}


def test_a_line_of_a_file_changes_the_reading_of_no_other(tmp_path: Path) -> None:
    """An unbalanced quote must not swallow the records after it, and nothing may raise."""
    path = tmp_path / "lines.csv"
    around = [b"%d,%s,Bern" % (age, b"fm"[age % 2 : age % 2 + 1]) for age in range(100)]
    for line, found in LINES.items():
        path.write_bytes(b"\n".join([b"age,sex,town", *around[:50], line, *around[50:]]) + b"\n")
        source = File(path, SCHEMA, dialect="lines")
        rows = everything(source, ("age", "sex")).tolist()
        np.testing.assert_array_equal(rows.pop(50), found)
        assert rows == [[age, age % 2] for age in range(100)]
        assert source.units() == 101


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_line_may_end_as_on_any_system(tmp_path: Path, end: bytes) -> None:
    path = tmp_path / "lines.csv"
    path.write_bytes(end.join([b"age,sex,town", *[b"30,m,Bern"] * 1000, b""]))
    source = source_of(path, SCHEMA)
    np.testing.assert_array_equal(everything(source, ("age", "sex")), np.tile([30, 1], (1000, 1)))
    assert source.units() == 1000


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    for name in ("x.parquet", "x.csv.gz"):
        (tmp_path / name).write_bytes(b"nothing of the kind")
        with pytest.raises(SchemaError, match="cannot be read"):
            source_of(tmp_path / name, SCHEMA)


def test_column_names_may_contain_anything(tmp_path: Path) -> None:
    name = "a \"quoted\" 'name'; DROP TABLE x"
    path = tmp_path / "odd.csv"
    pd.DataFrame({name: [1.0, 2.0]}).to_csv(path, index=False)
    np.testing.assert_array_equal(everything(source_of(path, Schema({name: Number(0, 9)})), (name,)), [[1], [2]])


def test_a_file_without_a_header_or_a_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(SchemaError, match="header"):
        column_names(tmp_path / "empty.csv")
    with pytest.raises(SchemaError, match="no such file"):
        source_of(tmp_path / "nowhere.csv", SCHEMA)


def test_a_missing_engine_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = csv_file(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(MissingExtra, match=r"discreet\[duckdb\]"):
        source_of(path, SCHEMA, Unit("user", column="town"))


VISITS = {
    "who": ["ann"] * 5 + ["bob"] * 2 + [None] + ["cy"],
    "cost": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
}
COSTS = Schema({"cost": Number(0, 10)})


def visits(kind: str, folder: Path, order: np.ndarray) -> Any:
    frame = pd.DataFrame(VISITS).iloc[order]
    if kind == "frame":
        return frame
    path = folder / f"visits.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    return path


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_no_unit_brings_more_rows_than_allowed_whatever_their_order(kind: str, tmp_path: Path) -> None:
    unit = Unit("user", column="who", rows=2)
    chosen = []
    for order in (np.arange(9), np.arange(9)[::-1], np.array([4, 8, 0, 2, 6, 1, 5, 3, 7])):
        source = source_of(visits(kind, tmp_path, order), COSTS, unit)
        chosen.append(sorted(everything(source, ("cost",))[:, 0]))
        assert source.units() == 3
    assert chosen[0] == chosen[1] == chosen[2]
    assert len([cost for cost in chosen[0] if cost <= 5]) == 2
    assert chosen[0][2:] == [6, 7, 9]


def test_which_rows_of_a_unit_are_kept_does_not_lean_to_small_or_large_values() -> None:
    people, rows = 2000, 10
    values = np.tile(np.arange(float(rows)), people) + np.repeat(np.arange(people), rows) / 1e6
    frame = {"who": np.repeat([f"p{i}" for i in range(people)], rows), "cost": values}
    kept = everything(source_of(frame, COSTS, Unit("user", column="who", rows=1)), ("cost",))
    assert len(kept) == people
    assert kept.mean() == pytest.approx(4.5, abs=5 * 2.9 / np.sqrt(people))


def test_a_matrix_has_no_column_to_tell_units_apart() -> None:
    with pytest.raises(Exception, match="data frame or a file"):
        source_of(np.zeros((2, 1)), COSTS, Unit("user", column="who"))


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_batches_are_bounded(kind: str, tmp_path: Path) -> None:
    rows = 3 * source_module.BATCH // 2
    frame = pd.DataFrame({"cost": np.arange(rows) % 10.0})
    path = tmp_path / f"long.{kind}"
    records: Any = frame
    if kind == "csv":
        frame.to_csv(path, index=False)
        records = path
    elif kind == "parquet":
        frame.to_parquet(path)
        records = path
    source: Any = source_of(records, COSTS)
    sizes = [len(batch) for batch in source.batches(("cost",))]
    assert sum(sizes) == rows
    assert max(sizes) <= source_module.BATCH
