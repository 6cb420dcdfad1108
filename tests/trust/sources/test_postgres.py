"""PostgreSQL decodes, bounds and adds up by itself: the same numbers as everywhere, and no rows leave it."""

from __future__ import annotations

import dataclasses
import gc
import importlib
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, EngineFailure
from discreet.core.grid import Grid
from discreet.core.neighbors import RECORD, Unit
from discreet.questions.columns.moments import moments_of, squared_deviations_of
from discreet.questions.columns.total import total_of
from discreet.schema.condition_text import condition_of
from discreet.schema.dates import Date, Datetime
from discreet.schema.schema import Boolean, Category, Number, Schema, Text
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.adbc_connection import AdbcConnection
from discreet.trust.sources.postgres import PostgresKept
from discreet.trust.sources.query import Query, postgres_table
from discreet.trust.sources.source_of import source_of
from discreet.trust.sources.stream import Stream
from tests.trust.sources.tables import QUESTIONS, SCHEMA, UNITS, sums, table

pytestmark = pytest.mark.xdist_group("postgres")
PERSON = Unit("user", column="who", rows=2)
LEFT = "SELECT count(*) FROM pg_class WHERE relname LIKE 'discreet_kept_%'"


@pytest.fixture
def connection(postgres: str) -> Iterator[Any]:
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    with dbapi.connect(postgres, autocommit=True) as opened:
        yield opened


