"""What happens when records cannot be read: before the charge, after it, and at the next try."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import EngineFailure, KeyReused, UncommittedCharge, UnplannedRelease
from discreet.core.events import Composed
from discreet.core.grid import Array
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.columns.total import count_of
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Number, Schema
from discreet.statistics.tables.conversation import Conversation
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.query import postgres_table
from discreet.trust.sources.shielded import withheld

pytestmark = pytest.mark.xdist_group("postgres")
SCHEMA = Schema({"x": Number(0, 10)})
COUNT = count_of(SCHEMA, "x")
NOISE = Laplace(2.0)


class Breaking(Matrix):
    """Records that are read while `left` lasts."""

    def __init__(self, left: int = 0) -> None:
        super().__init__(np.ones((500, 1)), SCHEMA)
        self.left = left

    def _of(self, rows: Array, columns: Sequence[str]) -> Array:
        self.left -= 1
        if self.left < 0:
            raise withheld("read what breaks", OSError())
        return super()._of(rows, columns)


def behind(source: Matrix) -> PrivateData:
    return PrivateData(Curator(source), MemoryLedger(Budget(4.0)))


def counted(data: PrivateData, key: str | None = None, times: int = 1) -> list[float]:
    with data.permit(Composed((NOISE.event,) * times), "count", key=key) as permit:
        return [float(permit.ask(COUNT, NOISE)[0]) for _ in range(times)]


def test_the_failure_says_what_was_spent_and_the_same_key_goes_on() -> None:
    source = Breaking()
    data = behind(source)
    for key in ("k", None):
        source.left = 0
        with pytest.raises(EngineFailure) as caught:
            counted(data, key)
        text = str(caught.value)
        assert "charged, epsilon 0.5, and stays so; nothing was released, and the same key goes on" in text
        before, name = data.ledger.balance(), data.ledger.entries()[-1].key
        assert f"key={name!r}" in text
        source.left = 1
        assert abs(counted(data, name)[0] - 500) < 60
        assert counted(data, name) == counted(data, name)
        assert data.ledger.balance() == before


def test_a_function_that_is_asked_again_draws_once() -> None:
    source = Breaking()
    data = behind(source)
    with pytest.raises(EngineFailure, match="goes on"):
        discreet.mean(data, "x", epsilon=1.0, key="mean")
    source.left = 5
    first = discreet.mean(data, "x", epsilon=1.0, key="mean")
    assert discreet.mean(data, "x", epsilon=1.0, key="mean").value == first.value
    assert len(data.ledger.entries()) == 1


def test_what_was_released_in_part_does_not_go_on() -> None:
    source = Breaking(1)
    data = behind(source)
    with pytest.raises(EngineFailure, match="this was not released") as caught:
        counted(data, "k", times=2)
    assert "goes on" not in str(caught.value)
    source.left = 9
    with pytest.raises(UncommittedCharge):
        counted(data, "k", times=2)


def test_another_failure_does_not_go_on() -> None:
    data = behind(Matrix(np.ones((9, 1)), SCHEMA))
    with pytest.raises(RuntimeError), data.permit(Composed((NOISE.event,)), "count", key="k"):
        raise RuntimeError
    with pytest.raises(UncommittedCharge):
        counted(data, "k")


def test_a_permit_is_over_after_the_failure_even_if_it_is_swallowed_or_entered_again() -> None:
    source = Breaking()
    data = behind(source)
    permit = data.permit(Composed((NOISE.event,) * 3), "count", key="k")
    for _ in range(2):
        with permit:
            source.left = 0
            if not permit._failed:
                with pytest.raises(EngineFailure):
                    permit.ask(COUNT, NOISE)
            source.left = 9
            with pytest.raises(UnplannedRelease):
                permit.ask(COUNT, NOISE)
    assert [entry.committed for entry in data.ledger.entries()] == [False]
    assert len(counted(data, "k", times=3)) == 3


def test_what_goes_on_is_the_same_question() -> None:
    source = Breaking()
    data = behind(source)
    with pytest.raises(EngineFailure):
        counted(data, "k")
    source.left = 9
    other = BoundedSum(lambda records: records[:, :1], COUNT.bound, ("x",), COUNT.grid)
    with pytest.raises(KeyReused), data.permit(Composed((NOISE.event,)), "count", key="k") as permit:
        permit.ask(other, NOISE)


def test_sixteen_retries_at_once_are_one_draw() -> None:
    source = Breaking()
    data = behind(source)
    with pytest.raises(EngineFailure):
        counted(data, "k")
    source.left = 99

    def again(_: int) -> float | None:
        try:
            return counted(data, "k")[0]
        except UncommittedCharge:
            return None

    with ThreadPoolExecutor(16) as pool:
        drawn = {value for value in pool.map(again, range(16)) if value is not None}
    assert len(drawn) == 1
    assert source.left == 98


def test_a_conversation_that_could_not_begin_goes_on() -> None:
    source = Breaking()
    data = PrivateData(Curator(source), MemoryLedger(Budget(4.0, 1e-6)))
    with pytest.raises(EngineFailure, match="goes on"), Conversation(data, ("x",), bins=4, key="talk"):
        pass
    source.left = 9
    with Conversation(data, ("x",), bins=4, key="talk") as talk:
        assert talk.receipt.key == "talk"
    assert len(data.ledger.entries()) == 1


def test_reports_that_left_their_owners_are_not_made_twice() -> None:
    """Under local trust the first batches have been reported when the next cannot be read."""
    source = Breaking()
    data = PrivateData(Local(source), MemoryLedger(Budget(4.0)))
    with pytest.raises(EngineFailure, match="this was not released"):
        counted(data, "k")
    source.left = 9
    with pytest.raises(UncommittedCharge):
        counted(data, "k")


def test_a_condition_does_not_hide_what_is_below_it() -> None:
    source = Breaking()
    data = behind(source).where("x > 0")
    with pytest.raises(EngineFailure, match="goes on"):
        counted(data, "k")
    source.left = 9
    counted(data, "k")
    assert len(data.ledger.entries()) == 1


Broken = Callable[[], None]


def _parquet(folder: Path) -> tuple[Any, Broken]:
    path = folder / "x.parquet"
    pa.parquet.write_table(pa.table({"x": [1.0] * 500}), path)
    return path, path.unlink


def _csv(folder: Path) -> tuple[Any, Broken]:
    path = folder / "x.csv"
    path.write_text("x\n" + "1\n" * 500)
    return path, path.unlink


def _relation(folder: Path) -> tuple[Any, Broken]:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE visits AS SELECT 1.0 AS x FROM range(500)")
    return connection.table("visits"), connection.close


SOURCES = {"parquet": _parquet, "csv": _csv, "relation": _relation}


@pytest.mark.parametrize("kind", SOURCES)
def test_what_cannot_be_read_is_found_before_the_charge(kind: str, tmp_path: Path) -> None:
    records, breaks = SOURCES[kind](tmp_path)
    data = PrivateData.of(records, SCHEMA, Budget(1.0))
    first = discreet.count(data, "x", epsilon=0.5, key="k").value
    breaks()
    with pytest.raises(EngineFailure, match="Nothing was released or spent"):
        discreet.count(data, "x", epsilon=0.5)
    assert len(data.ledger.entries()) == 1
    assert discreet.count(data, "x", epsilon=0.5, key="k").value == first  # which reads nothing


@pytest.mark.parametrize("kind", SOURCES)
def test_what_breaks_after_it_was_looked_at_goes_on(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records, breaks = SOURCES[kind](tmp_path)
    data = PrivateData.of(records, SCHEMA, Budget(1.0))
    breaks()
    monkeypatch.setattr(type(data._trust._source), "check_ready", lambda self: None)  # type: ignore[attr-defined]
    for question in (discreet.count, discreet.mean):
        with pytest.raises(EngineFailure, match="the same key goes on"):
            question(data, "x", epsilon=0.25)


def test_units_that_were_set_aside_need_their_database_no_more() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE visits AS SELECT range AS who, 1.0 AS x FROM range(500)")
    data = PrivateData.of(connection.table("visits"), SCHEMA, Budget(4.0), unit=discreet.Unit("user", "who"))
    connection.close()
    assert abs(discreet.count(data, "x", epsilon=4.0).value - 500) < 20


def ended(postgres: str) -> None:
    """Drop all connections but the one that says so."""
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    with dbapi.connect(postgres, autocommit=True) as connection, connection.cursor() as cursor:
        others = "backend_type = 'client backend' AND pid <> pg_backend_pid()"
        cursor.execute(f"SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE {others}")
        cursor.fetchall()


@pytest.fixture
def visits(postgres: str) -> str:
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    with dbapi.connect(postgres, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS dropped")
        cursor.execute("CREATE TABLE dropped AS SELECT 1.0::float8 AS x FROM generate_series(1, 500)")
    return postgres


def test_a_lost_connection_to_postgres_is_made_again(visits: str) -> None:
    data = PrivateData.of(postgres_table(visits, "dropped", SCHEMA), SCHEMA, Budget(8.0))
    for _ in range(2):
        ended(visits)
        assert abs(discreet.count(data, "x", epsilon=4.0).value - 500) < 20
    assert len(data.ledger.entries()) == 2


def test_a_connection_that_is_lost_after_the_charge_goes_on(visits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = postgres_table(visits, "dropped", SCHEMA)
    data = PrivateData.of(source, SCHEMA, Budget(1.0))
    with monkeypatch.context() as patch:
        patch.setattr(type(source), "check_ready", lambda self: ended(visits))
        with pytest.raises(EngineFailure, match="epsilon 1, and stays so; nothing was released, and the same key"):
            discreet.count(data, "x", epsilon=1.0, key="k")
    assert abs(discreet.count(data, "x", epsilon=1.0, key="k").value - 500) < 40
    assert len(data.ledger.entries()) == 1


def test_a_connection_of_the_users_own_is_refused_when_it_is_lost(visits: str) -> None:
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    with dbapi.connect(visits, autocommit=True) as connection:
        data = PrivateData.of((connection, "SELECT * FROM dropped"), SCHEMA, Budget(1.0))
        ended(visits)
        with pytest.raises(EngineFailure, match=r"Nothing was released or spent. Connect to the database again"):
            discreet.count(data, "x", epsilon=1.0)
    assert data.ledger.entries() == ()


def test_every_refusal_inside_a_permit_says_that_it_was_charged() -> None:
    data = behind(Matrix(np.ones((9, 1)), SCHEMA))
    error = UnplannedRelease("something", "it cannot be", "", "Nothing was released.")
    with pytest.raises(UnplannedRelease, match="charged and stays so"), data.permit(NOISE.event, "count"):
        raise error
