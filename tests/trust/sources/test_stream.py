"""A data frame that speaks Arrow is read where it lies, a batch at a time."""

from __future__ import annotations

import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from discreet.core.bound import Bound
from discreet.core.errors import MissingExtra, ParameterError, SchemaError
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.sources.source import BATCH
from discreet.trust.sources.source_of import source_of
from discreet.trust.sources.stream import ArrowFrame
from tests.trust.sources.trial import SourceTrial

TRIAL = SourceTrial(lambda table, schema, folder: ArrowFrame(pa.table(table), schema), in_memory=True)
SCHEMA = Schema({"x": Number(0, 1), "kind": Category(("f", "m"))})


class Capsule:
    """A table that offers nothing but Arrow's own interface."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


def long_table(rows: int) -> Any:
    return pa.table({"x": np.linspace(0, 1, rows), "kind": pa.array(["f", "m"] * (rows // 2)), "y": np.zeros(rows)})


@pytest.mark.parametrize("wrap", [Capsule, lambda table: table, pl.from_arrow, lambda table: table.to_batches()[0]])
def test_whatever_speaks_arrow_is_read(wrap: Any) -> None:
    source: Any = source_of(wrap(long_table(10)), SCHEMA)
    rows = np.vstack(list(source.batches(("kind", "x", "kind"))))
    np.testing.assert_array_equal(rows[:, 0], np.tile([0.0, 1.0], 5))
    np.testing.assert_array_equal(rows[:, 0], rows[:, 2])
    np.testing.assert_array_equal(rows[:, 1], np.linspace(0, 1, 10))
    assert source.units() == 10


def test_a_stream_that_can_be_read_once_is_refused() -> None:
    """Its second question would be answered about nobody."""
    reader = pa.RecordBatchReader.from_stream(long_table(10))
    with pytest.raises(ParameterError, match="only once"):
        source_of(reader, SCHEMA)
    with pytest.raises(ParameterError, match="only once"):
        source_of(Capsule(pa.RecordBatchReader.from_stream(long_table(10))), SCHEMA)


def test_an_empty_table_is_a_table() -> None:
    source: Any = source_of(long_table(10).slice(0, 0), SCHEMA)
    assert source.units() == 0
    assert source.sum(BoundedSum(lambda records: records, Bound("l1", 1.0), ("x",))).tolist() == [0]


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.float64()), pa.struct([("a", pa.int64())]), pa.month_day_nano_interval(), pa.duration("s")]
)
def test_a_column_without_single_values_is_refused_by_its_type(kind: Any) -> None:
    records = pa.table({"x": pa.nulls(3, kind), "y": [1, 2, 3]})
    with pytest.raises(SchemaError, match="neither numbers nor texts"):
        source_of(records, Schema({"x": Number(0, 1)}))
    assert source_of(records, Schema({"y": Number(0, 1)})).units() == 3


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("us", "UTC"), pa.time64("us"), pa.uuid()])
def test_numbers_are_refused_where_a_type_has_none(kind: Any, tmp_path: Path) -> None:
    """The mean of dates would be that of nothing, and be charged."""
    table = pa.table({"x": pa.nulls(3, kind)})
    pa.parquet.write_table(table, tmp_path / "x.parquet")
    frames = [table, tmp_path / "x.parquet"]
    frames += [] if pa.types.is_time(kind) else [table.to_pandas(types_mapper=pd.ArrowDtype)]
    for records in frames:
        for column in (Number(0, 1), Category((1, 2)), Category((True, False))):
            with pytest.raises(SchemaError, match="the schema has numbers there"):
                source_of(records, Schema({"x": column}))
        assert source_of(records, Schema({"x": Category(("2020-01-01",))})).units() == 3


def test_python_objects_in_polars_are_refused() -> None:
    records = pl.DataFrame({"x": pl.Series([object()], dtype=pl.Object), "y": [1.0]})
    with pytest.raises(SchemaError, match="Python objects"):
        source_of(records, Schema({"x": Number(0, 1)}))
    assert source_of(records, Schema({"y": Number(0, 1)})).units() == 1


@pytest.mark.parametrize("wrap", [pl.from_arrow, lambda table: table])
def test_a_name_is_no_pattern(wrap: Any) -> None:
    records = wrap(pa.table({"x": [1.0], "^x$": [2.0], "*": [3.0], "a.b": [4.0]}))
    source: Any = source_of(records, Schema(dict.fromkeys(("x", "^x$", "*", "a.b"), Number(0, 9))))
    for i, name in enumerate(source.schema.columns):
        np.testing.assert_array_equal(np.vstack(list(source.batches((name,)))), [[i + 1]])


def test_a_column_that_is_there_twice_is_refused() -> None:
    records = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    with pytest.raises(SchemaError, match="more than one column 'x'"):
        source_of(records, Schema({"x": Number(0, 1)}))


def test_records_of_an_unknown_kind_are_refused() -> None:
    with pytest.raises(ParameterError, match="a set cannot be read"):
        source_of({1.0, 2.0}, SCHEMA)


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"discreet\[frames\]"):
        source_of(pl.DataFrame({"x": [1.0]}), Schema({"x": Number(0, 1)}))


def most_memory(rows: int) -> int:
    """The peak of what numpy, Python and Arrow allocate for one question, beyond the table."""
    source = source_of(long_table(rows), SCHEMA)
    question = BoundedSum(lambda records: np.nan_to_num(records), Bound("l1", 1.0), ("x", "kind"))
    pool = pa.system_memory_pool()
    before, default = pa.total_allocated_bytes(), pa.default_memory_pool()
    pa.set_memory_pool(pool)
    tracemalloc.start()
    source.sum(question)
    peak = tracemalloc.get_traced_memory()[1] + pool.max_memory()
    tracemalloc.stop()
    pa.set_memory_pool(default)
    assert pa.total_allocated_bytes() <= before
    return peak


def test_memory_does_not_grow_with_the_rows() -> None:
    few, many = most_memory(4 * BATCH), most_memory(40 * BATCH)
    assert many < 1.1 * few
    assert many < 40 * BATCH * 8
