"""A query is a source: in DuckDB, in PostgreSQL, behind any ADBC driver."""

from __future__ import annotations

import importlib
import sqlite3
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, MissingExtra, ParameterError, SchemaError
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.query.select.sql import sql
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.file import File
from discreet.trust.sources.query import Query, postgres_table
from discreet.trust.sources.relation import _is_table as is_table
from discreet.trust.sources.source_of import source_of
from discreet.trust.sources.spark import SparkFrame
from tests.trust.sources.tables import SCHEMA, UNITS, Driver, sums, table
from tests.trust.sources.trial import SourceTrial

pytestmark = pytest.mark.xdist_group("postgres")
TRIAL = SourceTrial(lambda table, schema, folder: Query(Driver(table), "SELECT * FROM visits", schema))
TOWN = Schema({"town": Text()})
TOTAL = BoundedSum(lambda records: records, Bound("l1", 100.0), ("x",))


def visits() -> Any:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE visits AS SELECT 'p' || (range % 100) AS who, range AS x FROM range(1000)")
    return connection


@pytest.mark.parametrize("unit", [RECORD, Unit("user", column="who", rows=3)])
def test_a_query_and_its_relation_are_the_same_records(unit: Unit) -> None:
    connection, schema = visits(), Schema({"x": Number(0, 100)})
    query = "SELECT * FROM visits WHERE x < 500"
    by_query, by_relation = source_of((connection, query), schema, unit), source_of(connection.sql(query), schema, unit)
    assert by_query.sum(TOTAL) == by_relation.sum(TOTAL)
    assert by_query.units() == by_relation.units() == (500 if unit is RECORD else 100)


def test_a_relation_is_read_again_for_every_question() -> None:
    connection = visits()
    source = source_of(connection.table("visits"), Schema({"x": Number(0, 100)}))
    assert source.units() == 1000
    connection.execute("INSERT INTO visits VALUES ('late', 1)")
    assert source.units() == 1001


def test_a_connection_is_free_again_after_a_question_that_was_not_finished() -> None:
    connection = visits()
    source: Any = source_of(connection.sql("SELECT range AS x FROM range(1000000)"), Schema({"x": Number(0, 100)}))
    batches = source.batches(("x",))
    next(batches)
    batches.close()
    assert connection.execute("SELECT 42").fetchall() == [(42,)]


SECRET = "SELECT who, CAST(who AS INTEGER) AS x FROM visits"


@pytest.mark.parametrize("unit", [RECORD, Unit("user", column="who", rows=3)])
def test_a_failing_query_does_not_quote_a_record(unit: Unit) -> None:
    """DuckDB's own words are: Could not convert string 'p0' to INT32."""
    driver = Driver(table())
    for records in ((visits(), SECRET), (driver, "SELECT *, CAST(who AS INTEGER) AS x FROM visits")):
        with pytest.raises(DiscreetError, match="withheld") as caught:
            source_of(records, Schema({"x": Number(0, 100)}), unit).sum(TOTAL)
        assert "convert" not in str(caught.value)
        assert caught.value.__context__ is None
    assert driver.open == 0


def test_names_that_the_engine_takes_for_one_are_refused() -> None:
    """NoiseContext for "X", DuckDB would give the column "x"."""
    with pytest.raises(SchemaError, match="more than one column 'X'"):
        source_of(duckdb.connect().sql('SELECT 1 AS x, 2 AS "X"'), Schema({"X": Number(0, 9)}))
    with pytest.raises(SchemaError, match="no column 'X'"):
        source_of(duckdb.connect().sql("SELECT 1 AS x"), Schema({"X": Number(0, 9)}))


def test_a_column_of_lists_is_refused_by_its_type() -> None:
    for records in (duckdb.connect().sql("SELECT [1] AS x"), (Driver(table()), "SELECT [1] AS x")):
        with pytest.raises(SchemaError, match="neither numbers nor texts"):
            source_of(records, Schema({"x": Number(0, 9)}))


def replaced(records: Any, schema: Schema = SCHEMA, unit: Unit = RECORD) -> PrivateData:
    return PrivateData.of(records, schema, Budget(1.0), neighbors=Neighbors.REPLACE, unit=unit)


class Lazy:
    """What gives Arrow batches and may be a query: nothing tells."""

    def __arrow_c_stream__(self, schema: Any = None) -> Any:
        return pa.table({"x": [1]}).__arrow_c_stream__(schema)


