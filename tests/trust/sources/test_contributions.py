"""A unit keeps so many of its rows, each with the same chance, whatever the rest of the table is."""

from __future__ import annotations

from collections import Counter, defaultdict

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.neighbors import Unit
from discreet.schema.schema import Number, Schema, Text
from discreet.trust.sources.contributions import kept_rows, start, text_ranks
from discreet.trust.sources.engine import engine
from discreet.trust.sources.kept import START, Kept

Rows = list[tuple[str, float, str | None]]
ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "Zoë"]), st.sampled_from([0.0, 1.0, 2.5]), st.sampled_from(["x", "y", None])),
    max_size=40,
)


def by_hand(rows: Rows, most: int) -> Counter[tuple[str, float, str | None]]:
    """The rows that are kept, from the definition."""
    units: dict[str, list[tuple[str, float, str | None]]] = defaultdict(list)
    for row in rows:
        units[row[0]].append(row)
    kept: Counter[tuple[str, float, str | None]] = Counter()
    for unit, own in units.items():
        own.sort(key=lambda row: (row[1], row[2] is not None, (row[2] or "").encode()))
        n = len(own)
        k = min(most, n)
        kept.update(row for p, row in enumerate(own) if (p * k + start(unit) % n) % n < k)
    return kept


def by_arrays(rows: Rows, most: int) -> Counter[tuple[str, float, str | None]]:
    content = [np.array([row[1] for row in rows]), text_ranks([row[2] for row in rows])]
    return Counter(rows[i] for i in kept_rows([row[0] for row in rows], content, most))


def by_engine(rows: Rows, most: int) -> Counter[tuple[str, float, str | None]]:
    schema = Schema({"x": Number(0, 9), "t": Text(), "who again": Text()})
    columns = [[row[i] for row in rows] for i in (0, 1, 2, 0)]
    types = [pa.string(), pa.float64(), pa.string(), pa.string()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    connection = engine()
    records = connection.from_arrow(pa.table(arrays, names=["u", "c0", "c1", "c2"]))
    Kept("read", connection, records, schema, Unit("user", column="who", rows=most))
    return Counter(connection.execute("SELECT c2, c0, c1 FROM kept").fetchall())


@settings(max_examples=30)
@given(ROWS, st.integers(1, 9))
def test_arrays_and_engine_keep_the_rows_of_the_definition(rows: Rows, most: int) -> None:
    assert by_arrays(rows, most) == by_hand(rows, most) == by_engine(rows, most)


@given(ROWS, st.integers(1, 9))
def test_a_unit_keeps_exactly_as_many_rows_as_it_may_and_has(rows: Rows, most: int) -> None:
    counts = Counter(row[0] for row in rows)
    kept = Counter(row[0] for row in by_arrays(rows, most).elements())
    assert kept == {unit: min(count, most) for unit, count in counts.items()}


@given(ROWS, ROWS, st.integers(1, 9))
def test_what_a_unit_keeps_depends_on_no_other_unit(rows: Rows, others: Rows, most: int) -> None:
    own = [row for row in rows if row[0] == "a"]
    mixed = own + [row for row in others if row[0] != "a"]
    kept = {row: count for row, count in by_arrays(mixed, most).items() if row[0] == "a"}
    assert kept == dict(by_arrays(own, most))


@pytest.mark.parametrize("most", [1, 3, 7])
def test_every_row_is_kept_equally_often(most: int) -> None:
    """Nine rows are equal and one is not: a choice among values instead of rows would favour the one."""
    people, values = 4000, np.array([1.0] * 9 + [100.0])
    units = [f"p{i}" for i in range(people) for _ in values]
    kept = kept_rows(units, [np.tile(values, people)], most)
    share = np.tile(values, people)[kept].tolist().count(100.0) / people
    chance = most / 10
    assert share == pytest.approx(chance, abs=5 * np.sqrt(chance * (1 - chance) / people))


def test_more_rows_than_anybody_has_are_all_kept() -> None:
    rows: Rows = [("a", 1.0, "x")] * 5
    for most in (5, 2**20, 2**30):
        assert by_arrays(rows, most).total() == by_engine(rows, most).total() == 5


def test_the_engine_starts_where_python_starts() -> None:
    names = ["ann", "Zoë", "𝄞", "O'Brien", "a\x00b"]
    rows = duckdb.connect().execute(f"SELECT {START} FROM (SELECT unnest(?) AS u)", [names]).fetchall()
    assert [row[0] for row in rows] == [start(name) for name in names]
