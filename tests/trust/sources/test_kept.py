"""What units keep is chosen in bounded memory, and nothing of it stays behind."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.core.bound import Bound
from discreet.core.neighbors import Unit
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Number, Schema
from discreet.trust.sources import engine
from discreet.trust.sources.stream import Stream

SCHEMA = Schema({f"x{i}": Number(0, 1) for i in range(8)})
UNIT = Unit("user", column="who", rows=2)


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
    monkeypatch.setattr(engine, "MEMORY", "50MB")
    monkeypatch.setattr(engine, "THREADS", 1)
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
    monkeypatch.setattr(engine, "MEMORY", "100MB")
    monkeypatch.setattr(engine, "THREADS", 1)
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
