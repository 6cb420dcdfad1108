"""Itemsets: which items a record has, which sets there are, and how often each is found."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.questions.tables.itemsets import NOTHING, Items, itemset_counts_of
from discreet.schema.dates import Date
from discreet.schema.schema import Boolean, Category, Number, Schema
from tests.questions.trial import Trial, summed

TRIALS = {
    "itemset_counts": Trial(
        {
            "columns": ("kind", "x"),
            "bins": (0, 30),
            "sets": np.array([[0.0, 6.0], [1.0, 12.0], [1.0, -1.0], [-1.0, -1.0]]),
            "norm": "l1",
        },
        "c61c3c903d28",
        forged=[
            {"sets": np.array([[33.0, 0.0]])},
            {"sets": np.array([[-2.0, 0.0]])},
            {"sets": np.array([[0.5, 0.0]])},
            {"sets": np.empty((0, 2))},
            {"sets": np.zeros((1, 6))},
            {"bins": (0, 0)},
            {"norm": "l3"},
        ],
    )
}

SCHEMA = Schema({"tea": Boolean(), "milk": Boolean(), "town": Category(("a", "b", "c")), "age": Number(0, 90)})
NAMES = tuple(SCHEMA.columns)
ITEMS = Items.of(SCHEMA, NAMES, 2)


def rows(n: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    found = np.column_stack(
        [rng.integers(0, 2, n), rng.integers(0, 2, n), rng.integers(0, 3, n), rng.uniform(0, 90, n)]
    )
    found[rng.random(found.shape) < 0.2] = np.nan
    return found


def test_a_truth_is_one_item_and_a_missing_value_is_none() -> None:
    assert ITEMS.names == ("tea", "milk", "town=a", "town=b", "town=c", "age=[0, 45)", "age=[45, 90)")
    present = ITEMS.present(np.array([[0.0, 1.0, 2.0, 45.0], [np.nan] * 4]))
    assert present.astype(int).tolist() == [[0, 1, 0, 0, 1, 0, 1], [0] * 7]


def test_no_set_has_two_items_of_one_column_and_their_number_is_known_before() -> None:
    for sizes in (range(1, 2), range(2, 3), range(1, 4), range(2, 5)):
        every = [
            one
            for size in sizes
            for one in combinations(range(7), size)
            if len({ITEMS.cells[item][0] for item in one}) == size
        ]
        listed = [tuple(item for item in one if item != NOTHING) for one in ITEMS.listed(sizes).tolist()]
        assert sorted(listed) == sorted(every)
        assert ITEMS.sets(sizes) == len(every)


def test_counts_are_those_of_records_that_have_all_items() -> None:
    for n in (0, 1, 63, 64, 65, 700):
        records, sets = rows(n), ITEMS.listed(range(1, 4))
        found = summed(itemset_counts_of(SCHEMA, NAMES, (0, 0, 0, 2), sets.astype(float), "l2"), records)
        present = ITEMS.present(records)
        exact = [present[:, [item for item in one if item != NOTHING]].all(axis=1).sum() for one in sets.tolist()]
        assert found.tolist() == exact


def bound(sets: Any, norm: Any) -> float:
    return itemset_counts_of(SCHEMA, NAMES, (0, 0, 0, 2), np.array(sets), norm).bound.radius


def test_a_record_is_in_one_set_of_each_choice_of_columns_and_the_bound_is_their_number() -> None:
    towns = [[2.0, NOTHING], [3.0, NOTHING], [4.0, NOTHING], [0.0, 2.0], [0.0, 3.0], [NOTHING, NOTHING]]
    assert bound(towns, "l1") == 3
    assert bound(towns, "l2") >= math.sqrt(3)
    assert bound(towns, "linf") == 1
    assert bound([[0.0, 1.0], [0.0, NOTHING], [1.0, NOTHING]], "l1") == 3
    assert bound([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, NOTHING]], "l1") == 4


def test_no_record_adds_more_than_the_bound_whatever_sets_are_asked() -> None:
    rng = np.random.default_rng(4)
    every = np.array(list(product((0.0, 1.0, np.nan), (0.0, 1.0), (0.0, 1.0, 2.0, np.nan), (0.0, 90.0, np.nan))))
    for _ in range(60):
        sets = rng.integers(NOTHING, 7, (rng.integers(1, 30), 3)).astype(float)
        asked = itemset_counts_of(SCHEMA, NAMES, (0, 0, 0, 2), sets, "l1")
        assert asked.of(every).sum(axis=1).max() <= asked.bound.radius


def test_the_empty_set_is_everybody() -> None:
    asked = itemset_counts_of(SCHEMA, NAMES, (0, 0, 0, 2), np.array([[NOTHING, NOTHING], [0.0, 1.0]]), "linf")
    assert summed(asked, rows(50))[0] == 50


def test_cells_are_told_apart_by_name_and_dates_are_dates() -> None:
    schema = Schema({"near": Number(1e9, 1e9 + 4), "day": Date("2020-01-01", "2020-01-31")})
    assert Items.of(schema, ("near",), 2).names == (
        "near=[1000000000.0, 1000000002.0)",
        "near=[1000000002.0, 1000000004.0)",
    )
    assert Items.of(schema, ("day",), 2).names[0].startswith("day=[2020-01-01, 2020-01-16")
    twice = Schema({"a=b": Boolean(), "a": Category(("b", "c"))})
    with pytest.raises(ParameterError, match="two of them have the same name"):
        Items.of(twice, ("a=b", "a"), 1)
