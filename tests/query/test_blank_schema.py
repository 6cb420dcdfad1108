"""A schema to fill in: names and types, nothing from the rows."""

from __future__ import annotations

import datetime
import gzip
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from discreet.core.errors import SchemaError
from discreet.query.blank_schema import init
from discreet.query.schema_file import parsed
from discreet.schema.schema import Boolean, Category, Number
from discreet.trust.sources.csv_file import CsvForm

HOSTILE = ("plain", 'a "quoted" name', "with.dots", "tab\there", "[columns.x]", "ünï", "del\x7f", "# no comment")


def header(names: tuple[str, ...]) -> str:
    return ",".join('"' + name.replace('"', '""') + '"' for name in names)


def test_nothing_of_any_row_is_in_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,town\n4711,MARKER\n,,,,,\n" + "zzz,UNIQUE\n" * 3)
    other = tmp_path / "other" / "people.csv"
    other.parent.mkdir()
    other.write_text("age,town\n")
    text = init(path)
    assert text == init(other)
    assert not any(word in text for word in ("4711", "MARKER", "zzz", "UNIQUE"))


def test_every_column_is_there_to_be_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(header(HOSTILE) + "\n")
    text = init(path)
    for name in HOSTILE:
        with pytest.raises(SchemaError, match="not filled in") as refusal:
            parsed(text)
        assert repr(name) in str(refusal.value)
        text = text.replace("# Keep one of these.", 'kind = "text"', 1)
    assert tuple(parsed(text).schema.columns) == HOSTILE


def test_the_commented_lines_are_right_once_uncommented(tmp_path: Path) -> None:
    path = tmp_path / "people.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("age\n")
    text = init(path)
    number = text.replace('# kind = "number"', 'kind = "number"').replace("# lower =", "lower = 0")
    assert parsed(number.replace("# upper =", "upper = 9")).schema.columns["age"] == Number(0.0, 9.0)
    category = text.replace('# kind = "category"', 'kind = "category"').replace(
        '# values = ["...", "..."]', 'values = ["a"]'
    )
    assert parsed(category).schema.columns["age"] == Category(("a",))


def test_parquet_types_come_from_its_footer(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    day = datetime.date(2047, 11, 4)
    table = {"age": [4711], "town": ["MARKER"], "ill": [True], "weight": [47.11], "day": [day]}
    pyarrow.parquet.write_table(pyarrow.table(table), path)
    text = init(path)
    assert "4711" not in text
    assert "MARKER" not in text
    assert "47.11" not in text
    assert "2047" not in text
    assert text.count('\nkind = "number"') == 2
    assert text.count('\nkind = "date"') == 1
    with pytest.raises(SchemaError, match="'age': it is not filled in: lower and upper missing"):
        parsed(text)
    head, dates = text.split('[columns."day"]')
    head = head.replace("# lower =", "lower = 0").replace("# upper =", "upper = 1")
    dates = dates.replace("# lower =", "lower = 2020-01-01").replace("# upper =", "upper = 2024-12-31")
    filled = f'{head}[columns."day"]{dates}'.replace("# Keep one", 'kind = "text" #')
    assert parsed(filled).schema.columns["ill"] == Boolean()


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no such file"):
        init(tmp_path / "nowhere.csv")


def test_rows_that_are_no_text_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"age,town\n\xff\xfe\x00,\x80\n")
    assert '[columns."town"]' in init(path)


def test_a_file_whose_columns_are_separated_by_something_else_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age;sex\n34;f\n")
    with pytest.raises(SchemaError, match=r"its only column is called 'age;sex'.*--delimiter ';'"):
        init(path)
    assert '[columns."sex"]' in init(path, CsvForm(delimiter=";"))
    path.write_text("age\n34\n")
    assert '[columns."age"]' in init(path)
