"""A unit keeps so many of its rows, each with the same chance, whatever the rest of the table is."""

from __future__ import annotations

import gc
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.bound import Bound
from discreet.core.neighbors import Unit
from discreet.questions.question import BoundedSum
from discreet.schema.relation.limited_rows import START
from discreet.schema.schema import Number, Schema, Text
from discreet.trust.sources import engine as engine_module
from discreet.trust.sources.engine import engine
from discreet.trust.sources.kept_rows import KeptRows, kept_rows, start, text_ranks
from discreet.trust.sources.stream import Stream

Rows = list[tuple[str, float, str | None]]
ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "Zoë"]), st.sampled_from([0.0, 1.0, 2.5]), st.sampled_from(["x", "y", None])),
    max_size=40,
)
SCHEMA = Schema({f"x{i}": Number(0, 1) for i in range(8)})
UNIT = Unit("user", column="who", rows=2)


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
    KeptRows("read", connection, records, schema, Unit("user", column="who", rows=most))
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


def batches(count: int, units: int) -> Iterator[Any]:
    rng = np.random.default_rng(1)
    for _ in range(count):
        columns = [rng.integers(0, units, 2**16), *rng.random((8, 2**16))]
        yield pa.record_batch([pa.array(column) for column in columns], names=["who", *SCHEMA.columns])


@pytest.mark.parametrize("units", [1, *(pytest.param(few, marks=pytest.mark.slow) for few in (1000, 10**9))])
def test_records_larger_than_the_memory_are_spilled_and_the_spill_is_removed(
    units: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifty megabytes of records, and as much of keys to sort them by; one unit has all, or each has few."""
    monkeypatch.setattr(engine_module, "MEMORY", "50MB")
    monkeypatch.setattr(engine_module, "THREADS", 1)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = Stream("read", lambda names: batches(12, units), SCHEMA, UNIT)
    counted = sum(len(batch) for batch in kept.batches(("x0",)))
    assert counted == {1: 2, 1000: 2000}.get(units, 12 * 2**16)
    (spill,) = tmp_path.iterdir()
    assert spill.stat().st_mode & 0o077 == 0
    del kept
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("units", [pytest.param(1, marks=pytest.mark.slow), 10**9])
def test_units_are_pooled_in_bounded_memory_too(units: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "MEMORY", "100MB")
    monkeypatch.setattr(engine_module, "THREADS", 1)
    pooled = Stream("read", lambda names: batches(24, units), SCHEMA, Unit("user", column="who", pooled=True))
    ones = BoundedSum(lambda records: np.ones((len(records), 1)), Bound("l1", 1.0), ("x0",))
    brought = ones.grid.values(pooled.sum(ones))
    assert brought == pytest.approx([pooled.units()], rel=1e-6)


def test_two_questions_can_be_asked_at_once() -> None:
    def read(names: Any) -> Iterator[Any]:
        return (batch.select(list(names)) for batch in batches(2, 10**9))

    source = Stream("read", read, SCHEMA, UNIT)
    first, second = source.batches(("x0",)), source.batches(("x1", "x2"))
    pairs = [(len(a), b.shape[1]) for a, b in zip(first, second, strict=True)]
    assert sum(rows for rows, _ in pairs) == 2**17
