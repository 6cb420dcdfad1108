"""Random decision trees as published: the price, the depth, and that they learn where epsilon is large."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.accounting.accountant import pure_epsilon
from discreet.core.budget import Budget
from discreet.learners.trees.random_decision_trees import RandomDecisionTrees
from discreet.learners.trees.random_trees import sample_question
from discreet.releases.least_noise import SumPlan
from tests.learners import trial
from tests.learners.audited_sum import check_sum, worst
from tests.learners.trees.test_random_forest import CLASSIFIER, FIELDS, people
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(RandomDecisionTrees(4, bounds=trial.BOUNDS, classes=[0, 1]), exemptions=CLASSIFIER)


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
