"""The schema file: what it describes, and which mistakes it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.core.errors import UNTOUCHED, SchemaError
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.query.federation_file import written_schema
from discreet.query.schema_file import parsed, read_schema
from discreet.schema.dates import Date, Datetime
from discreet.schema.schema import Boolean, Category, Number, Text

WHOLE = """
neighbors = "replace"

[unit]
kind = "user"
column = "patient"
rows = 3

[columns.age]
kind = "number"
lower = -1
upper = 120.5

[columns.sex]
kind = "category"
values = ["f", "m", 3, true, 1.5]

[columns."home town"]
kind = "text"
"""


def test_a_filled_schema_says_all_that_is_public(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(WHOLE)
    found = read_schema(path)
    assert dict(found.schema.columns) == {
        "age": Number(-1.0, 120.5),
        "sex": Category(("f", "m", "3", "true", "1.5")),
        "home town": Text(),
    }
    assert found.neighbors is Neighbors.REPLACE
    assert found.unit == Unit("user", "patient", 3)


def test_whole_numbers_dates_and_truths_are_kinds_of_columns() -> None:
    text = """
        [columns.age]
        kind = "number"
        lower = 17
        upper = 90
        step = 1
        [columns.day]
        kind = "date"
        lower = 2020-01-01
        upper = "2024-12-31"
        [columns.time]
        kind = "datetime"
        lower = 2020-01-01T00:00:00
        upper = 2020-12-31
        [columns.smoker]
        kind = "boolean"
    """
    found = parsed(text)
    assert dict(found.schema.columns) == {
        "age": Number(17.0, 90.0, 1.0),
        "day": Date("2020-01-01", "2024-12-31"),
        "time": Datetime("2020-01-01", "2020-12-31"),
        "smoker": Boolean(),
    }
    assert parsed(written_schema(found)) == found
    for wrong in ("lower = 2025-01-01", 'lower = "soon"', "lower = 3"):
        with pytest.raises(SchemaError, match="column 'day'"):
            parsed(text.replace("lower = 2020-01-01\n", f"{wrong}\n"))


def test_rows_of_a_unit_may_be_pooled() -> None:
    text = '[unit]\nkind = "user"\ncolumn = "p"\npooled = true\n[columns.a]\nkind = "number"\nlower = 0\nupper = 1'
    assert parsed(text).unit == Unit("user", "p", pooled=True)
    assert parsed(written_schema(parsed(text))) == parsed(text)


def test_one_record_added_or_removed_is_the_default() -> None:
    found = parsed('[columns.a]\nkind = "text"')
    assert (found.neighbors, found.unit) == (Neighbors.ADD_REMOVE, RECORD)


def test_the_columns_keep_their_order() -> None:
    text = "\n".join(f'[columns.{name}]\nkind = "text"' for name in "zaqb")
    assert tuple(parsed(text).schema.columns) == tuple("zaqb")


MISTAKES = {
    "not filled in: its kind": "[columns.age]",
    "lower and upper missing": '[columns.age]\nkind = "number"',
    "upper missing": '[columns.age]\nkind = "number"\nlower = 0',
    "values missing": '[columns.age]\nkind = "category"',
    "no kind of column is called 'integer'": '[columns.age]\nkind = "integer"',
    "no kind of column is called 3": "[columns.age]\nkind = 3",
    "no kind of column is called None": "[columns]\nage = 3",
    "its lower bound 9.0 is not below its upper bound 1.0": '[columns.age]\nkind = "number"\nlower = 9\nupper = 1',
    "its lower bound 1.0 is not below its upper bound 1.0": '[columns.age]\nkind = "number"\nlower = 1\nupper = 1',
    "its bounds are 0.0 and nan": '[columns.age]\nkind = "number"\nlower = 0\nupper = nan',
    "its bounds are -inf and 0.0": '[columns.age]\nkind = "number"\nlower = -inf\nupper = 0',
    "lower is '0', which is not a number": '[columns.age]\nkind = "number"\nlower = "0"\nupper = 1',
    "upper is True, which is not a number": '[columns.age]\nkind = "number"\nlower = 0\nupper = true',
    "beyond what a float holds": f'[columns.age]\nkind = "number"\nlower = 0\nupper = 1{"0" * 400}',
    "nothing is called 'uper' here": '[columns.age]\nkind = "number"\nlower = 0\nuper = 1',
    "nothing is called 'values' here": '[columns.age]\nkind = "text"\nvalues = ["a"]',
    "it has no values": '[columns.age]\nkind = "category"\nvalues = []',
    "two of its values are the same": '[columns.age]\nkind = "category"\nvalues = ["1.0", 1]',
    "the value '' could never be found": '[columns.age]\nkind = "category"\nvalues = [""]',
    "the value ' a' could never be found": '[columns.age]\nkind = "category"\nvalues = [" a"]',
    "the value nan could never be found": '[columns.age]\nkind = "category"\nvalues = [nan]',
    "the value datetime.date(2020, 1, 1) could": '[columns.age]\nkind = "category"\nvalues = [2020-01-01]',
    "values is 'a'": '[columns.age]\nkind = "category"\nvalues = "a"',
}


@pytest.mark.parametrize(("obstacle", "text"), MISTAKES.items(), ids=list(MISTAKES))
def test_a_mistake_in_a_column_names_the_file_and_the_column(obstacle: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(SchemaError) as refusal:
        read_schema(path)
    message = str(refusal.value)
    assert obstacle in message
    assert str(path) in message
    assert "'age'" in message
    assert UNTOUCHED in message
    assert refusal.value.remedy


WHOLE_MISTAKES = {
    "it is not TOML": "[columns.age",
    "twice": '[columns.age]\nkind = "text"\n[columns.age]\nkind = "text"',
    "it describes no column": 'neighbors = "replace"',
    "nothing is called 'colums' here": '[colums.age]\nkind = "text"',
    "neighbors is 'remove'": 'neighbors = "remove"\n[columns.a]\nkind = "text"',
    "neighbors is 3": 'neighbors = 3\n[columns.a]\nkind = "text"',
    "no unit is called 'person'": '[unit]\nkind = "person"\n[columns.a]\nkind = "text"',
    "no column identifies users": '[unit]\nkind = "user"\n[columns.a]\nkind = "text"',
    "a record is one row": '[unit]\nkind = "record"\nrows = 2\n[columns.a]\nkind = "text"',
    "rows is 1.5": '[unit]\nkind = "user"\ncolumn = "p"\nrows = 1.5\n[columns.a]\nkind = "text"',
    "rows is 0": '[unit]\nkind = "user"\ncolumn = "p"\nrows = 0\n[columns.a]\nkind = "text"',
    "pooled is 1": '[unit]\nkind = "user"\ncolumn = "p"\npooled = 1\n[columns.a]\nkind = "text"',
    "pooled units are identified": '[unit]\nkind = "node"\npooled = true\n[columns.a]\nkind = "text"',
    "none of their rows is left out": (
        '[unit]\nkind = "user"\ncolumn = "p"\nrows = 2\npooled = true\n[columns.a]\nkind = "text"'
    ),
    "column is 3": '[unit]\nkind = "user"\ncolumn = 3\n[columns.a]\nkind = "text"',
    "it is 'user', not a table": 'unit = "user"\n[columns.a]\nkind = "text"',
}


@pytest.mark.parametrize(("obstacle", "text"), WHOLE_MISTAKES.items(), ids=list(WHOLE_MISTAKES))
def test_a_mistake_beside_the_columns_is_named(obstacle: str, text: str) -> None:
    with pytest.raises(SchemaError, match="mine") as refusal:
        parsed(text, "schema mine.toml")
    assert obstacle in str(refusal.value)


def test_a_missing_or_binary_file_is_a_schema_error(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="cannot be read"):
        read_schema(tmp_path / "nowhere.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SchemaError, match="cannot be read"):
        read_schema(tmp_path / "binary.toml")
