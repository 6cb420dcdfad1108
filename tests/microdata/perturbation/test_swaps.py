"""Swapped tables: what stays exact, and how swaps are undone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import SchemaError
from discreet.core.grid import Array
from discreet.microdata.perturbation.swaps import swap_places, swap_ranks
from discreet.schema.schema import Category, Column, Number, Schema
from discreet.trust.private_data import PrivateData

WAIVER = "public data"
JOBS = 1500


def test_each_column_keeps_its_values_and_correlations_shrink_little() -> None:
    rng = np.random.default_rng(1)
    first = rng.normal(0, 1, 3000).clip(-5, 5)
    rows = np.column_stack([first, (first + rng.normal(0, 1, 3000)).clip(-9, 9)])
    data = PrivateData.of(rows, Schema.numeric(-9.0, 9.0, 2), Budget(1.0))
    found = swap_ranks(data, ["x0", "x1"], window=0.05, waiver=WAIVER).records
    assert np.array_equal(np.sort(found, axis=0), np.sort(rows, axis=0))
    before, after = (np.corrcoef(own[:, 0], own[:, 1])[0, 1] for own in (rows, found))
    assert 0.9 * before < after < before
    assert len({tuple(row) for row in found.tolist()} & {tuple(row) for row in rows.tolist()}) < 30


def test_several_columns_single_out_records_after_rank_swapping() -> None:
    """Nin, Herranz and Torra 2008: the record lies in the window of ranks of every column that is known."""
    n, width, window = 1000, 6, 0.1
    rows = np.random.default_rng(2).uniform(-1, 1, (n, width))
    numbered = np.column_stack([rows, np.arange(n)])
    schema = Schema.numeric([-1.0] * width + [0.0], [1.0] * width + [float(n)], width + 1)
    names = [f"x{place}" for place in range(width)]
    data = PrivateData.of(numbered, schema, Budget(1.0))
    table = swap_ranks(data, names, window=window, unchanged="x6", waiver=WAIVER).records
    ranks, known = (np.argsort(np.argsort(own, axis=0), axis=0) for own in (table[:, :width], rows))
    right = 0
    for person in range(n):
        near = (np.abs(ranks - known[person]) <= window * n).all(axis=1)
        found = np.flatnonzero(near)
        right += len(found) == 1 and table[found[0], width] == person
    assert right > 0.8 * n


def census() -> tuple[dict[str, Column], Array]:
    rng, n = np.random.default_rng(3), 2000
    columns: dict[str, Column] = {
        "town": Category(map(str, range(8))),
        "age": Number(0, 9, step=1),
        "sex": Category(("f", "m")),
        "job": Category([f"job {place}" for place in range(JOBS)]),
    }
    return columns, np.column_stack([rng.integers(0, size, n) for size in (8, 10, 2, JOBS)]).astype(np.float64)


def private(columns: dict[str, Column], rows: Array) -> PrivateData:
    people = {
        name: [column.values[int(one)] for one in own] if isinstance(column, Category) else own
        for (name, column), own in zip(columns.items(), rows.T, strict=True)
    }
    return PrivateData.of(people, columns, Budget(1.0))


def counts(rows: Array, *places: int) -> Array:
    shape = tuple((8, 10, 2, JOBS)[place] for place in places)
    table = np.zeros(shape)
    np.add.at(table, tuple(rows[:, place].astype(int) for place in places), 1)
    return table


def test_margins_of_place_and_keys_and_all_tables_without_the_place_are_exact() -> None:
    columns, rows = census()
    data = private(columns, rows)
    found = swap_places(data, "town", ["age", "sex", "job"], keys=["age", "sex"], rate=0.1, waiver=WAIVER).records
    for places in ((0,), (0, 1), (0, 2), (0, 1, 2), (1, 2, 3)):
        assert np.array_equal(counts(rows, *places), counts(found, *places))
    assert np.abs(counts(rows, 0, 3) - counts(found, 0, 3)).sum() > 300


def test_swapped_pairs_are_recovered_from_an_exact_table_beside() -> None:
    """An exact count of places and jobs betrays who moved. Two records of the same keys are a pair if the count of each
    one's job is too high where it is now, and too low where the other is."""
    columns, rows = census()
    data = private(columns, rows)
    found = swap_places(
        data, "town", ["age", "sex", "job"], keys=["age", "sex"], rare=0, rate=0.05, waiver=WAIVER
    ).records
    towns, jobs = found[:, 0].astype(int), found[:, 3].astype(int)
    change = counts(found, 0, 3) - counts(rows, 0, 3)
    came = np.flatnonzero(change[towns, jobs] > 0)
    left = change[towns[came][:, None], jobs[came]] < 0  # of the town of one the job of another
    alike = (found[came][:, None, 1:3] == found[came][:, 1:3]).all(axis=2)
    fits = left & left.T & alike
    guessed = found.copy()
    for one in np.flatnonzero(fits.sum(axis=1) == 1):
        guessed[came[one], 0] = found[came[fits[one].argmax()], 0]
    truth = {tuple(row) for row in rows.tolist()}
    seen, undone = (np.mean([tuple(row) not in truth for row in own.tolist()]) for own in (found, guessed))
    assert seen > 0.02
    assert undone < 0.4 * seen


def test_rare_records_alone_move_where_the_rate_is_zero() -> None:
    columns, rows = census()
    data = private(columns, rows)
    stay = swap_places(data, "town", ["job"], keys=[], rare=0, rate=0.0, waiver=WAIVER).records
    assert np.array_equal(np.unique(stay, axis=0), np.unique(rows[:, [0, 3]], axis=0))
    moved = swap_places(data, "town", ["job"], keys=[], risky="job", rare=2, rate=0.0, waiver=WAIVER).records
    changed = np.abs(counts(rows, 0, 3) - _table(moved)).sum() / 2
    lonely = (counts(rows, 0, 3) == 1).sum()
    assert changed == pytest.approx(lonely, rel=0.5)


def _table(found: Array) -> Array:
    return counts(np.insert(found, 1, [[0], [0]], axis=1), 0, 3)


def test_households_stay_together_and_are_given_away_only_where_that_is_asked() -> None:
    columns, rows = census()
    homes = np.repeat(np.arange(len(rows) // 2), 2)
    rows = np.column_stack([rows[homes, 0], rows[:, 1:], homes])
    columns["home"] = Number(0, len(rows), step=1)
    options: dict[str, Any] = {"keys": "sex", "rate": 0.3, "household": "home", "waiver": WAIVER}
    table = swap_places(private(columns, rows), "town", ["sex", "job", "home"], **options)
    found = table.records[np.argsort(table.records[:, 3], kind="stable")]
    assert (found[::2, 0] == found[1::2, 0]).all()
    assert (found[:, 0] != rows[:, 0]).mean() > 0.2
    assert list(swap_places(private(columns, rows), "town", ["sex", "job"], **options).schema.columns)[-1] == "job"


def test_a_household_that_is_no_column_or_the_place_is_refused() -> None:
    columns, rows = census()
    for name, words in (("house", "house"), ("town", "is the place itself")):
        with pytest.raises(SchemaError, match=words):
            swap_places(private(columns, rows), "town", ["sex"], keys=["sex"], household=name, waiver=WAIVER)
