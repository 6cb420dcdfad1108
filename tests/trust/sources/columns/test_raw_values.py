"""Values as Python hands them over: each is read by itself."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import SchemaError
from discreet.schema.schema import Category, Number, Schema
from discreet.schema.value import number_of, text_of
from discreet.statistics.moments.mean import mean
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.columns.raw_values import array_of, numbers_in, unlisted
from discreet.trust.sources.source_of import source_of


class Failing(float):
    """A number that cannot be asked for its value."""

    def __float__(self) -> float:
        raise TypeError("secret 77")


ODD: list[Any] = [
    None,
    "?",
    "",
    b"",
    b"\xff",
    float("nan"),
    float("inf"),
    3j,
    np.complex64(3),
    [1.0],
    [[2.0], [3.0]],
    np.ones(2),
    np.array(object()),
    {"a": 1},
    object(),
    10**400,
    Decimal("1e99999999"),
    Fraction(1, 3),
    datetime.date(2020, 1, 1),
    datetime.timedelta(1),
    np.datetime64("2020-01-01"),
    np.timedelta64(5),
    np.timedelta64(5, "s"),
    np.timedelta64(5, "ns"),
    np.timedelta64("NaT"),
    np.void(b"a"),
    Failing(2.0),
]


def test_no_value_raises_and_no_odd_one_is_a_number() -> None:
    for value in ODD:
        assert not np.isfinite(number_of(value)), value
        text_of(value)


def test_an_odd_value_in_a_list_leaves_the_others_as_they_are() -> None:
    for value in ODD:
        found = array_of([0.5, value, 7, "x"])
        assert found.shape == (4,)
        assert found[[0, 2, 3]].tolist() == [0.5, 7, "x"]


def test_a_ragged_row_is_missing_and_the_others_are_read() -> None:
    for odd in ([1.0], [1.0, 2.0, 3.0], 5.0, None, "ab", {"a": 1}, np.ones(3), np.array(3.0), [[1.0, 2.0]]):
        rows = array_of([[1.0, 2.0], odd, (3.0, 4.0), np.array([5.0, 6.0])])
        assert rows.shape == (4, 2)
        assert rows[[0, 2, 3]].tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
        assert rows[1].tolist() == [None, None]


def test_of_two_widths_that_are_as_frequent_the_expected_one_is_taken() -> None:
    assert array_of([[1.0], [1.0, 2.0]]).shape == (2, 1)
    assert array_of([[1.0], [1.0, 2.0]], 2).shape == (2, 2)
    assert array_of([1.0, 2.0, [1.0, 2.0]], 2).shape == (3,)
    assert array_of([]).shape == (0,)


def test_what_is_no_list_stays_what_it_is() -> None:
    assert array_of({"a": 1}).shape == array_of("abc").shape == array_of(5).shape == ()
    assert unlisted({"a": 1}) == {"a": 1}
    assert array_of(np.ones((2, 3), np.float32)).dtype == np.float32


def test_numbers_have_the_shape_that_was_expected_whatever_is_given() -> None:
    for value in ODD:
        for shape in ((), (3,), (2, 3)):
            found = numbers_in(value, shape)
            assert found.shape == shape
            assert not np.isfinite(found).any()
        assert numbers_in([1.0, value, "3"], (3,))[[0, 2]].tolist() == [1.0, 3.0]
    assert numbers_in(np.array([1, 2]), (2,)).tolist() == [1.0, 2.0]
    for kind in ("m8[s]", "m8[ns]", "M8[ns]", "c16"):
        assert np.isnan(numbers_in(np.zeros(2, kind), (2,))).all()
    for given in ([1.0, 2.0, 3.0], np.ones(3), [[1.0, 2.0]], [1.0]):
        assert numbers_in(given, (2,)).tolist() == pytest.approx([math.nan] * 2, nan_ok=True)
    assert np.isnan(numbers_in(np.ma.array([1, 2], mask=[True, False]), (2,))).tolist() == [True, False]


def test_categories_of_an_array_are_found_by_their_values() -> None:
    records = np.array([[10.0, 5.0], [20.0, 6.0], [12345.0, 7.0], [1.0, 8.0], [np.nan, 9.0]])
    for values in ((10, 20), ("10", "20.0"), (10.0, "20")):
        source: Any = source_of(records, Schema({"k": Category(values), "x": Number(0, 9)}))
        np.testing.assert_array_equal(source.everything(("k",))[:, 0], [0, 1, np.nan, np.nan, np.nan])
        np.testing.assert_array_equal(source.everything(("x",))[:, 0], [5, 6, 7, 8, 9])


def test_a_list_of_rows_is_read_by_its_schema() -> None:
    source: Any = source_of(
        [[1, "f"], [2, "m"], [3], ["4", "x"]], Schema({"x": Number(0, 9), "s": Category(("f", "m"))})
    )
    np.testing.assert_array_equal(source.everything(("x",))[:, 0], [1, 2, np.nan, 4])
    with pytest.raises(SchemaError, match="its shape is"):
        source_of([[1, 2], [3, 4]], Schema({"x": Number(0, 9)}))


def test_one_value_of_a_list_moves_no_mean_but_its_own() -> None:
    for value in ODD:
        found = mean([[2.0, 5.0]] * 50 + [[value, 5.0], [5.0], value], "x1", bounds=(0, 10), epsilon=1000.0)
        assert found.value == pytest.approx(5.0, abs=0.2)


def test_an_account_of_a_list_can_be_asked() -> None:
    people = PrivateData.of([[1.0, "f"]] * 100, {"x": (0, 10), "s": ["f", "m"]}, Budget(100.0))
    assert mean(people, "x", epsilon=90.0).value == pytest.approx(1.0, abs=0.2)
