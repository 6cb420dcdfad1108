"""Exact margins put few swaps back; margins of the swapped table itself put nothing back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.attacks import SwapsUndone
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.microdata import swap_places
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData
from tests.attacks.trial import AttackTrial

TOWNS = ("a", "b", "c")


def _people(rng: np.random.Generator, number: int = 240) -> dict[str, Any]:
    return {
        "town": rng.choice(TOWNS, number),
        "sex": rng.choice(["f", "m"], number),
        "work": rng.integers(0, 60, number),
        "age": rng.integers(0, 40, number),
        "row": np.arange(number),
    }


def _margin(people: dict[str, Any], name: str) -> Counter[tuple[Any, Any]]:
    return Counter(zip(people["town"].tolist(), people[name].tolist(), strict=True))


def _swapped(people: dict[str, Any], rng: np.random.Generator, pairs: int) -> dict[str, Any]:
    """Some pairs of the same sex and different towns, exchanged."""
    towns = people["town"].copy()
    free = list(rng.permutation(len(towns)))
    while pairs and len(free) > 1:
        one = free.pop()
        same = [row for row in free if towns[row] != towns[one] and people["sex"][row] == people["sex"][one]]
        other = same[0] if same else None
        if other is not None:
            free.remove(other)
            towns[one], towns[other] = towns[other], towns[one]
            pairs -= 1
    return {"town": towns, **{name: people[name] for name in ("sex", "work", "age")}}


def _runs(exact: bool) -> list[tuple[SwapsUndone, Any]]:
    """Margins of the people, or of the swapped table itself."""
    rng = np.random.default_rng(3)
    people = _people(rng)
    released = _swapped(people, rng, 12)
    margins = {name: _margin(people if exact else released, name) for name in ("work", "age")}
    return [(SwapsUndone(people["town"], "town", margins, ["sex"]), released)]


TRIALS = {"SwapsUndone": AttackTrial(lambda: _runs(exact=True), lambda: _runs(exact=False))}


def test_few_swaps_are_put_back_by_exact_margins() -> None:
    rng = np.random.default_rng(0)
    people = _people(rng)
    released = _swapped(people, rng, 12)
    margins = {name: _margin(people, name) for name in ("work", "age")}
    result = SwapsUndone(people["town"], "town", margins, ["sex"]).run(released)
    assert result.chance == 1 - 24 / 240
    assert result.details["moved rows put back"] > 0.8
    assert result.beats_chance


def test_margins_that_say_nothing_put_nothing_back() -> None:
    rng = np.random.default_rng(1)
    people = _people(rng)
    released = _swapped(people, rng, 12)
    for margins in ({"work": _margin(released, "work")}, {"sex": _margin(people, "sex")}):
        result = SwapsUndone(people["town"], "town", margins, ["sex"]).run(released)
        assert not result.beats_chance
        assert result.success == result.chance
    stirred = {**people, "town": rng.permutation(people["town"])}
    result = SwapsUndone(people["town"], "town", {"work": _margin(people, "work")}).run(
        {name: stirred[name] for name in ("town", "sex", "work")}
    )
    assert result.success < 0.8


def test_places_that_the_library_swapped_are_put_back() -> None:
    rng = np.random.default_rng(2)
    people = _people(rng)
    schema = Schema(
        {
            "town": Category(TOWNS),
            "sex": Category(("f", "m")),
            **{name: Number(0, 300, step=1) for name in ("work", "age", "row")},
        }
    )
    data = PrivateData.of(people, schema, Budget(1.0))
    table = swap_places(data, "town", ["sex", "work", "age", "row"], keys=["sex"], rare=0, rate=0.05, waiver="made up")
    own = table["row"].astype(int)
    released = {name: table[name] for name in ("town", "sex", "work", "age")}
    margins = {name: _margin(people, name) for name in ("work", "age")}
    result = SwapsUndone(people["town"][own], "town", margins, ["sex"]).run(released)
    assert result.chance < 1
    assert result.success > result.chance
    assert result.details["moved rows put back"] > 0.6


def test_keys_say_who_can_have_moved() -> None:
    """Two of work 1 could have come from town a; one of them is of the sex of whoever went there."""
    for sexes in (["f", "m", "f", "m"], ["m", "f", "m", "f"]):
        released = {"town": ["a", "a", "b", "b"], "sex": sexes, "work": [1, 2, 1, 1]}
        margins = {"work": {("a", 1): 2, ("b", 1): 1, ("b", 2): 1}}
        assert SwapsUndone(["a", "b", "b", "a"], "town", margins, ["sex"]).run(released).success == 1.0


def test_hostile_values_are_no_crash_and_what_does_not_fit_is_refused() -> None:
    table = {"town": ["a", None], "sex": ["<b>", "<b>"], "work": [1.0, np.nan]}
    truth: Any = ["a", None]
    result = SwapsUndone(truth, "town", {"work": {("a", 1): 1, ("z", 7): 3}}, ["sex"]).run(table)
    assert result.success == 1.0
    margins = {"work": {("a", 1): 1}}
    odd: list[Callable[[], Any]] = [
        lambda: SwapsUndone(["a"], "town", margins).run(table),
        lambda: SwapsUndone(["a", "b"], "no", margins).run(table),
        lambda: SwapsUndone(["a", "b"], "town", {"no": {}}).run(table),
        lambda: SwapsUndone(["a", "b"], "town", margins, ["no"]).run(table),
        lambda: SwapsUndone(["a", "b"], "town", {}),
        lambda: SwapsUndone(["a", "b"], "town", {"town": {}}),
        lambda: SwapsUndone(range(40_000), "town", margins).run({"town": ["a"] * 40_000, "work": range(40_000)}),
    ]
    for make in odd:
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            make()
