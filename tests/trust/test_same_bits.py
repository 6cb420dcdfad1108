"""Relations drawn at random, with the noise off: arrays, DuckDB and PostgreSQL give the same bits."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.trust.same_bits import KINDS, Opened, Table, as_arrow, in_duckdb, swept

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture
def engines(postgres: str) -> Iterator[dict[str, Opened]]:
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    with dbapi.connect(postgres, autocommit=True) as connection:

        def in_postgres(table: Table, number: Iterator[int] = iter(range(10**9))) -> Any:  # noqa: B008
            name = f"same_bits_{next(number)}"
            with connection.cursor() as cursor:
                cursor.execute(f"DROP TABLE IF EXISTS {name}")
                cursor.adbc_ingest(name, as_arrow(table))
            return connection, f"SELECT * FROM {name}"

        yield {"arrays": lambda table: table, "duckdb": in_duckdb, "postgres": in_postgres}


def test_relations_have_the_same_bits_in_arrays_duckdb_and_postgres(engines: dict[str, Opened]) -> None:
    taken = swept(range(25), engines)
    assert min(taken["where"], taken["derive"]) >= 5
    assert taken["unit"] + taken["key"] + taken["public"] >= 2


@pytest.mark.slow
def test_500_relations_have_the_same_bits_in_arrays_duckdb_and_postgres(engines: dict[str, Opened]) -> None:
    taken = swept(range(500), engines)
    assert min(taken[kind] for kind in KINDS) >= 20
