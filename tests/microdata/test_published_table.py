"""A published table: what it holds, and the forms in which it is given away."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
import pytest
from matplotlib.figure import Figure

from discreet.core.budget import Budget
from discreet.core.errors import SchemaError
from discreet.core.events import PureLoss
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.receipt import Receipt
from discreet.microdata.published_table import PublishedTable
from discreet.schema.dates import Date, Datetime
from discreet.schema.schema import Boolean, Category, Number, Schema
from discreet.statistics.moments.count import count
from discreet.trust.private_data import PrivateData

SCHEMA = Schema(
    {
        "age": Number(0, 120, step=1),
        "height": Number(0.0, 2.5),
        "sex": Category(("f", "m, or <b>else</b>")),
        "smoker": Boolean(),
        "admitted": Date("2020-01-01", "2024-12-31"),
        "left": Datetime("2020-01-01", "2024-12-31"),
    }
)
DAY = 18262.0
ROWS = np.array([[31, 1.75, 0, 1, DAY, DAY * 86400 + 60], [np.nan] * 6, [64, 0.1, 1, 0, DAY + 1, DAY * 86400]])


def table() -> PublishedTable:
    receipt = Receipt("a table", PureLoss(1.0), 1.0, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "", "")
    return PublishedTable(name="people", receipt=receipt, confidence=None, schema=SCHEMA, records=ROWS)


def test_columns_have_the_values_that_users_know() -> None:
    found = table()
    assert list(found["sex"]) == ["f", None, "m, or <b>else</b>"]
    assert list(found["smoker"]) == ["true", None, "false"]
    assert str(found["admitted"][0]) == "2020-01-01"
    assert np.isnat(found["admitted"][1])
    assert str(found["left"][0]) == "2020-01-01T00:01:00"
    assert len(found) == 3


def test_a_data_frame_has_its_own_types_and_missing_values() -> None:
    frame = table().to_pandas()
    assert frame["age"].dtype == "Int64"
    assert frame["age"].isna().tolist() == [False, True, False]
    assert list(frame["sex"].cat.categories) == ["f", "m, or <b>else</b>"]
    assert frame["admitted"][0] == pd.Timestamp("2020-01-01")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_read_back_to_the_same_values(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"people.{kind}"
    getattr(table(), f"to_{kind}")(path)
    first = path.read_bytes()
    getattr(table(), f"to_{kind}")(path)
    assert path.read_bytes() == first
    frame = pd.read_csv(path) if kind == "csv" else pd.read_parquet(path)
    assert frame["height"].tolist()[::2] == [1.75, 0.1]
    assert frame.isna().to_numpy().sum() == 6
    assert frame["sex"].tolist()[2] == "m, or <b>else</b>"


def test_a_csv_file_has_missing_values_empty_and_whole_numbers_whole(tmp_path: Path) -> None:
    table().to_csv(tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[1] == ["31", "1.75", "f", "true", "2020-01-01", "2020-01-01T00:01:00"]
    assert rows[2] == [""] * 6


def test_a_parquet_file_has_whole_numbers_as_integers_and_none_where_one_is_missing(tmp_path: Path) -> None:
    table().to_parquet(tmp_path / "a.parquet")
    found = parquet.read_table(tmp_path / "a.parquet")
    assert [str(field.type) for field in found.schema][:2] == ["int64", "double"]
    assert found["age"].to_pylist() == [31, None, 64]
    for rows in (ROWS[:0], ROWS[:1], ROWS[1:2]):
        dataclasses.replace(table(), records=rows).to_parquet(tmp_path / "a.parquet")
        assert str(parquet.read_table(tmp_path / "a.parquet").schema.field("age").type) == "int64"


def test_a_parquet_file_with_integers_can_be_asked_about(tmp_path: Path) -> None:
    table().to_parquet(tmp_path / "a.parquet")
    data = PrivateData.of(tmp_path / "a.parquet", {"age": Number(0, 120, step=1)}, Budget(1e6))
    assert count(data, "age", epsilon=1e5).value == 2


def test_a_number_that_no_integer_holds_stays_one(tmp_path: Path) -> None:
    schema = Schema({"mass": Number(0, 2.0**70, step=2.0**30)})
    for value in (2.0**63, 2.0**69, 0.5):
        found = dataclasses.replace(table(), schema=schema, records=np.array([[value], [np.nan]]))
        found.to_parquet(tmp_path / "a.parquet")
        assert parquet.read_table(tmp_path / "a.parquet")["mass"].to_pylist() == [value, None]
        assert found.to_pandas()["mass"][0] == value
        found.to_csv(tmp_path / "a.csv")
        assert float((tmp_path / "a.csv").read_text().split("\n")[1]) == value


def test_it_is_shown_with_its_receipt_and_nothing_in_it_is_markup() -> None:
    shown = table()._repr_html_()
    assert "people: 3 records" in shown
    assert "<b>else" not in shown
    assert "epsilon" in shown
    assert "2020-01-01" in str(table())
    assert table().to_dict()["columns"]["age"] == ["31", None, "64"]
    assert table().tabulated().series[0].values.tolist() == [2.0] * 6


def test_every_column_can_be_drawn_and_an_unknown_one_is_refused() -> None:
    for name in SCHEMA.columns:
        assert table().plot(Figure().add_subplot(), name).get_xlabel() == name
    with pytest.raises(SchemaError, match="there is no column 'town'"):
        table().plot(column="town")


def test_records_that_are_none_of_the_schema_are_refused_without_a_word_of_them() -> None:
    for column, value in ((2, 2.0), (2, -3.0), (2, 0.5), (2, np.inf), (3, 7.0), (0, np.inf)):
        rows = ROWS.copy()
        rows[0, column] = value
        with pytest.raises(SchemaError, match=f"value of {list(SCHEMA.columns)[column]} that is not in its schema"):
            dataclasses.replace(table(), records=rows)
    for rows in (ROWS[:, :5], ROWS[0], np.zeros((0, 5))):
        with pytest.raises(SchemaError, match="6 values each"):
            dataclasses.replace(table(), records=rows)
    assert len(dataclasses.replace(table(), records=np.zeros((0, 6)))) == 0
