"""The random decision trees of 2009: as published, with probabilities that noise does not make certain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss

from discreet.accounting.accountant import pure_epsilon
from discreet.core.budget import Budget
from discreet.learners.trees.random_decision_trees import RandomDecisionTrees
from discreet.learners.trees.random_trees import sample_question
from discreet.questions.trees.forest_leaves import leaves_of
from discreet.releases.least_noise import SumPlan
from tests.learners import trial
from tests.learners.audited_sum import check_sum, worst
from tests.learners.trees.test_random_forest import CLASSIFIER, FIELDS, people, rare
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(RandomDecisionTrees(4, bounds=trial.BOUNDS, classes=[0, 1]), exemptions=CLASSIFIER)


class Exact:
    """The same trees, with exact counts in their leaves."""

    def __init__(self, model: RandomDecisionTrees) -> None:
        self.model = model

    def leaves(self, X: np.ndarray) -> np.ndarray:
        return leaves_of(np.asarray(X), self.model.features_.astype(np.intp), self.model.cuts_)

    def fit(self, X: np.ndarray, y: np.ndarray) -> Exact:
        self.counts = np.zeros(self.model.leaf_values_.shape)
        for own, leaves in zip(self.counts, self.leaves(X), strict=True):
            np.add.at(own, (leaves, np.searchsorted(self.model.classes_, y)), 1)
        return self

    def score(self, X: np.ndarray, y: np.ndarray) -> float:
        sums = sum(own[leaves] for own, leaves in zip(self.counts, self.leaves(X), strict=True))
        return float(np.mean(self.model.classes_[np.argmax(sums, axis=1)] == y))


def TWIN(model: Any) -> Any:
    """Itself, without noise: what was published is no forest of scikit-learn's."""
    return Exact(model)


def test_they_learn_where_epsilon_is_large() -> None:
    X, y = people()
    assert RandomDecisionTrees(30, max_depth=5, **FIELDS, epsilon=50.0).fit(X, y).score(X, y) > 0.75


def test_the_price_is_pure_and_the_depth_half_the_number_of_features() -> None:
    model = RandomDecisionTrees(**FIELDS, epsilon=0.5).fit(np.zeros((5, 6)), np.full(5, "in"))
    assert pure_epsilon(model.event_) == pytest.approx(0.5)
    assert model.cuts_.shape == (10, 2**3 - 1)


def test_a_count_gets_noise_of_all_trees_over_epsilon() -> None:
    """Laplace noise of scale T / epsilon, whose deviation 10,240 counts of nothing show to within a tenth."""
    model = RandomDecisionTrees(10, max_depth=9, **FIELDS, epsilon=2.0).fit(np.zeros((0, 3)), np.empty(0))
    assert model.leaf_values_.std() == pytest.approx(np.sqrt(2) * 10 / 2, rel=0.1)


def test_the_audit_does_not_refute_its_sum_and_would_see_trees_that_do_not_share_epsilon() -> None:
    """The twin has the noise of one tree on the counts of three."""
    model = RandomDecisionTrees(3, max_depth=1, **FIELDS, epsilon=3.0)
    task = model._task(np.zeros((1, 1)), np.array(["in"]), Budget(3.0))
    plan = model.plan(task)
    asked = SumPlan(sample_question(task, plan.trees, plan.depth, plan.norm), plan.spread)
    record = worst(asked.question, (-0.5, 0.5, np.nan), (0.0, 1.0, np.nan))
    check_sum(asked, record)


def test_its_probabilities_are_no_worse_than_those_of_a_constant() -> None:
    """By the log loss, where a class is rare; half a hundredth for noise."""
    X, y = rare(26_000)
    share = np.mean(y[:6000] == "in")
    constant = log_loss(y[6000:], np.tile([share, 1 - share], (20_000, 1)))
    for epsilon in (0.3, 1.0, 10.0):
        model = RandomDecisionTrees(**{**FIELDS, "bounds": (0.0, 60.0)}, epsilon=epsilon).fit(X[:6000], y[:6000])
        assert log_loss(y[6000:], model.predict_proba(X[6000:])) < constant + 0.005