def test_a_query_may_choose_rows_and_has_no_public_number_of_them() -> None:
    connection, schema = visits(), Schema({"x": Number(0, 100)})
    connection.execute("CREATE VIEW few AS SELECT * FROM visits WHERE x < 500")
    table = connection.table("visits")
    chosen: list[Any] = [
        (connection, "SELECT * FROM visits WHERE x < 500"),
        (Driver({"x": [1]}), "SELECT * FROM visits"),
        Lazy(),
        *(connection.sql("FROM visits"), connection.table("few"), connection.view("few"), table.filter("x < 500")),
        *(table.limit(3), table.distinct(), table.project("who, x"), table.set_alias("all")),
    ]
    for records in chosen:
        with pytest.raises(ParameterError, match="number of records public"):
            replaced(records, schema)
        with pytest.raises(ParameterError, match="number of records public"):
            Local(source_of(records, schema))  # type: ignore[arg-type]
        assert PrivateData.of(records, schema, Budget(1.0)).public_size is None
    assert replaced(chosen[0], schema, Unit("user", column="who")).public_size is None
    assert not SparkFrame.counted
    assert replaced(table, schema).public_size == 1000
    assert replaced(table.to_arrow_table(), schema).public_size == replaced(table.pl(), schema).public_size == 1000
    with pytest.raises(ParameterError, match="number of records public"):
        SecureSum.rehearsal({"north": table, "south": chosen[0]}, schema, threshold=2, neighbors=Neighbors.REPLACE)


def test_a_table_of_a_database_that_duckdb_only_attached_may_be_a_view_there() -> None:
    attached = SimpleNamespace(type="TABLE_RELATION", explain=lambda: "POSTGRES_SCAN")
    assert not is_table(attached)
    assert is_table(visits().table("visits"))


def test_a_connection_without_arrow_is_refused() -> None:
    connection = sqlite3.connect(":memory:")
    with pytest.raises(ParameterError, match="ADBC"):
        source_of((connection, "SELECT 1 AS x"), Schema({"x": Number(0, 9)}))
    connection.close()


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("adbc_driver_postgresql", "adbc_driver_postgresql.dbapi"):  # whoever has loaded it before
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"discreet\[postgres\]"):
        postgres_table("postgresql://nowhere/none", "visits", SCHEMA)


