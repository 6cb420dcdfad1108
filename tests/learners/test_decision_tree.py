"""A private decision tree: it finds the splits, says its rules, and what it promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.learners.decision_tree import DecisionTreeClassifier
from discreet.releases.spread import spread
from discreet.releases.sum_plan import SumPlan
from tests.learners import trial
from tests.learners.audited_sum import audited
from tests.learners.test_random_forest import CLASSIFIER
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(DecisionTreeClassifier(2, bounds=trial.BOUNDS, classes=[0, 1]), exemptions=CLASSIFIER)
FIELDS: dict[str, Any] = {"classes": ["no", "yes"], "bounds": (-1.0, 1.0)}


def people(n: int = 10_000) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).uniform(-1, 1, (n, 3))
    return X, np.where(np.where(X[:, 0] > 0, X[:, 1] > 0.5, X[:, 2] > -0.5), "yes", "no")


@pytest.mark.parametrize("price", [1e-6, 0.0])
def test_it_finds_the_splits_and_says_its_rules(price: float) -> None:
    X, y = people()
    model = DecisionTreeClassifier(2, **FIELDS, epsilon=2.0, delta=price).fit(X, y)
    assert model.score(X, y) > 0.97
    rules = [
        "x0 < 0",
        "|   x2 < -0.5: no",
        "|   x2 >= -0.5: yes",
        "x0 >= 0",
        "|   x1 < 0.5: no",
        "|   x1 >= 0.5: yes",
    ]
    assert model.export_text().splitlines() == rules


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(10)
    assert delta(DecisionTreeClassifier(**FIELDS, epsilon=0.5).fit(X, y).event_, 0.5) <= 1e-6
    model = DecisionTreeClassifier(**FIELDS, epsilon=0.5, delta=0.0).fit(X, y)
    assert pure_epsilon(model.event_) == pytest.approx(0.5)


def test_the_audit_does_not_refute_its_sums_and_would_see_half_the_noise() -> None:
    for price in (1e-6, 0.0):
        model = DecisionTreeClassifier(1, bins=2, **FIELDS, epsilon=3.0, delta=price)
        task = model._task(np.zeros((1, 1)), np.array(["no"]), Budget(3.0, price))
        plan, root = model.plan(task), np.zeros((1, 0))
        question = model._question(task, root, root, plan.norm)
        asked = SumPlan(question, spread(task.data, question, plan.noise))
        assert audited(asked, np.array([0.5, 1.0])).holds
        assert not audited(asked, np.array([0.5, 1.0]), 0.5).holds


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    for fields in ({"max_depth": 0}, {"max_depth": 11}, {"bins": 1}, {"epsilon": 0.0}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            DecisionTreeClassifier(**{**FIELDS, **fields}).fit(X, y)
