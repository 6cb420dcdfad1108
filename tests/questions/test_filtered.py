"""Questions about some of the records: the same as if the others were not there."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import NotPermitted
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.columns.moments import moments_of
from discreet.questions.columns.total import total_of
from discreet.questions.filtered import filtered
from discreet.questions.named import question_of
from discreet.questions.question import AllRecords, BoundedSum, SampledSum
from discreet.questions.recipe import Recipe
from discreet.questions.tables.contingency import contingency_of
from discreet.schema.condition_text import condition_of
from discreet.trust.curator import CuratorsView
from discreet.trust.policy import Policy
from discreet.trust.sources.matrix import Matrix
from tests.questions.test_transformed import BY, COLUMNS, people
from tests.questions.trial import SCHEMA, Trial, summed

INNER = Recipe("moments", {"column": "x", "degree": 2, "counted": False}).written()
START = {"condition": "y > 0.5 and not kind in ('a', 'c') or two is missing", "inner": INNER}
FORGED: list[dict[str, Any]] = [
    {"condition": "absent > 3"},
    {"condition": ""},
    {"condition": "note == 'x'"},
    {"inner": Recipe("absent", {}).written()},
    {"inner": "{}"},
]
TRIALS = {"filtered": Trial(START, "35aa49427ab2", forged=FORGED)}
WHERE = condition_of("y > 0.5 and (kind == 'b' or x < 20) or two is missing", SCHEMA)


def chosen(records: np.ndarray) -> np.ndarray:
    x, y, kind, two = records.T
    return (y > 0.5) & ((kind == 1) | (x < 20)) | np.isnan(two)


def asked_of(question: BoundedSum) -> BoundedSum:
    found = filtered(question, WHERE, SCHEMA)
    assert isinstance(found, BoundedSum)
    return found


def read(records: np.ndarray, question: BoundedSum) -> np.ndarray:
    return records[:, [COLUMNS.index(name) for name in question.columns]]


QUESTIONS = [
    moments_of(SCHEMA, "x", 2, False),
    moments_of(SCHEMA, "x", 1, True),
    contingency_of(SCHEMA, ("two", "x"), (0, 4)),
    total_of(SCHEMA, "y", 0.0),
]


def test_the_sum_is_that_of_the_records_that_fulfil_the_condition() -> None:
    records = people()
    for question in QUESTIONS:
        asked = asked_of(question)
        wanted = summed(question, read(records[chosen(records)], question))
        np.testing.assert_array_equal(summed(asked, read(records, asked)), wanted)
        assert asked.bound == question.bound
        assert asked.recipe is not None
        again = question_of(asked.recipe, SCHEMA)
        np.testing.assert_array_equal(summed(again, read(records, again)), wanted)


def test_a_question_without_recipe_is_filtered_too_and_known_by_its_condition() -> None:
    plain = dataclasses.replace(QUESTIONS[0], recipe=None)
    records, asked = people(), asked_of(plain)
    assert asked.recipe is None
    np.testing.assert_array_equal(
        summed(asked, read(records, asked)), summed(plain, read(records[chosen(records)], plain))
    )


def test_a_policy_sees_the_recipe_inside() -> None:
    recipe = asked_of(QUESTIONS[0]).recipe
    assert recipe is not None
    assert recipe.names == ("filtered", "moments")
    event: Any = SecretSample(0.5).event
    Policy(["filtered", "moments"]).check(recipe, event)
    with pytest.raises(NotPermitted, match="recipe moments"):
        Policy(["filtered", "count"]).check(recipe, event)


def test_other_questions_see_those_records_alone() -> None:
    records = np.column_stack([people(), np.zeros((400, 3))])[:, [0, 1, 4, 2, 3, 5, 6]]
    view = CuratorsView(Matrix(records, SCHEMA), Neighbors.ADD_REMOVE, DeterministicBits(0))
    seen: Any = filtered(AllRecords(("x", "two")), WHERE, SCHEMA).answer(view)
    np.testing.assert_array_equal(seen.values, people()[chosen(people())][:, [0, 3]].clip([-10, 0], [110, 1]))
    sample: Any = filtered(SampledSum(QUESTIONS[0], SecretSample(1.0)), WHERE, SCHEMA).answer(view)
    wanted = QUESTIONS[0].steps(people()[chosen(people())][:, :1]).sum(axis=0)
    np.testing.assert_array_equal(sample.answer.steps, wanted)


def test_a_transformed_question_is_filtered_by_the_records_before() -> None:
    from discreet.questions.transformed import transformed

    question = contingency_of(BY.after, ("two", "new"), (0, 4))
    after = transformed(question, BY)
    assert isinstance(after, BoundedSum)
    asked, records = asked_of(after), people()
    wanted = summed(after, read(records[chosen(records)], after))
    np.testing.assert_array_equal(summed(asked, read(records, asked)), wanted)