def test_postgres_agrees_to_the_last_bit(postgres: str) -> None:
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    with dbapi.connect(postgres, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("visits; --", pa.table(table()))
    for unit in UNITS.values():
        expected = sums(source_of(table(), SCHEMA, unit))
        assert sums(postgres_table(postgres, "visits; --", SCHEMA, unit)) == expected


def test_a_postgres_table_has_a_public_number_of_rows_and_a_view_none(postgres: str) -> None:
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    statements = """
        CREATE TABLE "it's; --" AS SELECT generate_series(1, 10) AS x;
        CREATE VIEW few AS SELECT * FROM "it's; --" WHERE x > 5;
        CREATE MATERIALIZED VIEW kept AS SELECT * FROM few;
        CREATE SCHEMA other;
        CREATE TABLE other.few AS SELECT 1 AS x;
        CREATE TABLE own AS SELECT 1 AS x;
        ALTER TABLE own ENABLE ROW LEVEL SECURITY;
        CREATE TABLE parent (x int);
        CREATE TABLE child () INHERITS (parent);
        CREATE TABLE split (x int) PARTITION BY RANGE (x)
    """
    with dbapi.connect(postgres, autocommit=True) as connection, connection.cursor() as cursor:
        for statement in statements.split(";\n"):
            cursor.execute(statement)
    schema = Schema({"x": Number(0, 100)})
    assert replaced(postgres_table(postgres, "it's; --", schema), schema).public_size == 10
    for chosen in ("few", "kept", "own", "parent", "split"):
        with pytest.raises(ParameterError, match="number of records public"):
            replaced(postgres_table(postgres, chosen, schema), schema)


@pytest.mark.parametrize("unit", [RECORD, Unit("user", column="who", rows=3)], ids=["records", "users"])
def test_groups_that_only_a_postgres_table_knows_are_named(unit: Unit, postgres: str) -> None:
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    rows = {"who": [i // 2 for i in range(300)], "town": ["Bern", "Thun", "Bern"] * 100, "x": [1.0, 2.0, 3.0] * 100}
    with dbapi.connect(postgres, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("towns", pa.table(rows), mode="replace")
    schema = Schema({"town": Text(), "x": Number(0, 9)})
    data = PrivateData.of(postgres_table(postgres, "towns", schema, unit), schema, Budget(1e6, 1e-3), unit=unit)
    found = sql(data, "SELECT town, count(*) AS n, avg(x) AS x FROM towns GROUP BY town", epsilon=1e5, delta=1e-6)
    assert found.labels["town"] == ("Bern", "Thun")
    assert found["n"].values.tolist() == [200, 100]
    assert found["x"].values == pytest.approx([2, 2], abs=0.01)


def test_what_postgres_copies_is_read_as_it_is_in_its_table(postgres: str, tmp_path: Path) -> None:
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    hostile = ["a\rb", "a\nb", "a\r\nb", '"', 'a"b,c', "\\.", "", None, " ", "'", "\t", "\ufeff"]
    path = Path(postgres.partition("host=")[2].partition("&")[0]) / "copied.csv"
    with dbapi.connect(postgres, autocommit=True) as connection, connection.cursor() as cursor:
        for columns in ({"town": hostile}, {"town": hostile, "x": list(range(12))}):
            name = f"copied{len(columns)}"
            cursor.adbc_ingest(name, pa.table(columns))
            cursor.execute(f"COPY {name} TO '{path}' (FORMAT csv, HEADER)")
            (tmp_path / "copied.csv").write_bytes(path.read_bytes())
            copied, kept = File(tmp_path / "copied.csv", TOWN), postgres_table(postgres, name, TOWN)
            assert copied.units() == kept.units() == len(hostile)
            assert list(copied.keys("town")) == list(kept.keys("town"))


def test_postgres_types_are_read_and_its_errors_withheld(postgres: str) -> None:
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    query = """
        SELECT 1.5::numeric AS x, true AS yes, gen_random_uuid() AS id, now() AS seen, 'Ann' AS who
        UNION ALL SELECT 'NaN', NULL, NULL, NULL, 'Bob'
    """
    schema = Schema({"x": Number(0, 100), "yes": Category(("true",)), "id": Text(), "seen": Text()})
    with dbapi.connect(postgres, autocommit=True) as connection:
        source: Any = source_of((connection, query), schema)
        rows = sorted(str(row) for batch in source.batches(("x", "yes")) for row in batch.tolist())
        assert rows == ["[1.5, 0.0]", "[nan, nan]"]
        assert sum(len(batch) for name in ("id", "seen") for batch in source.keys(name)) == 2
        with pytest.raises(DiscreetError, match="withheld") as caught:
            source_of((connection, f"SELECT who::int AS x FROM ({query}) AS q"), Schema({"x": Number(0, 1)})).sum(TOTAL)
        assert "Ann" not in f"{caught.value}{caught.value.__context__}"


REFUSED = {
    "money": "1.5::money",
    "inet": "'1.2.3.4'::inet",
    "cidr": "'1.2.3.0/24'::cidr",
    "macaddr": "'08:00:2b:01:02:03'::macaddr",
    "int4range": "'[1,2]'::int4range",
    "int4multirange": "'{[1,2]}'::int4multirange",
    "tsvector": "'a b'::tsvector",
    "tsquery": "'a'::tsquery",
    "bit": "B'101'",
    "varbit": "'101'::varbit",
    "point": "point(1, 2)",
    "box": "'(1,1),(0,0)'::box",
    "timetz": "'12:00+01'::timetz",
    "oid": "1::oid",
    "regclass": "'pg_class'::regclass",
    "jsonpath": "'$.a'::jsonpath",
    "pg_lsn": "'1/1'::pg_lsn",
}


def test_types_of_postgres_that_have_no_meaning_here_are_refused_by_name(postgres: str) -> None:
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    with dbapi.connect(postgres, autocommit=True) as connection:
        for name, value in REFUSED.items():
            for kind in (Number(0, 200), Text()):
                with pytest.raises(SchemaError, match=f"'x' holds {name}, .* Nothing was released or spent") as caught:
                    source_of((connection, f"SELECT {value} AS x, 1 AS y"), Schema({"x": kind}))
                assert caught.value.kind == name  # type: ignore[attr-defined]
            assert source_of((connection, f"SELECT {value} AS x, 1 AS y"), Schema({"y": Number(0, 9)})).units() == 1


def test_no_type_of_postgres_is_read_as_bytes(postgres: str) -> None:
    """Of every type that the server knows: a column of it is refused, or its values have the texts that it gives."""
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    with dbapi.connect(postgres, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT typname::text FROM pg_type WHERE typtype IN ('b', 'r', 'm') AND typelem = 0 ORDER BY 1")
        names = [name for (name,) in cursor.fetchall()]
        assert len(names) > 60
        read = set()
        for name in names:
            try:
                source_of((connection, f'SELECT NULL::pg_catalog."{name}" AS x'), Schema({"x": Text()}))
            except (SchemaError, dbapi.Error):
                continue
            read.add(name)
    numbers = {"int2", "int4", "int8", "float4", "float8", "numeric", "bool"}
    texts = {"text", "varchar", "bpchar", "name", "char", "uuid", "json", "jsonb", "bytea", "refcursor"}
    assert read <= numbers | texts | {"date", "time", "timestamp", "timestamptz"}
    assert read >= numbers | {"text", "varchar", "date", "timestamptz", "uuid"}


def test_enumerations_of_postgres_are_their_labels(postgres: str) -> None:
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    schema = Schema({"mood": Category(("sad", "glad"))})
    with dbapi.connect(postgres, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TYPE feeling AS ENUM ('sad', 'glad')")
        cursor.execute("CREATE TABLE moods AS SELECT 'glad'::feeling AS mood")
        sources: list[Any] = [source_of((connection, "SELECT * FROM moods"), schema)]
        sources.append(postgres_table(postgres, "moods", schema))  # its driver knows the type by name
        assert [[batch.tolist() for batch in source.batches(("mood",))] for source in sources] == [[[[1.0]]]] * 2


def test_types_of_duckdb_that_have_no_meaning_here_are_refused_by_name() -> None:
    values = {"BIT": "'101'::BIT", "TIME WITH TIME ZONE": "'12:00:00+01'::TIMETZ", "bignum": "1::BIGNUM"}
    for name, value in values.items():
        with pytest.raises(SchemaError, match=name):
            source_of(duckdb.connect().sql(f"SELECT {value} AS x"), Schema({"x": Text()}))
