"""Conditions mean what they say, in numpy and in SQL; anything else is refused in words, and nothing of it is run."""

from __future__ import annotations

import time
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import UNTOUCHED, ParameterError
from discreet.schema.condition_text import DEEPEST, LONGEST, condition_of
from discreet.schema.dates import Date
from discreet.schema.schema import Boolean, Category, Number, Schema, Text

SCHEMA = Schema(
    {
        "age": Number(0, 120),
        "size": Number(-5, 5),
        "sex": Category(("f", "m", "it's")),
        "ward": Category((1, 2, "x")),
        "ill": Boolean(),
        "day": Date("2020-01-01", "2020-12-31"),
        "home `town` or": Number(0, 1),
        "note": Text(),
    }
)
COLUMNS = [name for name in SCHEMA.columns if name != "note"]
NAN = np.nan
JUNE = Date("2020-01-01", "2020-12-31").lower + 152
ROWS = np.array(
    [
        [17.0, 0.0, 0.0, 0.0, 0.0, JUNE - 1, 0.0],
        [18.0, 1.0, 1.0, 1.0, 1.0, JUNE, 1.0],
        [65.0, -2.5, 2.0, 2.0, 1.0, JUNE + 1, 0.5],
        [NAN, NAN, NAN, NAN, NAN, NAN, NAN],
        [0.0, 5.0, NAN, 0.0, 0.0, NAN, 0.0],
    ]
)
MEANT: dict[str, str] = {
    "age >= 18": "01100",
    "age > 18": "00100",
    "18 <= age < 65": "01000",
    "age = 18 OR age <> 18": "11101",
    "not age >= 18": "10011",
    "not (age >= 18 and sex == 'm')": "10111",
    "age is missing": "00010",
    "age IS NOT NULL and sex is missing": "00001",
    "sex == 'f'": "10000",
    'sex in ("f", "it\'s")': "10100",
    "sex == 'it''s'": "00100",
    "sex not in ('f', 'm')": "00100",
    "sex != 'f'": "01100",
    "ward == 1": "10001",
    "ward in (2, 'x')": "01100",
    "ill": "01100",
    "not ill": "10011",
    "ill == false": "10001",
    "ill == 'yes'": "01100",
    "day >= '2020-06-01'": "01100",
    "day == '2020-06-01'": "01000",
    "size == -2.5": "00100",
    "size < age": "11101"[:4] + "0",
    "-2.5 >= size": "00100",
    "`home ``town`` or` > .4": "01100",
    "age < 20 and sex == 'f' or ill": "11100",
    "age < 20 and (sex == 'f' or ill)": "11000",
    "age > 1e3": "00000",
}


def mask(text: str, rows: np.ndarray = ROWS) -> str:
    found = condition_of(text, SCHEMA).mask(dict(zip(COLUMNS, rows.T, strict=True)))
    return "".join(str(int(one)) for one in found)


def engine_mask(text: str, rows: np.ndarray = ROWS) -> str:
    table = pa.table({f"c{i}": pa.array(column, from_pandas=True) for i, column in enumerate(rows.T)})
    where = condition_of(text, SCHEMA).sql({name: place for place, name in enumerate(COLUMNS)})
    with duckdb.connect() as connection:
        found = connection.from_arrow(table).project(f"{where} AS found").fetchall()
    return "".join(str(int(one)) for (one,) in found)


def test_each_condition_holds_for_the_records_that_it_describes() -> None:
    for text, wanted in MEANT.items():
        assert mask(text) == wanted, text
        assert engine_mask(text) == wanted, text
        again = str(condition_of(text, SCHEMA))
        assert condition_of(again, SCHEMA) == condition_of(text, SCHEMA), again


WRONG = [
    *("", " ", "age", "age >", "> 3", "age 3", "age >= 18 and", "(age > 3", "age > 3)", "age >> 3", "age in ()"),
    *("1 < 2", "absent > 3", "note == 'x'", "note is missing", "sex > 'f'", "sex == 'q'", "age == 'f'", "age > 1e999"),
    *("day > 3", "day > 'soon'", "day > age", "sex == ill", "age is 3", "ill > 3", "age == true", "-sex == 'f'"),
    *("age > 3; DROP TABLE kept", "__import__('os')", "age.real > 3", "age > 3 --", "age > 'x", "`age > 3"),
    *("age == (3)", "age in (3", "lambda: 3", "age > 3\x00", "age if ill else size", "f'{age}'", "age := 3"),
    *("age > 0x3", "age > 3e", "age + 1 > 2"),
]


def test_anything_else_is_refused_before_a_charge() -> None:
    hostile: list[Any] = [
        *WRONG,
        None,
        3,
        b"age > 3",
        "(" * 10**6,
        "not " * (DEEPEST + 1) + "ill",
        "ill and " * LONGEST,
    ]
    for text in hostile:
        with pytest.raises(ParameterError, match="where") as error:
            condition_of(text, SCHEMA)
        assert error.value.consequence == UNTOUCHED


def test_what_is_accepted_can_be_written_and_read_again_or_is_refused_at_once() -> None:
    """A condition travels as text: one that grows too long, or too deep, when it is written out, is not accepted."""
    many = f"`home ``town`` or` in ({', '.join(['0.5'] * 600)})"
    with pytest.raises(ParameterError, match="written out"):
        condition_of(many, SCHEMA)
    for deep in range(1, DEEPEST + 3):
        closed = ")" * deep
        for begin, inner in (("(", "0 < age < 3 or ill"), ("not (ill or ", "ill")):
            text = begin * deep + inner + closed
            try:
                found = condition_of(text, SCHEMA)
            except ParameterError:
                continue
            assert condition_of(str(found), SCHEMA) == found


def test_reading_takes_no_longer_than_the_text_is() -> None:
    begin = time.process_time()
    for text in ("'" * LONGEST, "`" * LONGEST, "1" * LONGEST, "(" * LONGEST, "a" * LONGEST, "1e" * (LONGEST // 2)):
        with pytest.raises(ParameterError):
            condition_of(text, SCHEMA)
    assert time.process_time() - begin < 1


PARTS = [*"()<>=,-'`", *COLUMNS, "and", "or", "not", "in", "is", "missing", "3", "'f'"]


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from([*"()<>=,-'`", *COLUMNS, "and", "not", "in", "is", "3"])).map(" ".join)
)
def test_no_text_does_anything_but_state_a_condition_or_be_refused(text: str) -> None:
    try:
        found = condition_of(text, SCHEMA)
    except ParameterError:
        return
    assert condition_of(str(found), SCHEMA) == found
    assert mask(str(found)) == mask(text)
