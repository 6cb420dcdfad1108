"""A private random forest: accurate, deeper where there is less noise, and what it promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.learners.random_forest import RandomForestClassifier
from discreet.learners.random_trees import sample_question
from discreet.releases.sum_plan import SumPlan
from tests.learners import trial
from tests.learners.audited_sum import audited
from tests.learners.trial import LearnerTrial

CLASSIFIER = {
    "check_classifiers_train": "its classes are taken from the data, three and two of them",
    "check_classifiers_classes": "its classes are taken from the data, texts and numbers",
    "check_classifiers_regression_target": "classes are public: what is not listed counts for nothing",
}
TRIAL = LearnerTrial(RandomForestClassifier(4, max_depth=3, bounds=trial.BOUNDS, classes=[0, 1]), exemptions=CLASSIFIER)
FIELDS: dict[str, Any] = {"classes": ["in", "out"], "bounds": (-1.0, 1.0), "random_state": 0}


def people(n: int = 10_000) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).uniform(-1, 1, (n, 3))
    return X, np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 0.5, "in", "out")


def test_it_learns_what_no_line_separates() -> None:
    X, y = people()
    for price in (1e-6, 0.0):
        assert RandomForestClassifier(**FIELDS, epsilon=2.0, delta=price).fit(X, y).score(X, y) > 0.85


def test_a_rare_class_is_not_made_frequent() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (10_000, 3))
    y = np.where(X[:, 0] > 0.6, "out", "in")
    model = RandomForestClassifier(**FIELDS, epsilon=1.0).fit(X, y)
    assert model.score(X, y) > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(10)
    assert delta(RandomForestClassifier(**FIELDS, epsilon=0.5).fit(X, y).event_, 0.5) <= 1e-6
    assert pure_epsilon(RandomForestClassifier(**FIELDS, epsilon=0.5, delta=0.0).fit(X, y).event_) == pytest.approx(0.5)


def test_trees_are_deeper_and_more_where_there_is_less_noise() -> None:
    X, y = people(10)
    shapes = [
        RandomForestClassifier(**FIELDS, epsilon=epsilon, delta=0.0, expected_size=500).fit(X, y).cuts_.shape
        for epsilon in (0.1, 1.0, 10.0)
    ]
    assert shapes == sorted(shapes)
    assert len(set(shapes)) == 3


def test_the_trees_come_from_the_random_state_alone() -> None:
    X, y = people(50)
    first, other = (RandomForestClassifier(**FIELDS).fit(some, y) for some in (X, -X))
    np.testing.assert_array_equal(first.cuts_, other.cuts_)


def test_the_audit_does_not_refute_its_sum_and_would_see_half_the_noise() -> None:
    for price in (1e-6, 0.0):
        model = RandomForestClassifier(4, max_depth=1, **FIELDS, epsilon=3.0, delta=price)
        task = model._task(np.zeros((1, 1)), np.array(["in"]), Budget(3.0, price))
        plan = model.plan(task)
        asked = SumPlan(sample_question(task, plan.trees, plan.depth, plan.norm), plan.spread)
        assert audited(asked, np.array([0.5, 1.0])).holds
        assert not audited(asked, np.array([0.5, 1.0]), 0.5).holds


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    for fields in ({"n_estimators": 0}, {"max_depth": 17}, {"epsilon": 0.0}, {"expected_size": 0}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            RandomForestClassifier(**{**FIELDS, **fields}).fit(X, y)
