"""A sum in every group is that of the group's own records, and one record moves them all by its own bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.questions.columns.moments import moments_of
from discreet.questions.columns.total import count_of, total_of
from discreet.questions.grouped import counted, grouped
from discreet.questions.named import question_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import Recipe
from discreet.questions.tables.cells import cut
from discreet.questions.tables.contingency import contingency_of
from tests.questions.test_transformed import COLUMNS, people
from tests.questions.trial import SCHEMA, Trial, summed

INNER = Recipe("moments", {"column": "x", "degree": 2, "counted": False}).written()
FORGED: list[dict[str, Any]] = [
    {"by": ("kind",)},
    {"by": ("kind", "kind")},
    {"by": ("kind", "note")},
    {"by": ("kind", "absent")},
    {"edges": ((), ())},
    {"edges": ((0.5, 1.0), (0.0, 0.5))},
    {"edges": ((), (0.5, 0.0))},
    {"edges": ((), (0.5,))},
    {"inner": "{}"},
    {"inner": Recipe("absent", {}).written()},
]
TRIALS = {
    "grouped": Trial({"by": ("kind", "y"), "edges": ((), (0.0, 0.25, 0.75)), "inner": INNER}, "5d5dbe8ff8b8", FORGED),
}
GROUPS = cut(SCHEMA, ["kind", "y"], edges=[0.0, 0.25, 0.75])
QUESTIONS = [
    count_of(SCHEMA, None),
    count_of(SCHEMA, "x"),
    total_of(SCHEMA, "x", 0.0),
    moments_of(SCHEMA, "x", 2, False),
    contingency_of(SCHEMA, ("two", "y"), (0, 3)),
]


def read(records: np.ndarray, question: BoundedSum) -> np.ndarray:
    return records[:, [COLUMNS.index(name) for name in question.columns]]


def test_each_group_has_the_sum_of_its_own_records() -> None:
    records = people()
    _, y, kind, _ = records.T
    for question in QUESTIONS:
        asked = grouped(question, GROUPS, SCHEMA)
        found = summed(asked, read(records, asked)).reshape(3, 2, -1)
        for place in range(3):
            for cell, (low, high) in enumerate(((0.0, 0.25), (0.25, 0.75))):
                own = records[(kind == place) & (y >= low) & ((y < high) | (y == 0.75) & (high == 0.75))]
                np.testing.assert_array_equal(found[place, cell], summed(question, read(own, question)))
        assert asked.recipe is not None
        again = question_of(asked.recipe, SCHEMA)
        np.testing.assert_array_equal(summed(again, read(records, again)).reshape(3, 2, -1), found)


def test_all_groups_together_move_as_far_as_one() -> None:
    for question in QUESTIONS:
        asked = grouped(question, GROUPS, SCHEMA)
        assert asked.bound.radius == question.bound.radius
        rows = asked.grid.values(asked.steps(read(people(), asked)))
        assert np.abs(rows).sum(axis=1).max() <= asked.bound.radius
        assert asked.bound.norm == "l1"


def test_records_on_an_edge_are_in_one_group_and_those_outside_in_none() -> None:
    domain = cut(SCHEMA, ["y"], edges=[0.25, 0.5, 0.75])
    values = np.array([0.0, 0.2499, 0.25, 0.4999, 0.5, 0.75, 0.7501, 1.0, np.nan])[:, None]
    assert summed(counted(domain, SCHEMA), values).tolist() == [2, 2]


def test_even_cells_are_counted_by_the_recipe_that_counts_them_fastest() -> None:
    domain = cut(SCHEMA, ["y", "two"], 4)
    question = counted(domain, SCHEMA)
    assert question.recipe is not None
    assert question.recipe.name == "contingency"


def test_a_policy_sees_the_recipe_inside() -> None:
    recipe = grouped(QUESTIONS[1], GROUPS, SCHEMA).recipe
    assert recipe is not None
    assert recipe.names == ("grouped", "count")
