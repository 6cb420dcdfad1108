"""SQL about tables whose names and values are statements themselves: nothing of them is run, in any engine."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import RECORD
from discreet.query.select.sql import sql
from discreet.trust.private_data import PrivateData

pytestmark = pytest.mark.xdist_group("postgres")
NAMES = [
    'x"; DROP TABLE canary; --',
    "c0",
    "u",
    "records",
    "size",
    "it's",
    "\\",
    "SELECT",
    "a b",
    "\u202ename",
    "x''",
    "%s",
]
VALUES = [
    "'; DROP TABLE canary; --",
    "\\'; DROP TABLE canary; --",
    '"',
    "$$",
    "\\",
    "/*",
    "\u02bc OR 1=1",
    "{}",
    "%(x)s",
    "''",
]


def hostile_table() -> dict[str, list[Any]]:
    table: dict[str, list[Any]] = {name: [float(i + place) for i in range(20)] for place, name in enumerate(NAMES)}
    return {**table, "kind": [VALUES[i % len(VALUES)] for i in range(20)], "who": [i // 2 for i in range(20)]}


HOSTILE = {**dict.fromkeys(NAMES, (0, 40)), "kind": VALUES}


@pytest.fixture
def databases(postgres: str) -> Iterator[dict[str, Any]]:
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    local = duckdb.connect()
    local.register("seen", pa.table(hostile_table()))
    for statement in ("CREATE TABLE hostile AS SELECT * FROM seen", "CREATE TABLE canary AS SELECT 1 AS alive"):
        local.execute(statement)
    with dbapi.connect(postgres, autocommit=True) as connection:
        with connection.cursor() as cursor:
            for statement in ("DROP TABLE IF EXISTS hostile, canary", "CREATE TABLE canary AS SELECT 1 AS alive"):
                cursor.execute(statement)
            cursor.adbc_ingest("hostile", pa.table(hostile_table()))
        yield {
            "arrays": hostile_table(),
            "duckdb": local.table("hostile"),
            "postgres": (connection, "SELECT * FROM hostile"),
        }
        for found in (local.execute, connection.cursor().execute):
            found("SELECT alive FROM canary")


@pytest.mark.parametrize("rows", [None, 1])
def test_nothing_of_a_name_or_a_value_is_run(databases: dict[str, Any], rows: int | None) -> None:
    """Through every name and every literal, in each engine: the numbers are those of arrays."""
    unit = RECORD if rows is None else discreet.Unit("user", column="who", rows=rows)
    for place, value in enumerate(VALUES):
        name = NAMES[place % len(NAMES)].replace('"', '""')
        literal = value.replace("'", "''")
        text = f'SELECT count(*) AS n, avg("{name}") AS m FROM v WHERE kind = \'{literal}\' OR "{name}" < 3'
        commented = f"/* '; DROP TABLE canary; */ {text} -- {value!r}".replace("\n", " ")
        found = {}
        for engine, records in databases.items():
            data = PrivateData.of(records, HOSTILE, Budget(1e10), unit=unit)
            try:
                found[engine] = [sql(data, one, epsilon=1e8)["m"].values[0] for one in (text, commented)]
            except DiscreetError as why:
                found[engine] = [str(why)]
        assert len(set(map(len, found.values()))) == 1, (text, found)
        for engine in ("duckdb", "postgres"):
            assert found[engine] == pytest.approx(found["arrays"], abs=1e-3), text
            assert isinstance(found[engine][0], float), found
