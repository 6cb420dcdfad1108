"""Records that are kept: what the source hands over, read once."""

from __future__ import annotations

from unittest.mock import Mock

import numpy as np
import pytest

from discreet.core.errors import SchemaError
from discreet.core.neighbors import Unit
from discreet.questions.columns.moments import moments_of
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.sources.frame import Frame
from discreet.trust.sources.rows_in_memory import RowsInMemory
from tests.trust.sources.trial import SourceTrial

TRIAL = SourceTrial(lambda table, schema, folder: RowsInMemory(Frame(dict(table), schema)), mixed=True, in_memory=True)
SCHEMA = Schema({"age": Number(0, 100), "sex": Category(("f", "m")), "town": Text()})
RECORDS = {"age": [1.0, 200.0, np.nan, 4.0], "sex": ["f", "x", "m", "f"], "town": ["a", "b", "a", None]}


def test_the_source_is_read_once_and_its_sums_are_the_same() -> None:
    frame = Frame(RECORDS, SCHEMA)
    kept, question = RowsInMemory(frame), moments_of(SCHEMA, "age", 2, False)
    expected = frame.sum(question).tolist()
    frame.batches = Mock(side_effect=AssertionError)  # type: ignore[method-assign]
    assert kept.sum(question).tolist() == kept.sum(question).tolist() == expected
    np.testing.assert_array_equal(kept.everything(["sex", "age"])[:2], [[0, 1], [np.nan, 100]])
    assert next(iter(kept.keys("town"))) == {"a": 2, "b": 1}
    assert kept.units() == 4


def test_rows_beyond_the_limit_of_a_unit_stay_out() -> None:
    unit = Unit("user", "id", 1)
    kept = RowsInMemory(Frame({"id": ["u", "u", "v"], "age": [1.0, 2.0, 3.0]}, Schema({"age": Number(0, 9)}), unit))
    assert len(kept.everything(["age"])) == kept.units() == 2


def test_a_text_is_no_number() -> None:
    with pytest.raises(SchemaError):
        RowsInMemory(Frame(RECORDS, SCHEMA)).everything(["town"])
