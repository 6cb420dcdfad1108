"""One meaning for every raw value, whoever reads it, and none that raises."""

from __future__ import annotations

import datetime
import uuid
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from discreet.core.errors import SchemaError
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.schema.value import LONGEST, text_of
from discreet.trust.sources.columns import arrow_column, decoding
from discreet.trust.sources.columns.decoding import bounded, codes, numbers, objects, texts
from discreet.trust.sources.columns.raw_values import array_of
from discreet.trust.sources.source_of import source_of


def cell(value: Any) -> np.ndarray:
    return np.fromiter([value], dtype=object, count=1)


NOON = datetime.datetime(2020, 12, 31, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
TEXTS: list[tuple[Any, str | None]] = [
    (True, "true"),
    (np.False_, "false"),
    (7, "7"),
    (2**60 + 1, "1152921504606846977"),
    (1.0, "1"),
    (-0.0, "0"),
    (1e22, "1" + 22 * "0"),
    (1e-7, "0.0000001"),
    (np.longdouble("1e4000"), None),
    (np.float32(0.1), "0.1"),
    (Decimal("1.50"), "1.5"),
    (Decimal("-0.00"), "0"),
    (Decimal("2E+3"), "2000"),
    (Decimal("1e999999999999"), None),
    (Decimal("1e-999999999999"), None),
    (Decimal("1." + "3" * 10**6), None),
    (Decimal("1E-9"), "0.000000001"),
    ("\t a b\r\n", "a b"),
    (b" caf\xc3\xa9 ", "café"),
    (b"\xff", None),
    ("half \ud800", None),
    ("x" * LONGEST, "x" * LONGEST),
    ("é" * LONGEST, None),
    (b" " * LONGEST + b"x", None),
    (datetime.date(2020, 12, 31), "2020-12-31"),
    (datetime.datetime(2020, 12, 31, 12), "2020-12-31T12:00:00.000000"),
    (NOON, "2020-12-31T10:00:00.000000"),
    (pd.Timestamp("2020-12-31"), "2020-12-31T00:00:00.000000"),
    (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
    ("", None),
    (" \n", None),
    (None, None),
    (float("nan"), None),
    (float("inf"), None),
    ([1], None),
    (datetime.timedelta(1), None),
    (Decimal("nan"), None),
    (Decimal("sNaN"), None),
    (pd.NA, None),
    (pd.NaT, None),
    (np.zeros(2), None),
    (10**5000, None),
    (datetime.datetime.min.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=2))), None),
]


@pytest.mark.parametrize(("value", "text"), TEXTS, ids=lambda value: type(value).__name__)
def test_a_value_has_one_text(value: Any, text: str | None) -> None:
    assert texts(cell(value)) == [text]
    assert numbers(cell(value)).shape == (1,)


ARROW_TYPES: list[tuple[Any, Any, list[Any]]] = [
    (pa.int64(), 2**60 + 1, [2.0**60, "1152921504606846977"]),
    (pa.uint64(), 2**64 - 1, [2.0**64, "18446744073709551615"]),
    (pa.bool_(), True, [1.0, "true"]),
    (pa.float32(), 0.5, [0.5, "0.5"]),
    (pa.float16(), np.float16(1.5), [1.5, "1.5"]),
    (pa.string(), " 1e3 ", [1000.0, "1e3"]),
    (pa.large_string(), "x", [np.nan, "x"]),
    (pa.string_view(), "Zoë", [np.nan, "Zoë"]),
    (pa.binary(), b"\xff5", [np.nan, None]),
    (pa.string(), "Yes", [1.0, "Yes"]),
    (pa.string(), 4097 * "1", [np.nan, None]),
    (pa.binary_view(), b"5", [5.0, "5"]),
    (pa.binary(2), b"5 ", [5.0, "5"]),
    (pa.dictionary(pa.int8(), pa.string()), "12", [12.0, "12"]),
    (pa.decimal128(10, 2), Decimal("0.10"), [0.1, "0.1"]),
    (pa.decimal128(38, 30), Decimal("0.1"), [0.1, "0.1"]),
    (pa.decimal256(50, 2), Decimal("-7"), [-7.0, "-7"]),
    (pa.decimal128(38, 0), Decimal(10**37), [1e37, "1" + 37 * "0"]),
    (pa.date32(), datetime.date(2020, 12, 31), [np.nan, "2020-12-31"]),
    (pa.date64(), datetime.date(2020, 12, 31), [np.nan, "2020-12-31"]),
    (pa.timestamp("ns"), datetime.datetime(2020, 12, 31), [np.nan, "2020-12-31T00:00:00.000000"]),
    (pa.timestamp("us", "Europe/Zurich"), NOON, [np.nan, "2020-12-31T10:00:00.000000"]),
    (pa.time64("us"), datetime.time(1, 2, 3), [np.nan, "01:02:03"]),
    (pa.uuid(), uuid.UUID(int=5).bytes, [np.nan, "00000000-0000-0000-0000-000000000005"]),
    (pa.null(), None, [np.nan, None]),
]


