"""What DuckDB decodes by itself is what Arrow decodes; everything else it leaves alone."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import discreet
from discreet.core.bound import Bound
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import RECORD, Unit
from discreet.questions.columns.moments import grouped_moments_of
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.schema.schema import Category, Column, Number, Schema, Text
from discreet.trust.sources import stream
from discreet.trust.sources.columns.arrow_column import canonical
from discreet.trust.sources.engine import engine
from discreet.trust.sources.file import parquet_query
from discreet.trust.sources.source_of import source_of

WHOLE = {f"{sign}int{width}": width for sign in ("", "u") for width in (8, 16, 32, 64)}
NUMBERS: list[Column] = [Number(-100, 100), Number(-1e30, 1e30), Number(-0.0, 7)]
KINDS: list[Column] = [
    *NUMBERS,
    Category(("0", "-1", "x", " 1 ", "true", "255", "007", "1.5")),
    Category(("f", "m", "-128")),
    Category((True, False)),
    Category(("x", "y")),
    Category(tuple(map(str, range(300)))),
    Category(tuple(map(str, range(256)))),
    Category(tuple(map(str, range(-100, 101)))),
    Category(("7",)),
    Category(("0", "1", "x", "02")),
    Category(("1", "0")),
    Category((str(2**52), str(2**52 + 1))),
    Category(("9007199254740991", "9007199254740990", "-9007199254740991", "1000000000000001", "100000000000001")),
    Text(),
]
SHORT = re.compile(r"\{[^{}]*:[^{}]*[gefn%]\}")
LEFT_TO_ARROW = {
    "texts": pa.array(["1"]),
    "decimals": pa.array([Decimal("1.5")]),
    "days": pa.array([datetime.date(2020, 1, 1)]),
    "instants": pa.array([datetime.datetime(2020, 1, 1)]),
    "dictionaries": pa.array(["1"]).dictionary_encode(),
    "halves": pa.array([np.float16(1.5)], pa.float16()),
}
SCHEMA = Schema({"kind": Category(("1", "2")), "x": Number(0, 9)})
ROWS = {"who": [1, 1, 2, 2, 2], "kind": [1, 2, 1, 2, 3], "x": [1.0, 2.0, 3.0, 4.0, 5.0]}
COMPRESSIONS = ("none", "snappy", "gzip", "brotli", "zstd", "lz4")
ENCODINGS: list[dict[str, Any]] = [
    *({"compression": kind} for kind in COMPRESSIONS),
    {"use_dictionary": False, "column_encoding": {"kind": "DELTA_BINARY_PACKED", "x": "BYTE_STREAM_SPLIT"}},
    {"use_dictionary": False, "data_page_version": "2.0", "compression": "zstd"},
    {"version": "1.0", "use_dictionary": ["kind"], "row_group_size": 2},
]


def column_of(kind: str) -> Any:
    """A column of this Arrow type with everything that could be read in two ways."""
    if kind in WHOLE:
        width, least = WHOLE[kind], 0 if kind.startswith("u") else -(2 ** (WHOLE[kind] - 1))
        most = least + 2**width - 1
        odd = [least, least + 1, most - 1, most, most // 3, 2 ** (width - 2) + 1]
        near = [10**14 + 1, 10**15 + 1, 2**53 - 2, 2**53 - 1, 2**53, *([] if least == 0 else [1 - 2**53])]
        return pa.array([0, 1, 7, None, *odd, *(near if width == 64 else [])], getattr(pa, kind)())
    if kind == "bool":
        return pa.array([True, False, None])
    nearly = [0.0, -0.0, 1.0, 0.1, 1 / 3, 5e-324, 1e-40, 3e38, 1e308, np.inf, -np.inf, np.nan, None, 99.99999999999999]
    with np.errstate(over="ignore"):
        return pa.array(nearly, pa.float64()).cast(getattr(pa, kind)(), safe=False)


def test_no_number_is_shortened_where_sql_is_written() -> None:
    """Numbers go into SQL as `Formula.constant`, as whole numbers or as the texts of `text_of`: all are exact."""
    room = Path(discreet.__file__).parent
    written = [file for file in room.rglob("*.py") if re.search(r"SELECT|CAST\(|CASE WHEN|\.sql\b", file.read_text())]
    assert room / "core" / "formula.py" in written
    assert room / "trust" / "sources" / "columns" / "sql_column.py" in written
    for file in written:
        for line in file.read_text().splitlines():
            assert not (SHORT.search(line) and re.search(r"SELECT|CAST|CASE|forms|sql", line)), f"{file}: {line}"


@pytest.mark.parametrize("name", [*WHOLE, "bool", "float32", "float64"])
def test_a_value_means_the_same_to_the_engine(name: str, tmp_path: Path) -> None:
    column, connection = column_of(name), engine()
    connection.execute("SET preserve_insertion_order = true")
    pa.parquet.write_table(pa.table({"x": column}), tmp_path / "x.parquet")
    for kind in KINDS if not name.startswith("float") else NUMBERS:
        schema = Schema({"x": kind})
        query = parquet_query(connection, [tmp_path / "x.parquet"], schema, RECORD)
        assert query is not None
        found, expected = connection.sql(query).to_arrow_table()["c0"].combine_chunks(), canonical(column, "x", schema)
        assert found.to_pylist() == expected.to_pylist(), kind
        if isinstance(kind, Number):
            assert found.fill_null(0.0).to_numpy().tobytes() == expected.fill_null(0.0).to_numpy().tobytes(), kind


def test_whole_numbers_that_floats_merge_are_left_to_arrow(tmp_path: Path) -> None:
    rows, schema = {"x": [2**53, 2**53 + 1, 5]}, Schema({"x": Category((2**53, 5))})
    pa.parquet.write_table(pa.table(rows), tmp_path / "x.parquet")
    assert parquet_query(engine(), [tmp_path / "x.parquet"], schema, RECORD) is None
    for records in (rows, pa.table(rows), tmp_path / "x.parquet"):
        assert source_of(records, schema).sum(contingency_of(schema, ("x",), (0,))).tolist() == [2, 1]


@pytest.mark.parametrize("kind", LEFT_TO_ARROW)
def test_other_types_are_left_to_arrow(kind: str, tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"x": LEFT_TO_ARROW[kind], "y": [1]}), tmp_path / "x.parquet")
    for column, unit in (("x", RECORD), ("y", Unit("user", column="x"))):
        assert parquet_query(engine(), [tmp_path / "x.parquet"], Schema({column: Number(0, 9)}), unit) is None
    assert parquet_query(engine(), [tmp_path / "x.parquet"], Schema({"y": Number(0, 9)}), RECORD) is not None


def test_names_that_the_engine_would_mix_up_are_left_to_arrow(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"x": [1], "X": [2]}), tmp_path / "x.parquet")
    assert parquet_query(engine(), [tmp_path / "x.parquet"], Schema({"x": Number(0, 9)}), RECORD) is None


def test_files_of_different_types_are_left_to_arrow(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"x": [1]}), tmp_path / "1.parquet")
    pa.parquet.write_table(pa.table({"x": [1.5]}), tmp_path / "2.parquet")
    files = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    assert parquet_query(engine(), files, Schema({"x": Number(0, 9)}), RECORD) is None


@pytest.mark.parametrize("name", ["filename", "rowid", "file_row_number", "file_index", "u", "c0", "select", 'a "b"'])
def test_a_column_may_have_any_name(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "x=5"
    folder.mkdir()
    pa.parquet.write_table(pa.table({name: [3, 4], "x": [1, 1], "who": [1, 2]}), folder / "t.parquet")
    schema = Schema({name: Number(0, 9), "x": Category(("1", "5"))})
    for unit in (RECORD, Unit("user", column="who")):
        assert source_of(folder / "t.parquet", schema, unit).sum(contingency_of(schema, ("x",), (0,))).tolist() == [
            2,
            0,
        ]
        assert source_of(folder / "t.parquet", schema, unit).sum(contingency_of(schema, (name,), (9,))).tolist()[
            3:5
        ] == [1, 1]


def without_arrow(*arguments: Any) -> Any:
    raise AssertionError("the records went through Arrow")


def relation() -> Any:
    connection = duckdb.connect()
    connection.register("seen", pa.table(ROWS))
    return connection.sql("SELECT * FROM seen")


@pytest.mark.parametrize("unit", [RECORD, Unit("user", column="who", rows=2)])
@pytest.mark.parametrize("kind", ["parquet", "relation"])
def test_the_engine_does_it_all_where_it_can(
    kind: str, unit: Unit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa.parquet.write_table(pa.table(ROWS), tmp_path / "t.parquet")
    question = grouped_moments_of(SCHEMA, "kind", "x", 1)
    expected = source_of(ROWS, SCHEMA, unit).sum(question).tolist()
    monkeypatch.setattr(stream, "canonical_batches", without_arrow)
    monkeypatch.setattr(stream, "matrix", without_arrow)
    source = source_of(tmp_path / "t.parquet" if kind == "parquet" else relation(), SCHEMA, unit)
    assert source.sum(question).tolist() == expected


def test_a_relation_that_gives_other_rows_each_time_is_read_once() -> None:
    """Counted in one reading and kept in another, a unit could bring more rows than it may."""
    query = "SELECT CAST(random() * 50 AS INTEGER) AS who, 1 AS x FROM range(5000)"
    source: Any = source_of((duckdb.connect(), query), Schema({"x": Number(0, 1)}), Unit("user", column="who", rows=3))
    assert sum(len(batch) for batch in source.batches(("x",))) == 3 * source.units()


def test_nothing_is_left_in_the_database_of_a_relation() -> None:
    records = duckdb.connect()
    records.execute("CREATE TABLE seen AS SELECT range % 7 AS who, range % 2 + 1 AS kind, 1.0 AS x FROM range(100)")
    for unit in (RECORD, Unit("user", column="who", rows=2)):
        source_of(records.table("seen"), SCHEMA, unit).sum(grouped_moments_of(SCHEMA, "kind", "x", 1))
    assert [row[0] for row in records.execute("SELECT table_name FROM duckdb_tables()").fetchall()] == ["seen"]
    assert records.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchall() == [(0,)]


@pytest.mark.parametrize("unit", [RECORD, Unit("user", column="who", rows=2), Unit("user", column="who", pooled=True)])
def test_an_engine_that_fails_does_not_quote_a_record(unit: Unit) -> None:
    query = (
        "SELECT range AS who, CAST(CASE WHEN range = 77 THEN 'Ann is ill' ELSE '1' END AS INTEGER) AS kind, 1.5 AS x"
    )
    schema = Schema({"kind": Category(("1", "2"))})
    with pytest.raises(DiscreetError, match="withheld") as caught:
        source_of((duckdb.connect(), f"{query} FROM range(100)"), schema, unit).sum(
            contingency_of(schema, ("kind",), (0,))
        )
    assert "Ann" not in f"{caught.value}{caught.value.__context__}"


@pytest.mark.parametrize("unit", [RECORD, Unit("user", column="who", rows=2), Unit("user", column="who", pooled=True)])
def test_records_on_which_a_question_fails_add_nothing(unit: Unit) -> None:
    def wrong(records: Any) -> Any:
        return records / "x" if len(records) else records

    question = BoundedSum(wrong, Bound("l1", 1.0), ("x",))
    assert source_of(relation(), SCHEMA, unit).sum(question).tolist() == [0]


@pytest.mark.parametrize("written", ENCODINGS, ids=str)
def test_a_file_may_be_written_in_any_way(written: dict[str, Any], tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table(ROWS), tmp_path / "t.parquet", **written)
    question = grouped_moments_of(SCHEMA, "kind", "x", 1)
    assert parquet_query(engine(), [tmp_path / "t.parquet"], SCHEMA, RECORD) is not None
    found = source_of(tmp_path / "t.parquet", SCHEMA).sum(question)
    np.testing.assert_array_equal(found, source_of(ROWS, SCHEMA).sum(question))
