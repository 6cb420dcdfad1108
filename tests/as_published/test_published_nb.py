"""Naive Bayes as it was published: close to the exact one where noise is little, its price, and what it lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB as Exact

from discreet.accounting.accountant import pure_epsilon
from discreet.as_published.published_nb import PublishedNB
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.learners.bayes.gaussian_nb import GaussianNB
from discreet.releases.least_noise import SumPlan
from tests.learners import trial
from tests.learners.audited_sum import check_sum, worst
from tests.learners.bayes.test_gaussian_nb import FIELDS, people
from tests.learners.bayes.test_gaussian_nb import TRIAL as OF_GAUSSIAN
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(PublishedNB(bounds=trial.BOUNDS, classes=[0, 1]), exemptions=OF_GAUSSIAN.exemptions)


def test_it_is_right_where_epsilon_is_large() -> None:
    X, y = people()
    model = PublishedNB(**FIELDS, epsilon=50.0).fit(X, y)
    np.testing.assert_allclose(model.theta_, Exact().fit(X, y).theta_, atol=0.05)


def test_the_fit_costs_what_it_says_and_no_delta() -> None:
    X, y = people(10)
    for paid in (0.0, 1e-6):
        assert pure_epsilon(PublishedNB(**FIELDS, epsilon=0.5, delta=paid).fit(X, y).event_) == pytest.approx(0.5)


def test_the_audit_does_not_refute_its_sum_and_would_see_two_thirds_of_the_noise() -> None:
    model = PublishedNB(**FIELDS, epsilon=3.0)
    task = model._task(np.zeros((1, 1)), np.array(["yes"]), Budget(3.0))
    plan = model.plan(task)
    assert plan.lengths is None
    sums = SumPlan(plan.question(task, plan.radius), plan.moments)
    assert plan.event == sums.event
    check_sum(sums, worst(sums.question, np.linspace(-6, 6, 9).tolist(), (0.0, 1.0, np.nan)))


def test_one_vector_that_is_shrunk_says_more_at_the_same_price() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    X = rng.normal(0.2 * (2 * y - 1)[:, None], 0.3, (2000, 10))
    fields: dict[str, Any] = {"classes": [0, 1], "bounds": (-1, 1), "epsilon": 0.3}
    joint, published = (
        np.median([kind(**fields).fit(X, y).score(X, y) for _ in range(9)]) for kind in (GaussianNB, PublishedNB)
    )
    assert joint > published + 0.05


def test_statistics_are_not_shrunk_by_their_noise() -> None:
    """Means of classes without records are noise, and stay where it puts them."""
    X, y = np.zeros((10, 3)), np.full(10, "no")
    means = [kind(**FIELDS, epsilon=0.01, delta=0.0).fit(X, y).theta_ for kind in (GaussianNB, PublishedNB)]
    joint, published = (np.ptp(each, axis=0).max() for each in means)
    assert joint < published


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    wrong: list[dict[str, Any]] = [{"radius": 0.0}, {"epsilon": 0.0}, {"classes": ["a", "a"]}]
    for fields in wrong:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            PublishedNB(**{**FIELDS, **fields}).fit(X, y)
