"""PostgreSQL joins tables and brings rows together by itself: the same bits as here, and no rows leave it."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.ledger.memory_ledger import account_of
from discreet.questions.columns.moments import moments_of
from discreet.questions.columns.total import count_of
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.tables.key_counts import KeyCounts
from discreet.schema.plain_schema import schema_of
from discreet.schema.schema import Category
from discreet.trust.private_data import PrivateData
from discreet.trust.public_table import PublicTable
from discreet.trust.sources.adbc_connection import AdbcConnection
from discreet.trust.sources.postgres_related import PostgresRelated, RelistedPostgres
from discreet.trust.sources.query import postgres_table
from discreet.trust.sources.related_rows import RelatedRows
from discreet.trust.sources.weighted_rows import WeightedRows
from tests.trust.same_bits import Exact
from tests.trust.sources.test_postgres import LEFT, asked, done, filled, lost, until_none_is_left
from tests.trust.sources.trial import SourceTrial

pytestmark = pytest.mark.xdist_group("postgres")
TRIAL = SourceTrial(None, elsewhere="here, since it takes a server")
UNIT = Unit("user", "who", 3)
RNG = np.random.default_rng(8)
VISITS = {
    "who": [None if one == 0 else int(one) for one in RNG.integers(0, 40, 400)],
    "stay": [None if one > 58 else round(float(one), 2) for one in RNG.uniform(-5, 60, 400)],
    "ward": RNG.choice(["day", "icu", "it's"], 400).tolist(),
    "town": RNG.choice(["Ulm", " Bonn", "Bern ", "", "'; DROP TABLE visits; --"], 400).tolist(),
}
PEOPLE = {"who": list(range(1, 50)), "age": RNG.integers(0, 100, 49).tolist(), "town": ["Ulm", "Bonn"] * 24 + [None]}
NAMED = PEOPLE | {"who": [f"{one}" for one in PEOPLE["who"]]}
DESCRIBED = {"stay": (0, 60), "ward": ["day", "icu", "it's"], "town": str}
OF_PEOPLE = {"age": (0, 100), "town": str}
WARDS = PublicTable(
    {"ward": ["day", "icu", "icu"], "beds": [20, 6, 7]}, {"ward": ["day", "icu", "it's"], "beds": (0, 40)}
)
Opened = dict[str, PrivateData]


@pytest.fixture
def connection(postgres: str) -> Iterator[Any]:
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    with dbapi.connect(postgres, autocommit=True) as found:
        for name, columns in (("visits", VISITS), ("people", PEOPLE), ("named", NAMED)):
            filled(found, name, columns)
        yield found


def opened(visits: Any, people: Any, unit: Unit = UNIT) -> Opened:
    ledger = account_of(Budget(1e7, 1e-2), Neighbors.ADD_REMOVE, unit)
    return {
        "visits": PrivateData.of(visits, DESCRIBED, ledger, unit=unit, name="visits"),
        "people": PrivateData.of(people, OF_PEOPLE, ledger, unit=unit, name="people"),
    }


def both(connection: Any, people: str = "people", unit: Unit = UNIT) -> tuple[Opened, Opened]:
    """The tables in memory, and in PostgreSQL."""
    there = opened((connection, "SELECT * FROM visits"), (connection, f"SELECT * FROM {people}"), unit)
    return opened(VISITS, {"people": PEOPLE, "named": NAMED}[people], unit), there


def joined(tables: Opened, how: str) -> PrivateData:
    visits, people = tables["visits"], tables["people"]
    match how:
        case "unit":
            return visits.join(people, prefix="own_")
        case "left":
            return visits.where("stay > 20").join(people.where("age > 30"), how="left", prefix="own_")
        case "key":
            return visits.join(people, "town", most=2, prefix="own_")
        case "one key for two":
            pairs = {"stay": "stay", "again": "stay"}
            return visits.derive(again="stay * 1").join(visits, pairs, most=2, prefix="own_")
        case "public":
            return visits.derive(bounds={"d": (0, 9)}, d="stay / (stay - 7)").join(WARDS, "ward")
        case "per unit":
            own: Any = {"n": "count", "all": "sum of stay", "mean": "mean of stay", "ever": "any of ward == 'icu'"}
            return visits.per_unit(bounds={"n": (0, 20), "all": (0, 900)}, **own, ward="only of ward")
        case _:
            return visits.per_unit(by="town", groups=1, longest="max of stay").join(people, prefix="own_")


HOW = ("unit", "left", "key", "one key for two", "public", "per unit", "groups")


def source_of(data: PrivateData) -> Any:
    trust: Any = data._trust
    while not hasattr(trust, "source"):
        trust = trust.trust
    return trust.source


def questions(data: PrivateData) -> list[Any]:
    kinds = data.schema.columns
    found: list[Any] = [count_of(data.schema, None)]
    found += [moments_of(data.schema, name, 2, False) for name in data.schema.features]
    found += [contingency_of(data.schema, (one,), (0,)) for one, kind in kinds.items() if isinstance(kind, Category)]
    return found + [KeyCounts(name) for name in ("town", "own_town") if name in kinds]


@pytest.mark.parametrize("people", ["people", "named"])
@pytest.mark.parametrize("how", HOW)
def test_the_bits_are_the_same_and_no_row_leaves_the_database(
    how: str, people: str, connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = (joined(tables, how) for tables in both(connection, people))
    assert isinstance(source_of(there), PostgresRelated)
    expected: list[Any] = [here._trust.ask(question, Exact()) for question in questions(here)]  # type: ignore[arg-type]
    sums = [one for one in questions(there) if not isinstance(one, KeyCounts)]

    def streamed(*given: Any) -> Any:
        raise AssertionError("rows are read")

    with monkeypatch.context() as only_sums:
        only_sums.setattr(AdbcConnection, "streamed", streamed)
        found: list[Any] = [there._trust.ask(question, Exact()) for question in sums]  # type: ignore[arg-type]
    found += [there._trust.ask(one, Exact()) for one in questions(there)[len(sums) :]]  # type: ignore[arg-type]
    assert found == expected
    assert any(any(one) for one in found)
    assert there.unit == here.unit


def test_rows_and_units_are_those_of_the_relation_made_here(connection: Any) -> None:
    for how in ("unit", "public", "per unit"):
        here, there = (source_of(joined(tables, how)) for tables in both(connection))
        columns = [name for name, kind in here.schema.columns.items() if not isinstance(kind, discreet.Text)]
        rows: list[Any] = [np.sort(np.concatenate(list(one.batches(columns))), axis=0) for one in (here, there)]
        np.testing.assert_array_equal(rows[0], rows[1])
        assert here.units() == there.units()


def test_groups_that_only_the_data_know_are_read_as_a_list(connection: Any) -> None:
    text = "SELECT own_town, count(*) AS n, avg(stay) AS stay FROM joined GROUP BY own_town"
    tables = [joined(tables, "unit") for tables in both(connection)]
    found = [one.sql(text, epsilon=1e4, delta=1e-6) for one in tables]
    assert found[0].labels == found[1].labels
    assert found[0]["n"].values.tolist() == found[1]["n"].values.tolist()
    lists = {"town": Category(("Bern", "Ulm")), "own_town": Category(("Bonn", "Ulm"))}
    here, there = (one.listing(lists) for one in tables)
    assert isinstance(source_of(there), RelistedPostgres)
    question = contingency_of(here.schema, ("town", "own_town"), (0, 0))
    sums: list[Any] = [one._trust.ask(question, Exact()) for one in (here, there)]  # type: ignore[arg-type]
    assert sums[0] == sums[1]
    assert sum(sums[0]) > 0


def test_tables_of_one_database_are_joined_there_whatever_their_connections(connection: Any, postgres: str) -> None:
    ledger = account_of(Budget(1e7), Neighbors.ADD_REMOVE, UNIT)
    visits = postgres_table(postgres, "visits", schema_of(DESCRIBED), UNIT)
    people = postgres_table(postgres, "people", schema_of(OF_PEOPLE), UNIT)
    tables = {
        "visits": PrivateData.of(visits, visits.schema, ledger),
        "people": PrivateData.of(people, people.schema, ledger),
    }
    there = joined(tables, "unit")
    assert isinstance(source_of(there), PostgresRelated)
    here = joined(opened(VISITS, PEOPLE), "unit")
    question = moments_of(here.schema, "stay", 2, False)
    assert there._trust.ask(question, Exact()) == here._trust.ask(question, Exact())  # type: ignore[arg-type]
    mixed = joined(
        {**tables, "people": PrivateData.of((connection, "SELECT * FROM people"), OF_PEOPLE, ledger, unit=UNIT)}, "unit"
    )
    assert isinstance(source_of(mixed), RelatedRows)  # a connection may have tables of its own
    assert mixed._trust.ask(question, Exact()) == here._trust.ask(question, Exact())  # type: ignore[arg-type]


def test_what_postgresql_cannot_make_is_made_here(connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, there = both(connection)
    odd = PublicTable({"ward": ["day"], "note": ["a\0b"]}, {"ward": ["day", "icu", "it's"], "note": str})
    assert isinstance(source_of(there["visits"].join(odd, "ward")), RelatedRows)
    weighted = there["visits"].join(there["people"], "town", how="weighted", prefix="own_")
    assert isinstance(source_of(weighted), WeightedRows)
    alone = opened((connection, "SELECT * FROM visits"), (connection, "SELECT * FROM people"), RECORD)["visits"]
    counted = count_of(alone.schema, None)
    before = alone.join(WARDS, "ward")
    assert isinstance(source_of(before), PostgresRelated)
    exact: Any = before._trust.ask(counted, Exact())  # type: ignore[arg-type]
    done(connection, "SET default_transaction_read_only = on")  # as a copy of a server is
    after = alone.join(WARDS, "ward")
    assert isinstance(source_of(after), RelatedRows)
    assert after._trust.ask(counted, Exact()) == exact  # type: ignore[arg-type]
    done(connection, "SET default_transaction_read_only = off")
    monkeypatch.setattr("discreet.trust.sources.query.NAMELESS", 10**9)  # an older server
    assert isinstance(source_of(joined(there, "unit")), RelatedRows)


def test_a_public_text_is_matched_by_its_bytes(connection: Any) -> None:
    towns = PublicTable({"town": ["Ulm", "ulm", "Bern"], "big": [1, 2, 3]}, {"town": str, "big": (0, 9)})
    found: list[Any] = []
    for tables in both(connection):
        data = tables["visits"].join(towns, "town")
        found.append(data._trust.ask(moments_of(data.schema, "big", 2, False), Exact()))  # type: ignore[arg-type]
    assert found[0] == found[1]


def test_what_is_made_goes_with_its_source_and_is_made_again_where_it_is_lost(connection: Any, postgres: str) -> None:
    gc.collect()
    until_none_is_left(connection)
    ledger = account_of(Budget(1e7), Neighbors.ADD_REMOVE, UNIT)
    visits = postgres_table(postgres, "visits", schema_of(DESCRIBED), UNIT)
    data = PrivateData.of(visits, visits.schema, ledger).join(WARDS, "ward")
    before: Any = data._trust.ask(count_of(data.schema, None), Exact())  # type: ignore[arg-type]
    assert asked(connection, LEFT) == 2  # the rows that units may keep, and those that are joined
    lost(connection)
    assert discreet.count(data, epsilon=1e4).value == before[0]
    assert len(ledger.entries()) == 1
    del visits, data
    gc.collect()
    until_none_is_left(connection)


def test_threads_make_the_rows_once_and_get_the_same_sums(connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = (joined(tables, "unit") for tables in both(connection))
    made: list[int] = []
    make, question = PostgresRelated._make, moments_of(here.schema, "stay", 2, False)

    def counting(self: PostgresRelated) -> None:
        made.append(1)
        make(self)

    monkeypatch.setattr(PostgresRelated, "_make", counting)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: source_of(there).sum(question).tolist(), range(16)))
    assert found == [source_of(here).sum(question).tolist()] * 16
    assert made == [1]


def test_nothing_is_charged_where_a_table_is_gone(connection: Any) -> None:
    _, there = both(connection)
    data = joined(there, "unit")
    done(connection, "DROP TABLE people")
    with pytest.raises(DiscreetError, match="withheld"):
        discreet.count(data, epsilon=1.0)
    assert data.ledger.entries() == ()
    assert asked(connection, LEFT) <= 3  # the rows that units may keep, and what the next attempt drops
    filled(connection, "people", PEOPLE)
    assert discreet.count(data, epsilon=1e4).value > 0


def test_the_type_of_a_sent_text_keeps_its_letters(connection: Any) -> None:
    AdbcConnection(connection).sent("sent_rows", pa.table({"c0": ["Zoë", "日本"]}))
    assert asked(connection, "SELECT string_agg(c0, '|') FROM pg_temp.sent_rows") == "Zoë|日本"
