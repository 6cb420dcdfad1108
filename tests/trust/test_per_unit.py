"""A table with one row for each unit: of all its rows, from every source alike, at no price."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError, SchemaError
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.ledger.memory_ledger import account_of
from discreet.schema.schema import Category, Number
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.query import postgres_table

N = 2000
RNG = np.random.default_rng(1)
VISITS = pd.DataFrame(
    {
        "who": RNG.integers(0, 150, N) ** 2,
        "stay": np.where(RNG.random(N) < 0.1, np.nan, RNG.uniform(-10, 60, N)),
        "age": RNG.integers(0, 130, N).astype(float),
        "ward": RNG.choice(["day", "icu", "other"], N),
        "town": RNG.choice(["Bern", "Basel"], N),
        "admitted": pd.to_datetime("2024-01-01") + pd.to_timedelta(RNG.integers(0, 300, N), unit="D"),
    }
)
VISITS.loc[VISITS["who"] < 900, "town"] = "Bern"
DESCRIBED = {"stay": (0, 60), "age": (0, 110), "ward": ["day", "icu"], "town": str}
UNIT = Unit("user", "who", 2)
TEXTS: dict[str, Any] = {
    "visits": "count",
    "known": "count of stay",
    "longest": "max of stay",
    "least": "min of stay * 24",
    "total": "sum of stay",
    "mean": "mean of stay",
    "ever": "any of ward == 'icu'",
    "always": "all of age >= 18",
    "town": "only of town",
    "ward": "only of ward",
}
BOUNDS = {"visits": (0.0, 40.0), "known": (0.0, 40.0), "total": (0.0, 300.0)}


def opened(records: Any = VISITS, unit: Unit = UNIT, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> PrivateData:
    return PrivateData.of(records, DESCRIBED, Budget(1e6, 1e-3), unit=unit, neighbors=neighbors)


def rows_of(data: PrivateData) -> np.ndarray:
    trust: Any = data._trust
    names = [name for name in data.schema.columns if name != "town"]
    found = trust.source.everything(names)
    return found[np.lexsort(found.T)]


def forms(folder: Path) -> dict[str, Any]:
    """The same visits in every form."""
    VISITS.to_parquet(folder / "visits.parquet")
    VISITS.to_csv(folder / "visits.csv", index=False)
    connection = duckdb.connect()
    connection.register("given", VISITS)
    connection.execute("CREATE TABLE visits AS SELECT * FROM given")
    return {
        "pandas": VISITS,
        "polars": pl.from_pandas(VISITS),
        "lists": {name: VISITS[name].tolist() for name in VISITS},
        "parquet": folder / "visits.parquet",
        "csv": folder / "visits.csv",
        "duckdb": connection.table("visits"),
        "query": (connection, "SELECT * FROM visits"),
    }


def by_python() -> np.ndarray:
    """The same table, unit by unit, in plain numpy."""
    found = []
    for _, own in VISITS.groupby("who"):
        stay, age = own["stay"].clip(0, 60).to_numpy(), own["age"].clip(0, 110).to_numpy()
        known = stay[~np.isnan(stay)]
        steps = np.floor(known * 2.0**31).sum() * 2.0**-31  # 300 has nine bits, of 40
        codes = own["ward"].map({"day": 0.0, "icu": 1.0}).dropna().unique()
        found.append(
            [
                min(len(own), 40),
                min(len(known), 40),
                known.max() if len(known) else np.nan,
                known.min() * 24 if len(known) else np.nan,
                min(steps, 300.0) if len(known) else np.nan,
                np.floor(known * 2.0**24).sum() / len(known) * 2.0**-24 if len(known) else np.nan,
                float((own["ward"] == "icu").any()),
                float((age >= 18).all()),
                codes[0] if len(codes) == 1 else np.nan,
            ]
        )
    every = np.array(found)
    return every[np.lexsort(every.T)]


def test_it_has_the_same_bits_from_every_source_and_in_numpy(tmp_path: Path) -> None:
    expected = by_python()
    for name, records in forms(tmp_path).items():
        found = rows_of(opened(records).per_unit(bounds=BOUNDS, **TEXTS))
        assert np.array_equal(found, expected, equal_nan=True), name


def test_no_row_is_left_out_whatever_the_limit_of_rows() -> None:
    for unit in (Unit("user", "who"), Unit("user", "who", 7), Unit("user", "who", pooled=True)):
        listed = {name: kind for name, kind in DESCRIBED.items() if kind is not str}
        data = PrivateData.of(VISITS, listed, Budget(1.0), unit=unit)
        each = data.per_unit(visits="count", bounds={"visits": (0, 10**6)})
        assert rows_of(each).sum() == N
        assert each.unit == Unit("user", "who", 1)
        assert str(each.relation.reach) == "1 row"


def test_what_was_chosen_and_computed_before_is_kept() -> None:
    data = opened().where("ward == 'icu'").derive(hours="stay * 24")
    each = data.per_unit(visits="count", longest="max of hours", bounds={"visits": (0, 100)})
    own = VISITS[VISITS["ward"] == "icu"]
    assert rows_of(each)[:, 0].sum() == len(own)
    assert np.nanmax(rows_of(each)[:, 1]) == own["stay"].clip(0, 60).max() * 24
    later = each.where("visits >= 5").derive(days="longest / 24")
    assert discreet.count(later, epsilon=1e4).value == (own.groupby("who").size() >= 5).sum()


def test_it_costs_nothing_and_says_in_the_ledger_what_it_was() -> None:
    data = opened()
    each = data.per_unit(longest="max of stay")
    assert data.ledger.entries() == ()
    found = discreet.mean(each.where("longest > 3"), "longest", epsilon=1.0)
    assert found.receipt.purpose == "mean of longest per user: longest = max of stay where longest > 3"
    assert found.receipt.unit.rows == 1
    assert data.ledger is each.ledger


def test_columns_keep_what_is_public_about_them() -> None:
    schema = opened().per_unit(bounds=BOUNDS, **TEXTS).schema
    assert schema.columns["visits"] == Number(0, 40, step=1)
    assert schema.columns["longest"] == Number(0, 60)
    assert schema.columns["least"] == Number(0, 1440)
    assert schema.columns["ward"] == Category(["day", "icu"])
    dated = PrivateData.of(VISITS, {"admitted": discreet.Date("2024-01-01", "2024-12-31")}, Budget(1.0), unit=UNIT)
    last = dated.per_unit(last="max of admitted")
    assert last.schema.columns == {"last": dated.schema.columns["admitted"]}


def test_groups_that_only_the_data_know_are_found_in_it() -> None:
    each = opened().per_unit(town="only of town", longest="max of stay")
    table = each.group_by("town").aggregate("count", "mean of longest").release(epsilon=20.0, delta=1e-5)
    assert table.labels["town"] == ("Bern",)
    own = VISITS.groupby("who")["town"].agg(lambda one: one.nunique() == 1 and one.iloc[0] == "Bern").sum()
    assert abs(table["count"].values[0] - own) < 10


def test_any_learner_fits_it() -> None:
    ends = {"visits": (0, 40), "total": (0, 300)}
    each = opened().per_unit(visits="count", longest="max of stay", total="sum of stay", bounds=ends)
    with pytest.raises(ParameterError):
        opened().per_unit(longest="max of stay", bounds=BOUNDS)
    fitted = discreet.learners.KMeans(2, epsilon=5.0, random_state=0).fit(each.where("visits >= 1"))
    assert fitted.cluster_centers_.shape == (2, 3)


REFUSED = {
    "count": "nothing says how many rows",
    "sum of stay": "nothing bounds the sum",
    "max": "max of what",
    "max of nothing": "there is no column 'nothing'",
    "longest of stay": "it is none of count",
    "any of stay": "a comparison is missing",
    "only of stay * 2": "there is no column",
    "max of ward": "ward is no number",
    "max of stay'); DROP TABLE kept; --": "cannot be read|it goes on|begins",
    "": "it is none of",
}


def test_refusals_say_what_would_do_and_cost_nothing() -> None:
    data = opened(unit=Unit("user", "who"))
    for text, words in REFUSED.items():
        with pytest.raises((ParameterError, SchemaError), match=words):
            data.per_unit(new=text)
    with pytest.raises(ParameterError, match="nothing is asked"):
        data.per_unit()
    with pytest.raises(NotPermitted, match="nothing to bring together"):
        opened(unit=RECORD).per_unit(longest="max of stay")
    assert data.ledger.entries() == ()


def test_hostile_bounds_are_refused() -> None:
    for ends in ((1, 1), (2, 1), (float("nan"), 1), (0, float("inf")), ("0", None), (0,), 5, (0, 1e300)):
        with pytest.raises((ParameterError, SchemaError)):
            opened().per_unit(visits="count", bounds={"visits": ends})  # type: ignore[dict-item]


def test_every_unit_is_one_row_under_both_relations() -> None:
    for neighbors in Neighbors:
        each = opened(neighbors=neighbors).per_unit(longest="max of stay")
        assert each.unit.rows == 1
        number = discreet.count(each, epsilon=1e3)
        assert abs(number.value - VISITS["who"].nunique()) <= 1
    assert account_of(Budget(1.0), Neighbors.ADD_REMOVE, UNIT).unit == UNIT


@pytest.mark.xdist_group("postgres")
def test_postgres_gives_the_same_bits(postgres: str) -> None:
    dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    with dbapi.connect(postgres, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("per_unit_visits", pa.Table.from_pandas(VISITS, preserve_index=False), mode="replace")
    table = postgres_table(postgres, "per_unit_visits", opened().schema, UNIT)
    assert np.array_equal(rows_of(opened(table).per_unit(bounds=BOUNDS, **TEXTS)), by_python(), equal_nan=True)