def asked(connection: Any, query: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()[0][0]


def done(connection: Any, *statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def filled(connection: Any, name: str, columns: dict[str, list[Any]]) -> None:
    done(connection, f'DROP TABLE IF EXISTS "{name}"')
    with connection.cursor() as cursor:
        cursor.adbc_ingest(name, pa.table(columns))


HUGE = [
    f"'0.{'1' * 4094}'",
    f"'0.{'1' * 4095}'",
    f"'{'9' * 4096}'",
    f"'{'9' * 4097}'",
    f"'0.{'0' * 4093}1'",
    "'1e308'",
    "'1.8e308'",
    "'-1e400'",
    "'1e-400'",
]
HALF = "'17976931348623157" + "0" * 292 + "'"  # the greatest float, as a decimal
VALUES = {
    "int2": ["0", "7", "-32768", "32767"],
    "int4": ["0", "12", "-3", "2147483647"],
    "int8": ["7", "9007199254740993", "-9223372036854775808", "9223372036854775807", "1000000"],
    "float4": ["0.1", "'-0'", "'NaN'", "'Infinity'", "'1e-45'", "16777217"],
    "float8": ["0.1", "'-0'", "'NaN'", "'-Infinity'", "'5e-324'", "'1.7976931348623157e308'", "7"],
    "bool": ["true", "false"],
    "numeric": ["0.1", "1.50", "'NaN'", "'Infinity'", "'-Infinity'", "-0.0", HALF, *HUGE],
    "numeric(10, 2)": ["0.1", "7", "'NaN'", "-99999999.99"],
    "text": ["'7'", "' 07 '", "'f'", "'F'", "'true'", "'Yes'", "E'\\v icu\\r'", "'ICU'", "'x\u00a0'", "''", "'  '"],
    "varchar(9000)": [
        "'icu'",
        f"'icu{' ' * 4093}'",
        f"'icu{' ' * 4094}'",
        "repeat('\u65e5', 1366)",
        "E'\\\\'",
        "'it''s'",
    ],
    "date": [
        "'2020-02-29'",
        "'infinity'",
        "'-infinity'",
        "'0001-01-01'",
        "'9999-12-31'",
        "'4000-01-01 BC'",
        "'12000-01-01'",
    ],
    "timestamp": [
        "'9999-12-30 23:59:59.999999'",
        "'1969-12-31 23:59:59.999999'",
        "'9999-12-31 23:59:59.999999'",
        "'infinity'",
        "'0044-03-15 BC'",
    ],
    "timestamptz": [
        "'2020-06-30 23:59:59.5+05:45'",
        "'2020-07-01 00:00:00-11'",
        "'-infinity'",
        "'9999-12-31 23:59:59+00'",
    ],
}
WIDE, LISTED = Number(-1e50, 1e50), ("icu", "it's", "\\", "No", "x\0", "\u65e5")
KINDS: list[Any] = [
    *(WIDE, Number(0, 10), Number(-1, 1e-40), Boolean(), Category((7, 12, -3, "f")), Category(LISTED[:4]), Text()),
    *(Category((*LISTED, *"abcdefgh")), Category((True, False)), Date("1960-01-01", "2030-01-01")),
    *(Date("9990-01-01", "9999-12-31"), Datetime("2020-06-30", "2020-07-02"), Category(("ICU", "Yes", *"abcdefgh"))),
]


def test_every_type_is_decoded_as_arrow_decodes_it(connection: Any) -> None:
    """Whatever a value is, and whatever the session is set to; what is not decoded there, Arrow reads."""
    done(
        connection,
        "SET TimeZone = 'Asia/Kathmandu'",
        "SET DateStyle = 'SQL, DMY'",
        "SET standard_conforming_strings = off",
    )
    there: Counter[str] = Counter()
    for type_name, values in VALUES.items():
        rows = ", ".join(f"(CAST({value} AS {type_name}))" for value in [*values, "NULL"])
        for kind in KINDS:
            try:
                source = source_of((connection, f"SELECT x FROM (VALUES {rows}) AS v (x)"), Schema({"x": kind}))
            except DiscreetError:
                continue
            assert isinstance(source, Query)
            assert source._rows is not None
            if not source._rows.reads(["x"]):
                continue
            there[type_name] += 1
            if isinstance(kind, Text):
                assert counted(source.keys("x")) == counted(Stream.keys(source, "x")), (type_name, kind)
            else:
                found, expected = (
                    np.concatenate(list(one)) for one in (source._rows.batches(("x",)), source.batches(("x",)))
                )
                order = [np.lexsort((np.signbit(one[:, 0]), one[:, 0])) for one in (found, expected)]
                np.testing.assert_array_equal(found[order[0]], expected[order[1]], f"{type_name} {kind}")
                assert not np.signbit(found[found == 0]).any()
    assert set(there) == set(VALUES)
    assert there["text"] >= 4


def counted(batches: Any) -> Counter[str]:
    found: Counter[str] = Counter()
    for batch in batches:
        found.update(batch)
    return found


class Watched:
    """A connection that counts the rows which leave the database."""

    def __init__(self, connection: Any) -> None:
        self._connection, self.rows = connection, 0

    def adbc_get_info(self) -> Any:
        return self._connection.adbc_get_info()

    def cursor(self) -> Any:
        watched, cursor = self, self._connection.cursor()

        class Counted:
            def __enter__(self) -> Any:
                return self

            def __exit__(self, *error: object) -> None:
                cursor.close()

            def execute(self, query: str) -> None:
                cursor.execute(query)

            def fetchall(self) -> Any:
                found = cursor.fetchall()
                watched.rows += len(found)
                return found

            def fetch_record_batch(self) -> Any:
                reader = cursor.fetch_record_batch()
                batches = list(reader)
                watched.rows += sum(batch.num_rows for batch in batches)
                return pa.RecordBatchReader.from_batches(reader.schema, batches)

        return Counted()


def test_only_sums_leave_the_database(connection: Any) -> None:
    filled(connection, "visits", table())
    for unit in UNITS.values():
        watched = Watched(connection)
        source = Query(watched, "SELECT * FROM visits", SCHEMA, unit)
        found = sums(source, [name for name in QUESTIONS if QUESTIONS[name].tally is not None])
        assert len(found) > 4
        assert source.units() > 50
        assert watched.rows < 100
        assert counted(source.keys("town", condition_of("days > 3", SCHEMA))).total() > 30
        assert watched.rows < 120
    with_units = source_of(table(), SCHEMA, UNITS["three rows"])
    few = condition_of("days > 3", SCHEMA)
    assert counted(source.keys("town", few)) == counted(with_units.keys("town", few))


TINY = [5e-324, 1e-300, 1e-160, 1e-80, 0.0, 1.0, 1 - 2**-53, 0.5, None]


def test_products_near_zero_stop_nothing_and_change_no_bit(connection: Any) -> None:
    """PostgreSQL stops on an underflow, which would tell that there is such a record."""
    filled(connection, "tiny", {"x": TINY, "y": [None if x is None else -x for x in TINY]})
    schema, wide = Schema({"x": Number(0, 1), "y": Number(-1, 0)}), Schema(dict.fromkeys("xy", Number(-1e50, 1e50)))
    source, plain = (
        source_of(one, schema)
        for one in ((connection, "SELECT * FROM tiny"), {"x": TINY, "y": [None if x is None else -x for x in TINY]})
    )
    for column in schema.columns:
        asked = [moments_of(schema, column, degree, counted) for degree in (1, 2, 4) for counted in (True, False)]
        centres = [schema.number(column).lower, schema.number(column).upper, 0.0]
        asked += [squared_deviations_of(schema, column, centre, degree) for centre in centres for degree in (1, 2)]
        asked += [total_of(schema, column, 0.0), total_of(wide, column, 0.0)]
        for question in asked:
            assert source.sum(question).tolist() == plain.sum(question).tolist()


def test_conditions_and_expressions_have_the_same_bits(connection: Any) -> None:
    filled(connection, "visits", table())
    texts = ["days / 7 + 0.1", "sqrt(abs(days - 12)) * 3", "case when kind == 'f' then days else 2 * days end"]
    for number, text in enumerate(texts):
        found = []
        for records in (table(), (connection, "SELECT * FROM visits")):
            data = PrivateData.of(records, SCHEMA, Budget(1e9), unit=UNITS["three rows"] if number == 1 else RECORD)
            derived = data.derive(new=text).where("days > 2 and kind != 'm'")
            found.append(discreet.total(derived, "new", epsilon=1e8).value)
        assert abs(found[0] - found[1]) < 1e-4


WHO = [
    "7",
    "07",
    " 7.0",
    "+7",
    "8",
    "8.50",
    "08.5",
    "-0",
    "0",
    "1e3",
    "1000",
    "7a",
    "\u00e97",
    None,
    str(2**70),
    f"0{2**70}",
    "-.5",
    "-00.50",
    ".",
    "+.0",
    "-7.",
]


def test_digits_name_the_same_people_as_elsewhere(connection: Any) -> None:
    people: dict[str, list[Any]] = {"who": WHO * 3, "x": [n / 63 for n in range(63)]}
    filled(connection, "people", people)
    schema = Schema({"x": Number(0, 1)})
    source, plain = (source_of(one, schema, PERSON) for one in ((connection, "SELECT * FROM people"), people))
    assert isinstance(source, Query)
    assert isinstance(source._kept, PostgresKept)
    total = moments_of(schema, "x", 2, False)
    assert source.units() == plain.units()
    assert source.sum(total).tolist() == plain.sum(total).tolist()


def test_what_is_set_aside_goes_with_its_source(connection: Any, postgres: str) -> None:
    filled(connection, "visits", table())
    source = source_of((connection, "SELECT * FROM visits"), SCHEMA, UNITS["three rows"])
    other = postgres_table(postgres, "visits", SCHEMA, UNITS["three rows"])
    assert asked(connection, LEFT) == 2
    assert asked(connection, LEFT.replace("count(*)", "count(*) FILTER (WHERE relpersistence = 't')")) == 2
    del source, other
    gc.collect()
    until_none_is_left(connection)


def test_a_source_that_goes_waits_for_a_statement_on_its_connection(connection: Any) -> None:
    """One that the garbage collector finds while another one reads, through the same connection of the user's."""
    filled(connection, "visits", table())
    source = source_of((connection, "SELECT * FROM visits"), SCHEMA, UNITS["three rows"])
    read = AdbcConnection(connection).streamed("SELECT n FROM generate_series(1, 2000000) AS rows (n)")
    first = next(read)
    del source
    gc.collect()
    assert len(first) + sum(len(batch) for batch in read) == 2_000_000
    assert asked(connection, LEFT) == 0


KILLED = """
import sys, time
from discreet.core.neighbors import Unit
from discreet.schema.schema import Number, Schema
from discreet.trust.sources.query import postgres_table
source = postgres_table(sys.argv[1], "visits", Schema({"days": Number(0, 25)}), Unit("user", column="who", rows=3))
print("ready", flush=True)
time.sleep(600)
"""


def test_nothing_is_left_where_the_process_is_killed(connection: Any, postgres: str) -> None:
    filled(connection, "visits", table())
    with subprocess.Popen([sys.executable, "-c", KILLED, postgres], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert asked(connection, LEFT) == 1
        process.send_signal(signal.SIGKILL)
        process.wait()
    until_none_is_left(connection)


def until_none_is_left(connection: Any) -> None:
    """The server notices a line that broke when it looks: at once, but in its own process."""
    for _ in range(600):
        if asked(connection, LEFT) == 0:
            return
        time.sleep(0.05)
    raise AssertionError(asked(connection, LEFT))


def lost(connection: Any) -> None:
    """End all other connections."""
    asked(
        connection,
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND datname IS NOT NULL",
    )


def test_a_lost_connection_takes_its_table_along_and_it_is_made_again(connection: Any, postgres: str) -> None:
    filled(connection, "visits", table())
    source = postgres_table(postgres, "visits", SCHEMA, UNITS["three rows"])
    before, units = sums(source, ["histogram", "moments 2 False"]), source.units()
    lost(connection)
    with pytest.raises(EngineFailure, match="withheld"):
        source.sum(QUESTIONS["histogram"])
    source.check_ready()
    assert sums(source, ["histogram", "moments 2 False"]) == before
    assert source.units() == units


def test_a_connection_that_is_lost_after_the_charge_goes_on_with_the_same_key(connection: Any, postgres: str) -> None:
    filled(connection, "visits", table())
    for unit in (RECORD, UNITS["three rows"]):
        data = PrivateData.of(postgres_table(postgres, "visits", SCHEMA, unit), SCHEMA, Budget(9.0), unit=unit)
        source, once = data._trust._source, [True]  # type: ignore[attr-defined]

        def breaking(query: str, own: Any = source._connection.answered, once: Any = once) -> Any:
            if once and "trunc(" in query:
                once.clear()
                lost(connection)
            return own(query)

        source._connection.answered = breaking
        with pytest.raises(EngineFailure, match="charged, epsilon 1, and stays so"):
            discreet.mean(data, "days", epsilon=1.0, key="mean")
        assert abs(discreet.mean(data, "days", epsilon=1.0, key="mean").value - 12.5) < 5
        assert len(data.ledger.entries()) == 1


def test_a_server_that_writes_texts_otherwise_hands_rows_over(connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(connection, "visits", table())
    answered = AdbcConnection.answered
    monkeypatch.setattr(
        AdbcConnection,
        "answered",
        lambda self, query: [("LATIN1", "")] if "md5('')" in query else answered(self, query),
    )
    for unit in UNITS.values():
        source = source_of((connection, "SELECT * FROM visits"), SCHEMA, unit)
        assert isinstance(source, Query)
        assert not isinstance(source._kept, PostgresKept)
        assert sums(source, ["histogram"]) == sums(source_of(table(), SCHEMA, unit), ["histogram"])


def test_sums_beyond_four_bytes_are_exact(connection: Any) -> None:
    schema = Schema({"x": Number(0, 2**40)})
    fine = moments_of(schema, "x", 1, False)
    for question in (fine, dataclasses.replace(fine, grid=Grid(-52))):
        values = {"x": [float(n * 2**28 + 1) for n in range(4096)]}
        filled(connection, "large", values)
        found = source_of((connection, "SELECT * FROM large"), schema).sum(question)
        assert found.tolist() == source_of(values, schema).sum(dataclasses.replace(question, total=None)).tolist()