@pytest.mark.parametrize(("kind", "value", "meaning"), ARROW_TYPES, ids=lambda value: f"{value!s:.24}")
def test_an_arrow_value_means_the_same(kind: Any, value: Any, meaning: list[Any]) -> None:
    column = pa.array([value, value, None], kind)[1:]
    np.testing.assert_array_equal(arrow_column.numbers(column), [meaning[0], np.nan])
    assert arrow_column.texts(column).to_pylist() == [meaning[1], None]
    listed = Category((str(meaning[1]), "other"))
    np.testing.assert_array_equal(arrow_column.codes(column, listed), [0 if meaning[1] else np.nan, np.nan])


def test_run_lengths_and_views_in_dictionaries_are_read() -> None:
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], pa.array(["5", None]))
    assert arrow_column.texts(runs).to_pylist() == ["5", "5", None]
    views = pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array(["7", "8"], pa.string_view()))
    assert arrow_column.numbers(views)[:2].tolist() == [8.0, 7.0]


OUT_OF_RANGE = [
    pa.array([2**62], pa.int64()).view(pa.timestamp("s")),
    pa.array([2**62], pa.int64()).view(pa.date64()),
    pa.array([2**31 - 1], pa.int32()).view(pa.date32()),
    pa.array([90_000], pa.int32()).view(pa.time32("s")),
    pa.array([b"\xff\xfe"]).view(pa.string()),
]


@pytest.mark.parametrize("column", OUT_OF_RANGE, ids=lambda column: str(column.type))
def test_what_no_clock_or_alphabet_knows_is_read_all_the_same(column: Any) -> None:
    assert np.isnan(arrow_column.numbers(column)).all()
    assert len(arrow_column.texts(column)) == 1


ONE_ODD: list[Any] = [
    *(pa.array([Decimal("0.5"), Decimal(10**25)], pa.decimal128(38, 2)), pa.array([b"0.5", b"\xff"]).view(pa.string())),
    *(pa.array(["0.5", "x" * 10**6]), pa.array(["0.5", "maybe"]), pa.array([0.5, np.nan]), pa.array(["0.5", "é"])),
]


def test_no_odd_value_has_the_others_read_by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """One by one they would take twenty times as long, and a clock would tell of it."""
    monkeypatch.setattr(arrow_column, "_written", None)
    monkeypatch.setattr(decoding, "number_of", None)
    monkeypatch.setattr(decoding, "text_of", None)
    for column in ONE_ODD:
        assert arrow_column.numbers(column)[0] == 0.5
        assert arrow_column.codes(column, Category((0.5, "x")))[0] == 0
        if pa.types.is_string(column.type):
            assert arrow_column.texts(column)[0].as_py() == "0.5"


