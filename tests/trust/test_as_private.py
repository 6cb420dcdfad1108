"""Arrays and data frames get a curator, bounds and a budget of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, DiscreetError, ParameterError
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.moments.count import count
from discreet.statistics.moments.mean import mean
from discreet.trust.as_private import as_private

HEADS = BoundedSum(lambda records: np.ones((len(records), 1)), Bound("l1", 1.0), ("x0",))
PEOPLE = np.zeros((1000, 1))
TABLE = {"age": [30.0, 50.0] * 5000, "sex": ["f", "m"] * 5000}


def test_an_array_has_a_budget_of_its_own() -> None:
    data = as_private(PEOPLE, Budget(1.0), bounds=(0, 1))
    with data.permit(Laplace(1.0).event, "count") as permit:
        permit.ask(HEADS, Laplace(1.0))
    with pytest.raises(BudgetExceeded):
        data.permit(Laplace(1e6).event, "count")


@pytest.mark.parametrize("bounds", [None, (1, 0), (0, [1, 1]), (0, np.inf)])
def test_bounds_are_given_and_sound_or_the_fit_is_refused(bounds: Any) -> None:
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        as_private(PEOPLE, Budget(1.0), bounds=bounds)


@pytest.mark.parametrize(
    ("shape", "names", "columns"),
    [
        ((3,), None, ("value",)),
        ((3,), "age", ("age",)),
        ((3, 2), None, ("x0", "x1")),
        ((3, 2), ("a", "b"), ("a", "b")),
        ((3, 2), ("x1",), ("x0", "x1")),
    ],
)
def test_the_columns_of_an_array_have_names(shape: tuple[int, ...], names: Any, columns: tuple[str, ...]) -> None:
    assert as_private(np.zeros(shape), Budget(1.0), (0, 1), names).schema.features == columns


@pytest.mark.parametrize(("shape", "names"), [((), None), ((3, 2, 1), None), ((3, 2), ("a", "a")), ((3, 2), "a")])
def test_an_array_without_rows_or_names_of_its_columns_is_refused(shape: tuple[int, ...], names: Any) -> None:
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        as_private(np.zeros(shape), Budget(1.0), (0, 1), names)


FRAMES: dict[str, Any] = {"mapping": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_column_of_a_data_frame_is_enough(frame: Any) -> None:
    assert mean(frame(TABLE), "age", bounds=(0, 100), epsilon=1.0).value == pytest.approx(40, abs=1)


def test_a_column_of_a_file_is_enough(tmp_path: Path) -> None:
    pd.DataFrame(TABLE).to_csv(tmp_path / "people.csv", index=False)
    for path in (tmp_path / "people.csv", str(tmp_path / "people.csv")):
        assert mean(path, "age", bounds=(0, 100), epsilon=1.0).value == pytest.approx(40, abs=1)
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        mean(tmp_path / "people.csv", bounds=(0, 100))


@pytest.mark.parametrize("series", [pd.Series, pl.Series, pa.array, list], ids=lambda one: one.__module__)
def test_a_series_is_an_array(series: Any) -> None:
    assert mean(series(TABLE["age"]), bounds=(0, 100), epsilon=1.0).value == pytest.approx(40, abs=1)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_data_frame_may_have_a_schema_instead_of_bounds(frame: Any) -> None:
    schema = Schema({"age": Number(0, 100), "sex": Category(("f", "m"))})
    assert as_private(frame(TABLE), Budget(1.0), schema, "age").schema == schema


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("names", ["size", ("age", "size"), ("age", "age"), 7])
def test_a_column_that_a_data_frame_lacks_is_refused(frame: Any, names: Any) -> None:
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        as_private(frame(TABLE), Budget(1.0), (0, 100), names)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_all_records_are_counted_without_bounds_whatever_is_in_them(frame: Any) -> None:
    unknown = {"age": [None, float("nan")] * 5000, "sex": ["f", "m"] * 5000}
    for records in (frame(TABLE), frame(unknown), np.full((10_000, 2), np.nan), np.full(10_000, np.inf)):
        found = count(records, epsilon=10.0)
        assert found.name == "count of records"
        assert found.value == pytest.approx(10_000, abs=15 / 10)
    narrower: list[dict[str, Any]] = [{"where": "age > 40"}, {"by": "sex"}, {"column": "age"}]
    for how in narrower:
        with pytest.raises(DiscreetError, match="bounds are not given"):
            count(frame(TABLE), epsilon=1.0, **how)


@pytest.mark.parametrize("records", ["table.csv", {}])
def test_what_has_no_known_column_is_not_counted_without_a_schema(records: Any) -> None:
    with pytest.raises(DiscreetError, match="bounds are not given"):
        count(records, epsilon=1.0)


def test_records_are_counted_whatever_they_hold() -> None:
    lists = {"a": [[1], [2, 3]], "b": [1, 2]}
    everything: list[Any] = [
        *(lists, pd.DataFrame(lists), pl.DataFrame(lists), pa.table(lists), pl.DataFrame({"a": [[1], []]})),
        *(pa.table({"a": [{"x": 1}, None]}), pd.DataFrame({"a": pd.to_timedelta([1, 2])})),
        *(pd.DataFrame([[1, 2]] * 2, columns=["a", "a"]), pd.DataFrame(index=[0, 1])),
        *(duckdb.connect().sql("SELECT [1] AS a FROM range(2)"), [[1], [2, 3]], [None, object()]),
    ]
    assert [count(records, epsilon=50.0).value for records in everything] == [2] * len(everything)
    for records in (3.0, np.float64(3.0), "people.csv"):
        with pytest.raises(ParameterError):
            count(records)
