"""Data frames and columns as sources: columns are decoded once, and held in few bytes."""

from __future__ import annotations

from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from discreet.core.neighbors import Unit
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.sources import source
from discreet.trust.sources.columns import decoding
from discreet.trust.sources.frame import CodedColumn, Frame
from tests.trust.sources.trial import SourceTrial

TRIAL = SourceTrial(lambda table, schema, folder: Frame(dict(table), schema), mixed=True, in_memory=True)

SCHEMA = Schema({"kind": Category(("a", "b")), "size": Number(0, 10), "plain": Number(0, 10)})
RECORDS = {
    "kind": ["a", " b", None, "c", "b"],
    "size": ["1", "2.5", "x", None, " 99 "],
    "plain": [1.0, 2.0, 3.0, np.nan, np.inf],
}
EXPECTED = np.array([[0, 1, 1], [1, 2.5, 2], [np.nan, np.nan, 3], [np.nan, np.nan, np.nan], [1, 10, np.nan]])


@pytest.mark.parametrize(("listed", "width"), [(2, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4)])
def test_a_category_takes_as_few_bytes_as_its_list_allows(listed: int, width: int) -> None:
    values = np.array([0.0, listed - 1.0, np.nan])
    column = CodedColumn.of([values[:1], values[1:]], Category(tuple(str(i) for i in range(listed))))
    assert column.stored.dtype.itemsize == width
    np.testing.assert_array_equal(column.values(slice(0, 3)), values)
    np.testing.assert_array_equal(column.values(np.array([2, 0])), values[[2, 0]])


@pytest.mark.parametrize("frame", [RECORDS, pd.DataFrame(RECORDS)], ids=["mapping", "pandas"])
def test_texts_are_decoded_for_the_first_question_only(frame: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "BATCH", 2)
    held, calls = Frame(frame, SCHEMA), Mock(side_effect=decoding.codes)
    monkeypatch.setattr(decoding, "codes", calls)
    for _ in range(3):
        batches = list(held.batches(["kind", "size", "plain"]))
        np.testing.assert_array_equal(np.concatenate(batches), EXPECTED)
        for batch in batches:
            batch[:] = 7.0  # what a question does to its batch, no other question sees
    assert calls.call_count == 3  # batches of one column


def test_rows_that_units_keep_are_those_of_the_whole_column() -> None:
    frame = pd.DataFrame({**RECORDS, "who": ["u", "v", None, "w", "x"]})
    whole = np.concatenate(list(Frame(frame, SCHEMA, Unit("user", "who", 1)).batches(["kind", "size", "plain"])))
    np.testing.assert_array_equal(whole, EXPECTED[[0, 1, 3, 4]])


def test_columns_that_are_not_in_the_schema_are_never_read() -> None:
    frame = pd.DataFrame({"x": [0.5, 2.0], "other": [object(), object()]})
    np.testing.assert_array_equal(Frame(frame, Schema({"x": Number(0, 1)})).everything(("x",)), [[0.5], [1.0]])