def test_decimals_of_any_length_are_those_of_others() -> None:
    written = ["7.00", "0.50", "100", "-0.10", "12345678901234567890.120", None]
    column = pa.ExtensionArray.from_storage(pa.opaque(pa.string(), "numeric", "PostgreSQL"), pa.array(written))
    expected = texts(objects([None if text is None else Decimal(text) for text in written]))
    assert (
        arrow_column.texts(column).to_pylist()
        == expected
        == ["7", "0.5", "100", "-0.1", "12345678901234567890.12", None]
    )
    assert arrow_column.numbers(column)[:4].tolist() == [7.0, 0.5, 100.0, -0.1]


def test_no_decimals_are_read() -> None:
    for kind in (pa.decimal128(10, 2), pa.decimal128(38, 30), pa.decimal256(50, 2), pa.decimal32(5, 2)):
        for column in (pa.array([], kind), pa.nulls(2, kind), pa.nulls(5, kind)[2:4]):
            assert np.isnan(arrow_column.numbers(column)).tolist() == [True] * len(column)
            assert arrow_column.texts(column).to_pylist() == [None] * len(column)


@pytest.mark.parametrize("digits", [3, 15, 16, 30])
def test_decimals_become_the_nearest_floats(digits: int) -> None:
    rng = np.random.default_rng(digits)
    values = [Decimal(int(a)) * 10**12 + int(b) for a, b in rng.integers(-(10**9), 10**9, (500, 2))]
    scaled = [value % 10**digits / 10 ** min(digits, 9) for value in values]
    column = pa.array(scaled, pa.decimal128(38, 9))
    assert arrow_column.numbers(column).tolist() == [float(value) for value in scaled]


def test_a_text_is_the_same_number_to_every_reader(tmp_path: Path) -> None:
    """Python, Arrow and the CSV reader, on random texts that are nearly numbers."""
    rng = np.random.default_rng(0)
    alphabet = np.array(list("0123456789.eE+-_ \t\x1c\xa0\u0661naifty"))
    odd = ["".join(rng.choice(alphabet, size)) for size in rng.integers(1, 7, 3000)]
    long = [f"{a}.{b}e{c}" for a, b, c in rng.integers(0, 300, (2000, 3))]
    written = ["+-1", "1_000", "0x1f", "1e999", "-inf", "\u0661", *odd, *long]
    (tmp_path / "numbers.csv").write_text("\n".join(["x,y", *(f"{text},0" for text in written)]), encoding="utf-8")
    schema = Schema({"x": Number(-1e300, 1e300)})
    columns = [
        np.vstack(list(source.batches(("x",))))[:, 0]  # type: ignore[attr-defined]
        for source in (
            source_of({"x": written}, schema),
            source_of(pa.table({"x": written}), schema),
            source_of(tmp_path / "numbers.csv", schema),
        )
    ]
    listed = Category(("1", "0.5", "f", "-2e1", "+", "e", "inf", "n"))
    np.testing.assert_array_equal(codes(objects(written), listed), arrow_column.codes(pa.array(written), listed))
    assert texts(objects(written)) == arrow_column.texts(pa.array(written)).to_pylist()
    assert np.isfinite(columns[0]).sum() > 2000
    np.testing.assert_array_equal(columns[0], columns[1])
    np.testing.assert_array_equal(columns[0], columns[2])


def test_listed_values_are_compared_by_their_form() -> None:
    listed = Category((" f ", "m", "07", "0.1"))
    found = ["f", "No", "m", "M", "7.0", "+7", "1e-1", "x", "f" * LONGEST]
    for codes_of in (codes(objects(found), listed), arrow_column.codes(pa.array(found), listed)):
        np.testing.assert_array_equal(codes_of, [0, 0, 1, np.nan, 2, 2, 3, np.nan, np.nan])
    for kind in (np.float16, np.float32, np.float64):
        raw = np.array([7, 0.1, np.nan, -0.0], dtype=kind)
        np.testing.assert_array_equal(codes(raw, listed), [2, 3, np.nan, np.nan])
        np.testing.assert_array_equal(arrow_column.codes(pa.array(raw), listed), [2, 3, np.nan, np.nan])


