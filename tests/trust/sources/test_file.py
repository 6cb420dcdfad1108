"""Files alone, in folders and by patterns: one header, one set of records."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from discreet.core.errors import SchemaError
from discreet.core.neighbors import Unit
from discreet.questions.tables.contingency import contingency_of
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.sources import file
from discreet.trust.sources.engine import engine
from discreet.trust.sources.file import AHEAD, File, ahead, column_names, files_at
from discreet.trust.sources.source_of import source_of
from tests.trust.sources.tables import csv_of
from tests.trust.sources.trial import SourceTrial

TRIAL = SourceTrial(lambda table, schema, folder: File(csv_of(table, folder / "table.csv"), schema), mixed=True)
SCHEMA = Schema({"x": Number(0, 100)})


def test_the_batches_come_whole_and_in_order_from_another_thread() -> None:
    readers = set()

    def batches() -> Iterator[int]:
        for batch in range(100):
            readers.add(threading.get_ident())
            yield batch

    assert list(ahead(batches())) == list(range(100))
    assert readers.isdisjoint({threading.get_ident()})
    assert list(ahead([])) == []


def test_a_few_batches_are_held_in_advance_and_no_more() -> None:
    read: list[int] = []

    def batches() -> Iterator[int]:
        for batch in range(100):
            read.append(batch)
            yield batch

    before = threading.active_count()
    coming = ahead(batches())
    assert next(coming) == 0
    coming.close()  # type: ignore[attr-defined]
    assert 1 <= len(read) <= 1 + AHEAD
    assert threading.active_count() == before


def test_an_error_of_the_reader_reaches_whoever_asks_in_its_turn() -> None:
    def batches() -> Iterator[int]:
        yield 1
        raise OSError("the disk is gone")

    coming = ahead(batches())
    assert next(coming) == 1
    with pytest.raises(OSError, match="gone"):
        next(coming)


def values(path: Any, unit: Unit | None = None) -> list[float]:
    source: Any = source_of(path, SCHEMA, unit) if unit else source_of(path, SCHEMA)
    return sorted(np.vstack(list(source.batches(("x",))))[:, 0].tolist())


def csv(path: Path, numbers: list[Any], name: str = "x") -> None:
    path.parent.mkdir(exist_ok=True)
    pd.DataFrame({name: numbers}).to_csv(path, index=False)


def test_a_folder_is_all_its_files_and_a_pattern_some_of_them(tmp_path: Path) -> None:
    for year in (2023, 2024):
        for month in (1, 2):
            csv(tmp_path / str(year) / f"visits-{month}.csv", [year % 100, month])
    csv(tmp_path / "2024" / "notes.txt", [99], "y")
    assert values(tmp_path / "2024") == [1, 2, 24, 24]
    assert values(f"{tmp_path}/*/visits-1.csv") == [1, 1, 23, 24]
    assert values(f"{tmp_path}/**/*.csv") == [1, 1, 2, 2, 23, 23, 24, 24]


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "a?.csv", "it's.csv", 'a "b".csv', "a b;--.csv"])
def test_the_name_of_a_file_is_no_pattern_where_the_file_exists(name: str, tmp_path: Path) -> None:
    csv(tmp_path / name, [1])
    csv(tmp_path / "a1.csv", [2])
    assert values(tmp_path / name) == [1]
    assert files_at(tmp_path / name) == (tmp_path / name,)


def test_files_with_different_headers_are_refused(tmp_path: Path) -> None:
    csv(tmp_path / "a.csv", [1])
    csv(tmp_path / "b.csv", [1], "y")
    with pytest.raises(SchemaError, match=r"b\.csv does not have the header of a\.csv"):
        source_of(tmp_path, SCHEMA)
    with pytest.raises(SchemaError, match="header"):
        column_names(tmp_path)


def test_files_of_two_kinds_are_refused(tmp_path: Path) -> None:
    csv(tmp_path / "a.csv", [1])
    pa.parquet.write_table(pa.table({"x": [1]}), tmp_path / "b.parquet")
    with pytest.raises(SchemaError, match="one kind"):
        source_of(tmp_path, SCHEMA)


def test_a_folder_or_pattern_without_files_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "*.csv", tmp_path / "none.csv"):
        with pytest.raises(SchemaError, match="no such file"):
            source_of(place, SCHEMA)


def test_parquet_files_may_differ_in_types(tmp_path: Path) -> None:
    for i, column in enumerate(([1], [2.5], ["3"], [True])):
        pa.parquet.write_table(pa.table({"x": column}), tmp_path / f"{i}.parquet")
    assert values(tmp_path) == [1, 1, 2.5, 3]
    pa.parquet.write_table(pa.table({"x": [[1]]}), tmp_path / "9.parquet")
    with pytest.raises(SchemaError, match="neither numbers nor texts"):
        source_of(tmp_path, SCHEMA)


def test_names_that_differ_in_case_are_different_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame({"X": [1.0], "x": [2.0], "a.b": [3.0]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        source: Any = source_of(tmp_path / name, Schema(dict.fromkeys(("x", "X", "a.b"), Number(0, 9))))
        np.testing.assert_array_equal(np.vstack(list(source.batches(("x", "X", "a.b")))), [[2, 1, 3]])


def test_bytes_that_are_no_text_do_not_stop_the_reading(tmp_path: Path) -> None:
    wrong = pa.array([b"f", b"\xff\xfe", b"f"]).view(pa.string())
    pa.parquet.write_table(pa.table({"kind": wrong}), tmp_path / "t.parquet")
    source: Any = source_of(tmp_path / "t.parquet", Schema({"kind": Category(("f",))}))
    np.testing.assert_array_equal(np.vstack(list(source.batches(("kind",))))[:, 0], [0, np.nan, 0])


def test_a_unit_in_digits_is_told_by_its_number(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": ["1", "1", "1.0", "2"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    unit = Unit("user", column="x")
    for records in (frame, tmp_path / "t.csv", tmp_path / "t.parquet"):
        assert source_of(records, SCHEMA, unit).units() == 2
        assert values(records, unit) == [1, 2]


class Shared:
    """An engine that threads share: it gives cursors and is asked nothing itself."""

    def __init__(self) -> None:
        self.cursor = engine().cursor


def test_each_question_to_a_parquet_file_has_a_cursor_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One connection answers one thread at a time: others fail, after they were charged."""
    monkeypatch.setattr(file, "engine", Shared)
    pa.parquet.write_table(pa.table({"x": [1, 2, 2]}), tmp_path / "x.parquet")
    schema = Schema({"x": Category(("1", "2"))})
    assert File(tmp_path / "x.parquet", schema).sum(contingency_of(schema, ("x",), (0,))).tolist() == [1, 2]


def test_four_threads_that_open_one_parquet_file_together_all_read_it(tmp_path: Path) -> None:
    """Up to half of all questions failed, where they shared a connection."""
    pa.parquet.write_table(pa.table({"x": np.arange(10.0)}), tmp_path / "a.parquet")
    threads, rounds = 4, 20

    def asked(source: File, start: Barrier) -> bool:
        start.wait()
        return all(source._decoded_table() is not None for _ in range(rounds))

    with ThreadPoolExecutor(threads) as pool:
        for _ in range(3):
            source, start = File(tmp_path / "a.parquet", SCHEMA), Barrier(threads)
            assert all(pool.map(lambda _: asked(source, start), range(threads)))  # noqa: B023
