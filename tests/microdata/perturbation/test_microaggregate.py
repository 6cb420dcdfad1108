"""Microaggregated tables: at least k are equal, and what k - 1 of them find out about the last."""

from __future__ import annotations

import numpy as np

from discreet.core.budget import Budget
from discreet.microdata.perturbation.microaggregate import microaggregate
from discreet.schema.dates import Date
from discreet.schema.schema import Category, Number
from discreet.trust.private_data import PrivateData

WAIVER = "public data"


def private(n: int) -> PrivateData:
    rng = np.random.default_rng(1)
    people = {
        "age": rng.integers(0, 100, n),
        "town": rng.choice(["a", "b"], n),
        "born": (np.datetime64("1969-12-01") + rng.integers(0, 60, n)).astype(str),
        "who": np.arange(n),
    }
    columns = {
        "age": Number(0, 100, step=1),
        "town": Category(("a", "b")),
        "born": Date("1960-01-01", "1980-01-01"),
        "who": Number(0, n, step=1),
    }
    return PrivateData.of(people, columns, Budget(1.0))


def test_at_least_k_records_are_equal_and_kinds_of_columns_stay() -> None:
    table = microaggregate(private(500), ["age", "town", "born"], k=6, waiver=WAIVER)
    rows = list(zip(table["age"], table["town"], table["born"].astype(str), strict=True))
    assert min(rows.count(row) for row in set(rows)) >= 6
    assert table.notes["smallest"] >= 6
    assert table.notes["groups"] >= len(set(rows)) > 40
    assert table.schema.columns["age"] == Number(0, 100)
    assert isinstance(table.schema.columns["born"], Date)
    assert (table.records[:, 2] == np.rint(table.records[:, 2])).all()


def test_whoever_knows_all_but_one_of_a_group_knows_that_one() -> None:
    data = private(300)
    table = microaggregate(data, "age", k=4, unchanged="who", waiver=WAIVER)
    ages = np.random.default_rng(1).integers(0, 100, 300)
    victim = table.records[0]
    group = table.records[table.records[:, 0] == victim[0], 1].astype(int)
    others = group[group != victim[1]]
    assert len(group) >= 4
    assert round(len(group) * victim[0] - ages[others].sum()) == ages[int(victim[1])]


def test_fewer_than_k_records_are_one_group_that_says_so() -> None:
    table = microaggregate(private(3), "age", k=5, waiver=WAIVER)
    assert len(set(table["age"].tolist())) == 1
    assert table.notes["smallest"] == 3
