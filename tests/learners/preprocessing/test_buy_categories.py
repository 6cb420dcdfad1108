"""Values of text columns are named if they are frequent, paid for once, and then known to encoders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.accounting.accountant import delta
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, DiscreetError
from discreet.core.events import Repeated
from discreet.core.neighbors import Neighbors
from discreet.learners.preprocessing.buy_categories import CategoryPurchase, buy_categories, listed
from discreet.learners.preprocessing.category_encoder import OneHotEncoder, OrdinalEncoder
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.private_data import PrivateData

SCHEMA = Schema({"age": Number(0, 100), "town": Text(), "job": Text()})
TABLE: dict[str, Any] = {
    "age": np.full(3000, 40.0),
    "town": ["Ulm"] * 2000 + ["Bonn"] * 999 + ["Ann's own village"],
    "job": ["cook"] * 2500 + [f"spy {i}" for i in range(500)],
}


def test_it_costs_what_it_says_however_many_columns() -> None:
    """Half of delta is for values of one unit, in all columns together."""
    data = PrivateData.of({"a": ["x"], "b": ["y"]}, Schema({"a": Text(), "b": Text()}), Budget(1.0, 1e-6))
    for names in (["a"], ["a", "b"]):
        event = CategoryPurchase.of("test", data, names, 3, Budget(1.0, 1e-6)).event
        assert isinstance(event, Repeated)
        assert event.times == len(names)
        assert 0.8e-6 < delta(event, 1.0) <= 1e-6


def test_few_are_listed_if_few_are_wanted_and_no_two_that_mean_the_same() -> None:
    assert listed({"a": 5, "b": 9, "c": 7}, 2).values == ("b", "c")
    assert listed({"1": 5, "01": 9, "2": 7}, 3).values == ("01", "2")
    nothing = listed({}, 3)
    assert len(nothing.values) == 1


def people(path: Path) -> PrivateData:
    ledger = SqliteLedger.create(path / "ledger", Budget(3.0, 1e-6), name="towns", neighbors=Neighbors.ADD_REMOVE)
    return PrivateData.of(TABLE, SCHEMA, ledger)


def test_frequent_values_are_listed_and_those_of_one_person_are_not(tmp_path: Path) -> None:
    schema = buy_categories(people(tmp_path))
    assert schema.columns == {"age": Number(0, 100), "town": Category(("Bonn", "Ulm")), "job": Category(("cook",))}


def test_both_columns_are_paid_for_together_and_encoders_know_their_values(tmp_path: Path) -> None:
    data = people(tmp_path)
    schema = buy_categories(data, epsilon=1.2, delta=5e-7)
    with pytest.raises(BudgetExceeded):
        buy_categories(data, epsilon=2.0, delta=5e-7)
    bought = PrivateData.of(TABLE, schema, data.ledger)
    marks = OneHotEncoder().fit(bought)
    assert list(marks.get_feature_names_out()) == ["age", "town_Bonn", "town_Ulm", "job_cook"]
    places = OrdinalEncoder().fit(bought)
    row = pd.DataFrame({"age": [20], "town": ["Ulm"], "job": ["spy 7"]})
    np.testing.assert_array_equal(marks.transform(row), [[20, 0, 1, 0]])
    np.testing.assert_array_equal(places.transform(row), [[20, 1, -1]])


def test_a_mistake_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    data = people(tmp_path)
    head = data.ledger.head
    wrong: list[dict[str, Any]] = [{"columns": ["age"]}, {"columns": ["salary"]}, {"columns": []}, {"delta": 0.0}]
    for fields in [*wrong, {"max_categories": 0}]:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            buy_categories(data, **fields)
    assert data.ledger.head == head
