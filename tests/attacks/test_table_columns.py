"""Tables of every form are read alike: numbers as floats, texts as texts, missing values as missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.attacks.table_columns import TableColumns, read_column, row_codes, shared_codes
from discreet.core.errors import ParameterError
from discreet.schema.schema import Category, Number, Schema
from tests.attacks.made import published


def test_every_form_of_a_table_is_read_alike() -> None:
    columns = {"age": [31.0, np.nan, 7.0], "town": ["b", "a", None]}
    schema = Schema({"age": Number(0, 120), "town": Category(("a", "b"))})
    released = published(schema, np.array([[31.0, 1.0], [np.nan, 0.0], [7.0, np.nan]]))
    frame = pd.DataFrame({"age": pd.array([31, None, 7], dtype="Int64"), "town": pd.Categorical(["b", "a", None])})
    for table in (columns, released, pd.DataFrame(columns), frame):
        read = TableColumns.of("a test", table)
        np.testing.assert_array_equal(read["age"], columns["age"])
        assert read["town"].tolist() == ["b", "a", None]
    assert TableColumns.of("a test", np.eye(2))["x1"].tolist() == [0.0, 1.0]


def test_values_of_any_kind_are_read() -> None:
    days = read_column(np.array(["2020-01-02", "NaT"], "M8[D]"))
    assert days[0] == 86400 * 18263
    assert np.isnan(days[1])
    assert read_column([2**60, 2**60 + 1]).tolist() == [str(2**60), str(2**60 + 1)]  # no two floats
    assert read_column([True, False]).tolist() == [1.0, 0.0]
    assert read_column(["1", 2]).tolist() == ["1", "2"]
    assert read_column([[1], [2, 3]]).tolist() == ["[1]", "[2, 3]"]
    assert read_column([[1], [2]]).tolist() == ["[1]", "[2]"]


def test_codes_are_alike_where_values_are_and_missing_ones_are_unlike_all() -> None:
    here, there = shared_codes(read_column(["b", None, "a"]), read_column(["a", "c", None]))
    assert (here[2] == there[0], here[1], there[2]) == (True, -1, -1)
    assert len({*here, *there} - {-1}) == 3
    numbers = shared_codes(np.array([np.nan, 2.0, 1.0]), np.array([1.0, np.nan]))
    assert [codes.tolist() for codes in numbers] == [[-1, 1, 0], [0, -1]]
    rng = np.random.default_rng(0)
    tables = [
        {"a": rng.integers(0, 5, 200), "b": rng.choice(["x", "y"], 200), "c": rng.random(200).round(1)} for _ in "ab"
    ]
    first, second = (TableColumns.of("a test", table) for table in tables)
    rows, others = row_codes(first, second, ("a", "b", "c"))
    keys = [list(zip(*(table[name] for name in "abc"), strict=True)) for table in tables]
    for place in range(200):
        assert [key == keys[0][place] for key in keys[1]] == (others == rows[place]).tolist()


def test_what_is_no_table_is_refused_with_the_remedy() -> None:
    odd: list[Any] = [3, "a", {}, {"a": []}, {"a": [1], "b": [1, 2]}, np.zeros(3)]
    for wrong in odd:
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            TableColumns.of("a test", wrong)
    table = TableColumns.of("a test", {"age": [1, 2]})
    with pytest.raises(ParameterError, match="Did you mean 'age'"):
        table.named(["aeg"])
    with pytest.raises(ParameterError, match="share no column"):
        table.named(None, TableColumns.of("a test", {"town": ["a"]}))
    with pytest.raises(ParameterError, match="numbers in one table and texts in another"):
        table.named(None, TableColumns.of("a test", {"age": ["<b>"]}))