@pytest.mark.parametrize("kind", ["M8[D]", "M8[ns]", "m8[s]", "c16", [("a", "f8")]])
def test_arrays_without_numbers_are_refused(kind: Any) -> None:
    column = np.zeros(3, dtype=kind)
    for records in (column[:, None], {"x": column}):
        with pytest.raises(SchemaError, match="numbers"):
            source_of(records, Schema({"x": Number(0, 1)}))


def test_one_odd_value_in_a_list_is_a_missing_one() -> None:
    """As an array of texts, a long one would take its length for every record."""
    values: list[Any] = [0.5] * 1000
    odd: list[Any] = [
        "Ann is ill",
        "x" * 10**7,
        b"\xff",
        [1.0],
        {},
        np.longdouble("1e4000"),
        Decimal("1e99999999"),
        None,
    ]
    for value in odd:
        found = source_of(array_of([*values, value])[:, None], Schema({"x": Number(0, 1)}))
        assert np.nansum(found.everything(("x",))) == 500  # type: ignore[attr-defined]


def test_what_a_mask_hides_is_missing() -> None:
    hidden = np.ma.array([1, 2, 3], mask=[False, True, False])
    for records in (hidden[:, None], {"x": hidden}):
        found: Any = source_of(records, Schema({"x": Number(0, 9)}))
        np.testing.assert_array_equal(found.everything(("x",))[:, 0], [1, np.nan, 3])


def test_minus_zero_is_zero() -> None:
    for kind in (np.float16, np.float32, np.float64):
        raw = np.array([-0.0, 1.0], dtype=kind)
        assert (
            codes(raw, Category((1, 0))).tolist()
            == arrow_column.codes(pa.array(raw), Category((1, 0))).tolist()
            == [1, 0]
        )
    assert arrow_column.codes(pa.array(["-0", "1"]), Category((1, 0))).tolist() == [1, 0]


PANDAS = ["Int64", "int64[pyarrow]", "category", "object", pd.ArrowDtype(pa.decimal128(20, 0))]


@pytest.mark.parametrize("dtype", PANDAS, ids=str)
def test_a_missing_value_takes_no_digit_from_others_in_pandas(dtype: Any) -> None:
    large = [2**53 + 1, 2**53 + 3]
    frame = pd.DataFrame(
        {"x": pd.Series([*large, None], dtype="Int64" if dtype == "category" else dtype).astype(dtype)}
    )
    assert Counter(key for batch in source_of(frame, Schema({"x": Text()})).keys("x") for key in batch) == Counter(
        str(value) for value in large
    )


def test_short_floats_in_pandas_are_what_is_written_for_them() -> None:
    for dtype in ("float32", "Float32", "float[pyarrow]", "halffloat[pyarrow]"):
        column = pd.Series([0.1, 2.0, None]).astype(dtype)
        source: Any = source_of(pd.DataFrame({"x": column}), Schema({"x": Category(("0.1", 2))}))
        np.testing.assert_array_equal(source.everything(("x",))[:, 0], [0, 1, np.nan])


def test_bounded_numbers_have_one_zero_and_rows_side_by_side() -> None:
    schema = Schema({"a": Number(-1, 1), "b": Number(0, 5)})
    matrix = bounded(np.asfortranarray([[-0.0, 7.0], [np.inf, -7.0]]), ["a", "b"], schema)
    assert not np.signbit(matrix[0, 0])
    assert matrix.flags.c_contiguous
    np.testing.assert_array_equal(matrix, [[0, 5], [np.nan, 0]])


def test_a_value_longer_than_the_longest_is_missing_whatever_holds_it() -> None:
    for letter in ("x", "é"):
        longest = letter * (LONGEST // len(letter.encode()))
        for value in (longest, longest.encode()):
            assert text_of(value) == longest
        for value in (longest + letter, (longest + letter).encode()):
            assert text_of(value) is None
