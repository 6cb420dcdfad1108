"""Hierarchies: what is accepted, how levels are named, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.errors import SchemaError
from discreet.core.grid import Array
from discreet.mechanisms.microdata.equivalence_classes import Ranked
from discreet.mechanisms.microdata.generalization_levels import on_level
from discreet.microdata.anonymity.hierarchies import Hierarchy
from discreet.schema.dates import Date, Datetime
from discreet.schema.schema import Boolean, Category, Column, Number, Text

AGE, TOWN = Number(0, 120, step=1), Category(("Ulm", "Bonn", "Kiel"))
BORN, SEEN = Date("1920-01-01", "2020-12-31"), Datetime("2020-01-01", "2020-12-31")


def names(column: Column, given: Any, values: list[float], level: int) -> tuple[str, ...]:
    made = Hierarchy.of("x", column, given)
    found = made.named(level, Ranked.of(on_level(made.levels, np.array(values), level)).values)
    assert isinstance(found, Category)
    return found.values


def test_levels_have_the_names_that_users_gave_or_know() -> None:
    day: Array = np.array(["1969-12-31", "2020-06-30"], "M8[D]").astype(float)
    assert names(AGE, (5, 20), [0, 17, 42], 1) == ("[0, 5)", "[15, 20)", "[40, 45)")
    assert names(AGE, (5, 20), [0, 17, 42], 2) == ("[0, 20)", "[40, 60)")
    assert names(Number(-1.0, 1.0), (0.1,), [-0.31, 0.3], 1) == ("[-0.4, -0.3)", "[0.3, 0.4)")
    assert names(BORN, ["month", "year"], list(day), 1) == ("1969-12", "2020-06")
    assert names(BORN, ["quarter", "decade"], list(day), 1) == ("1969-Q4", "2020-Q2")
    assert names(BORN, ["quarter", "decade"], list(day), 2) == ("1960s", "2020s")
    assert names(SEEN, ["hour", "day"], [day[1] * 86400 + 3601], 1) == ("2020-06-30T01:00",)
    assert names(SEEN, ["hour", "day"], [day[1] * 86400 + 3601], 2) == ("2020-06-30",)
    groups = [{"south": ["Ulm"], "north": ["Bonn", "Kiel"]}]
    assert names(TOWN, groups, [2, 0], 1) == ("south", "north")
    for column, given in ((AGE, ()), (BORN, []), (TOWN, groups), (Boolean(), ())):
        made = Hierarchy.of("x", column, given)
        assert made.named(0, np.empty(0)) is column
        assert names(column, given, [0, 1], len(made.levels.losses) - 1) == ("*",)


def test_a_level_on_which_all_values_are_missing_has_a_name() -> None:
    assert names(AGE, (5,), [np.nan], 1) == ("*",)


REFUSED: list[tuple[Column, Any, str]] = [
    (AGE, 5, "it is 5"),
    (AGE, "year", "it is year"),
    (AGE, (5, 12), "12 is no multiple of 5"),
    (AGE, (10, 5), "5 is no multiple of 10"),
    (AGE, (5, 5), "5 is no multiple of 5"),
    (AGE, (0,), "no positive number"),
    (AGE, (float("nan"),), "no positive number"),
    (AGE, (float("inf"),), "no positive number"),
    (AGE, ("5",), "no positive number"),
    (Number(0, 1e15), (1e-3,), "too narrow"),
    (BORN, ("day", "month"), "its periods are"),
    (BORN, ("year", "month"), "its periods are"),
    (BORN, ("month", "month"), "its periods are"),
    (BORN, (30,), "its periods are"),
    (TOWN, [{"south": ["Ulm"], "north": ["Bonn"]}], "it leaves out 'Kiel'"),
    (TOWN, [{"south": ["Ulm", "Bonn"], "north": ["Bonn", "Kiel"]}], "'Bonn' is in two groups"),
    (TOWN, [{"south": ["Ulm", "Rome"], "north": ["Bonn", "Kiel"]}], "'Rome' is not listed"),
    (
        TOWN,
        [{"a": ["Ulm", "Bonn"], "b": ["Kiel"]}, {"c": ["Ulm"], "d": ["Bonn", "Kiel"]}],
        "not inside one of the next",
    ),
    (TOWN, [{"a": "Ulm", "b": ["Bonn", "Kiel"]}], "the group a is no list"),
    (TOWN, [["Ulm", "Bonn", "Kiel"]], "a level is"),
    (TOWN, [{}], "a level is"),
    (TOWN, [{"a": ["Ulm"], "a ": ["Bonn", "Kiel"]}], "two of its values are the same"),
    (Text(), (), "not public"),
]


@pytest.mark.parametrize(("column", "given", "words"), REFUSED, ids=[words for _, _, words in REFUSED])
def test_what_does_not_fit_is_refused(column: Column, given: Any, words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        Hierarchy.of("x", column, given)
