"""Weighted sums: contributions times the weights of their records, which never lengthen them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from discreet.core.errors import NotPermitted
from discreet.core.mechanism import SecretSample
from discreet.questions import weighted as module
from discreet.questions.columns.column_moments import column_moments_of
from discreet.questions.columns.column_trees import column_trees_of
from discreet.questions.columns.moments import moments_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import Recipe
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.weighted import weighted
from discreet.trust.policy import Policy
from tests.questions.trial import SCHEMA, Trial, X

INNER = Recipe("moments", {"column": "x", "degree": 2, "counted": False}).written()
TRIALS = {
    "weighted": Trial(
        {"weight": "y", "inner": INNER},
        "6506ce3aa79a",
        forged=[
            {"weight": "absent"},
            {"weight": "kind"},
            {"weight": "note"},
            {"inner": Recipe("absent", {}).written()},
            {"inner": "{}"},
        ],
    )
}
QUESTIONS = [
    moments_of(SCHEMA, "x", 2, False),
    column_moments_of(SCHEMA, ("x",)),
    column_trees_of(SCHEMA, ("x",), "l2"),
    contingency_of(SCHEMA, ("x",), (4,)),
]
ODD = np.array([2.0, 1e300, np.inf, -np.inf, -3.0, np.nan, 0.9999, 1 / 64, 1 / 65])


def some_weights(seed: int = 0) -> np.ndarray:
    weights = np.random.default_rng(seed).uniform(-0.2, 1.2, len(X))
    weights[::7] = np.nan
    return weights


def test_the_sum_is_that_of_contributions_times_weights_in_64ths() -> None:
    weights = some_weights()
    steps = np.floor(np.nan_to_num(weights).clip(0, 1) * 64)
    for question in QUESTIONS:
        asked = weighted(question, "y", SCHEMA)
        assert asked.total is not None
        found = asked.total(np.column_stack([X, weights]))
        np.testing.assert_array_equal(found, steps @ question.steps(X[:, None]))
        assert asked.bound == question.bound
        assert asked.grid.step * 64 == question.grid.step


def longest(asked: BoundedSum, weights: np.ndarray) -> float:
    """How far a record with one of these weights moves the fused sum, in bounds."""
    assert asked.total is not None
    moved = []
    for value in (-10.0, 0.0, 110.0):
        rows = np.column_stack([np.full(len(weights), value), weights])
        for row in rows:
            added = asked.grid.values(np.asarray(asked.total(row[None]), dtype=np.float64))
            moved.append(float(np.linalg.norm(added, 1 if asked.bound.norm == "l1" else 2)) / asked.bound.radius)
    return max(moved)


def test_no_weight_lengthens_what_a_record_adds_and_one_that_is_not_clipped_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for question in QUESTIONS:
        assert longest(weighted(question, "y", SCHEMA), ODD) <= 1
    monkeypatch.setattr(module, "whole_weights", lambda values: np.floor(values * 64).astype(np.int64))
    for question in QUESTIONS:
        loose = weighted(dataclasses.replace(question, recipe=None), "y", SCHEMA)
        assert longest(loose, np.array([1.9])) > 1.4


def test_a_column_may_weigh_itself() -> None:
    asked = weighted(moments_of(SCHEMA, "y", 1, True), "y", SCHEMA)
    assert asked.columns == ("y",)
    assert asked.total is not None
    np.testing.assert_array_equal(asked.total(np.full((3, 1), 0.5)), asked.steps(np.full((3, 1), 0.5)).sum(axis=0))


def test_a_policy_sees_the_recipe_inside() -> None:
    recipe = weighted(QUESTIONS[0], "y", SCHEMA).recipe
    assert recipe is not None
    assert recipe.names == ("weighted", "moments")
    Policy(["weighted", "moments"]).check(recipe, SecretSample(0.5).event)  # type: ignore[arg-type]
    with pytest.raises(NotPermitted, match="recipe moments"):
        Policy(["weighted", "count"]).check(recipe, SecretSample(0.5).event)  # type: ignore[arg-type]
