"""What a purchase of categories costs, and which values it lists."""

from __future__ import annotations

from discreet.accounting.accountant import delta
from discreet.core.budget import Budget
from discreet.core.events import Repeated
from discreet.learners.preprocessing.category_purchase import CategoryPurchase, listed
from discreet.schema.schema import Schema, Text
from discreet.trust.private_data import PrivateData


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
