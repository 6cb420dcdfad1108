"""Questions about transformed records: the same as if the records had been transformed before."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import DiscreetError, NotPermitted
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.named import question_of
from discreet.questions.question import AllRecords, SampledSum
from discreet.questions.recipe import Recipe
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.transformation import (
    ColumnTerm,
    Computed,
    Filled,
    KeptColumn,
    MissingMark,
    Transformation,
    sources,
)
from discreet.questions.transformed import transformed
from discreet.questions.vectors.second_moments import second_moments_of
from discreet.schema.schema import Number
from discreet.trust.curator import CuratorsView
from discreet.trust.policy import Policy
from discreet.trust.sources.matrix import Matrix
from tests.questions.trial import SCHEMA, Trial, summed

SOURCES = sources(SCHEMA)
MATRIX = np.zeros((3, len(SOURCES)))
MATRIX[1, SOURCES.index(("x", None))] = 0.02
MATRIX[1, SOURCES.index(("kind", 2))] = -0.5
INNER = Recipe("contingency", {"columns": ("two", "new"), "bins": (0, 4)}).written()
START = {
    "names": ("two", "new", "y"),
    "kept": (True, False, True),
    "matrix": MATRIX,
    "numbers": np.array([[0.0, 0.0, 0.0], [0.25, -1.0, 1.0], [0.0, 0.0, 0.0]]),
    "inner": INNER,
}
FORGED: list[dict[str, Any]] = [
    {"names": ("two", "new")},
    {"names": ("two", "two", "y")},
    {"names": ("two", "new", "absent")},
    {"kept": (True, False)},
    {"matrix": MATRIX[:, 1:]},
    {"numbers": np.zeros((3, 3))},
    {"numbers": np.zeros((3, 2))},
    {"inner": Recipe("contingency", {"columns": ("kind",), "bins": (0,)}).written()},
    {"inner": Recipe("absent", {}).written()},
    {"inner": "{}"},
]
FILLED = {
    "kept": ("two", "x"),
    "filled": ("x", "two"),
    "values": (7.0, 1.0),
    "marks": ("no_x",),
    "marked": ("x",),
    "inner": Recipe("contingency", {"columns": ("two", "x", "no_x"), "bins": (0, 4, 2)}).written(),
}
UNFILLED: list[dict[str, Any]] = [
    {"values": (7.0,)},
    {"values": (111.0, 1.0)},
    {"values": (7.0, 0.5)},
    {"values": (float("nan"), 1.0)},
    {"filled": ("x", "y")},
    {"kept": ("two",)},
    {"marked": ()},
    {"marked": ("absent",)},
    {"marks": ("x",)},
    {"inner": "{}"},
]
DERIVED = {
    "names": ("twice", "share"),
    "texts": ("2 * x", "case when two == 'f' then y / x else coalesce(y, 1) end"),
    "ends": ((-20.0, 220.0), (-1.0, 1.0)),
    "inner": Recipe("contingency", {"columns": ("two", "twice", "share"), "bins": (0, 4, 3)}).written(),
}
UNDERIVED: list[dict[str, Any]] = [
    {"names": ("twice",)},
    {"names": ("twice", "twice")},
    {"names": ("twice", "x")},
    {"texts": ("2 * x", "absent + 1")},
    {"texts": ("2 * x", "note + 1")},
    {"texts": ("2 * x", "1 + 1")},
    {"texts": ("2 * x", "far * far * far * far * far * far * far")},
    {"ends": ((-20.0, 220.0), (1.0, -1.0))},
    {"ends": ((-20.0, 220.0), (-1.0,))},
    {"ends": ((-20.0, 220.0), (-1.0, float("inf")))},
    {"inner": "{}"},
]
TRIALS = {
    "derived": Trial(DERIVED, "bda2e042d62c", forged=UNDERIVED),
    "transformed": Trial(START, "af74224ab0d7", forged=FORGED),
    "filled": Trial(FILLED, "a3e75ca8180a", forged=UNFILLED),
}
BY = Transformation(
    SCHEMA,
    (
        KeptColumn("two"),
        Computed("new", (ColumnTerm("x", 0.02), ColumnTerm("kind", -0.5, 2)), 0.25, Number(-1.0, 1.0)),
        KeptColumn("y"),
    ),
)


def people(n: int = 400) -> np.ndarray:
    rng = np.random.default_rng(0)
    records = np.column_stack(
        [rng.uniform(-10, 110, n), rng.uniform(0, 1, n), rng.integers(0, 3, n), rng.integers(0, 2, n)]
    )
    records[:5, 0] = records[3:9, 2] = records[20:25, 3] = np.nan
    return records


COLUMNS = ("x", "y", "kind", "two")


def after(records: np.ndarray) -> np.ndarray:
    x, y, kind, two = records.T
    return np.column_stack([two, np.clip(0.25 + 0.02 * x - 0.5 * (kind == 2), -1, 1), y])


def test_the_sum_is_that_of_the_transformed_records() -> None:
    records = people()
    for question in (contingency_of(BY.after, ("two", "new"), (0, 4)), second_moments_of(BY.after, ("y", "new"), 1.0)):
        asked = transformed(question, BY)
        own = after(records)[:, [("two", "new", "y").index(name) for name in question.columns]]
        before = records[:, [COLUMNS.index(name) for name in asked.columns]]
        np.testing.assert_array_equal(summed(asked, before), summed(question, own))  # type: ignore[arg-type]
        assert asked.bound == question.bound  # type: ignore[attr-defined]
        again = question_of(asked.recipe, SCHEMA)  # type: ignore[attr-defined]
        np.testing.assert_array_equal(summed(again, before), summed(question, own))


def test_one_transformation_follows_another() -> None:
    second = Transformation(
        BY.after, (KeptColumn("two"), Computed("twice", (ColumnTerm("new", 2.0),), 0.0, Number(-1.5, 1.5)))
    )
    question = contingency_of(second.after, ("two", "twice"), (0, 3))
    asked = transformed(transformed(question, second), BY)
    two, new, _ = after(people()).T
    rows = np.column_stack([two, np.clip(2 * new, -1.5, 1.5)])
    before = people()[:, [COLUMNS.index(name) for name in asked.columns]]
    np.testing.assert_array_equal(summed(asked, before), summed(question, rows))  # type: ignore[arg-type]


def test_a_policy_sees_the_recipe_inside() -> None:
    recipe = transformed(contingency_of(BY.after, ("two",), (0,)), BY).recipe  # type: ignore[attr-defined]
    assert recipe.names == ("transformed", "contingency")
    event = SecretSample(0.5).event  # any: a policy without a price does not look at it
    Policy(["transformed", "contingency"]).check(recipe, event)  # type: ignore[arg-type]
    with pytest.raises(NotPermitted, match="recipe contingency"):
        Policy(["transformed", "count"]).check(recipe, event)  # type: ignore[arg-type]


def test_other_questions_see_the_transformed_records() -> None:
    records = np.column_stack([people(), np.zeros((400, 3))])[:, [0, 1, 4, 2, 3, 5, 6]]
    view = CuratorsView(Matrix(records, SCHEMA), Neighbors.ADD_REMOVE, DeterministicBits(0))
    seen = transformed(AllRecords(("new", "two")), BY).answer(view)
    np.testing.assert_array_equal(seen.values, after(people())[:, [1, 0]])  # type: ignore[union-attr]
    question = contingency_of(BY.after, ("two",), (0,))
    sample = transformed(SampledSum(question, SecretSample(1.0)), BY).answer(view)
    np.testing.assert_array_equal(sample.answer.steps, summed(question, after(people())[:, :1]))  # type: ignore[union-attr]


def test_a_closure_is_asked_about_transformed_records_too() -> None:
    plain = dataclasses.replace(contingency_of(BY.after, ("two", "new"), (0, 4)), recipe=None)
    asked = transformed(plain, BY)
    before = people()[:, [COLUMNS.index(name) for name in asked.columns]]
    np.testing.assert_array_equal(summed(asked, before), summed(plain, after(people())[:, :2]))  # type: ignore[arg-type]


def test_a_mistake_is_refused_in_words() -> None:
    with pytest.raises(DiscreetError, match="it makes no column 'x'"):
        BY.reads(("x",))
    with pytest.raises(DiscreetError, match="two columns have one name"):
        Transformation(SCHEMA, (KeptColumn("x"), KeptColumn("x")))
    with pytest.raises(DiscreetError, match="there is no column 'absent'"):
        _ = Transformation(SCHEMA, (KeptColumn("absent"),)).after


def test_missing_values_are_filled_and_marked_before_they_are_counted() -> None:
    outputs = (Filled("two", 1.0), Filled("x", 7.0), MissingMark("no_x", "x"))
    inner = contingency_of(Transformation(SCHEMA, outputs).after, ("two", "x", "no_x"), (0, 4, 2))
    question: Any = transformed(inner, Transformation(SCHEMA, outputs))
    assert question.columns == ("two", "x")
    found = summed(question, np.array([[np.nan, np.nan], [0.0, 109.0], [np.nan, -5.0]])).reshape(2, 4, 2)
    expected = np.zeros((2, 4, 2))
    expected[1, 0, 1] = expected[0, 3, 0] = expected[1, 0, 0] = 1
    np.testing.assert_array_equal(found, expected)
    mixed = Transformation(SCHEMA, (*outputs, Computed("half", (ColumnTerm("x", 0.5),), 0.0, Number(-5, 55))))
    with pytest.raises(DiscreetError, match="Do one after the other"):
        transformed(contingency_of(mixed.after, ("two",), (0,)), mixed)
