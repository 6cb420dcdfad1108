"""Private Gaussian naive Bayes: close to the exact one, and what it promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB
from sklearn.naive_bayes import GaussianNB as Exact

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.events import Composed
from discreet.learners.bayes.gaussian_nb import GaussianNB, lengths_of
from discreet.releases.least_noise import SumPlan
from tests.learners import trial
from tests.learners.audited_sum import check_sum, worst
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    GaussianNB(bounds=trial.BOUNDS, classes=[0, 1]),
    exemptions={
        "check_classifiers_train": "its classes are taken from the data, three and two of them",
        "check_classifiers_classes": "its classes are taken from the data, texts and numbers",
        "check_classifiers_regression_target": "classes are public: what is not listed counts for nothing",
    },
)
FIELDS: dict[str, Any] = {"classes": ["no", "yes"], "bounds": (-6.0, 6.0)}


def people(n: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    places = (rng.random(n) < 0.3).astype(int)
    means = np.array([[-1.0, 0.0, 0.5], [1.0, 0.5, 0.5]])
    X = rng.normal(means[places], [1.0, 0.5, 2.0])
    return X, np.array(["no", "yes"])[places]


@pytest.mark.parametrize("price", [1e-6, 0.0])
def test_it_is_close_to_the_exact_one(price: float) -> None:
    X, y = people()
    model = GaussianNB(**FIELDS, epsilon=1.0, delta=price).fit(X, y)
    exact = Exact().fit(X, y)
    np.testing.assert_allclose(model.theta_, exact.theta_, atol=0.15)
    np.testing.assert_allclose(model.var_, exact.var_, rtol=0.3, atol=0.2)
    np.testing.assert_allclose(model.class_prior_, exact.class_prior_, atol=0.02)
    assert model.score(X, y) > exact.score(X, y) - 0.01


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(10)
    assert delta(GaussianNB(**FIELDS, epsilon=0.5).fit(X, y).event_, 0.5) <= 1e-6
    model = GaussianNB(**FIELDS, epsilon=0.5, delta=0.0).fit(X, y)
    assert pure_epsilon(model.event_) == pytest.approx(0.5)


def test_the_audit_does_not_refute_its_sums_and_would_see_two_thirds_of_the_noise() -> None:
    """On the records of a grid that add most to the lengths, and to the moments of shrunk and of whole records."""
    for price in (1e-6, 0.0):
        model = GaussianNB(**FIELDS, epsilon=3.0, delta=price)
        task = model._task(np.zeros((1, 1)), np.array(["yes"]), Budget(3.0, price))
        plan = model.plan(task)
        assert plan.lengths is not None
        sums = [SumPlan(lengths_of(task), plan.lengths)]
        sums += [SumPlan(plan.question(task, radius), plan.moments) for radius in (plan.radius, 1.0)]
        assert plan.event == Composed(tuple(each.event for each in sums[:2]))
        for each in sums:
            axes = (np.linspace(-6, 6, 9).tolist(), (0.0, 1.0, np.nan))
            record = worst(each.question, *axes[: len(each.question.columns)])
            check_sum(each, record)


def test_where_noise_is_small_long_records_are_kept_whole_and_short_ones_shrunk() -> None:
    """And where it is smaller still, most records are within the length that others are shrunk to."""
    rng = np.random.default_rng(0)
    marks, numbers, wide = rng.choice([-1.0, 1.0], (2000, 6)), *(rng.normal(0, s, (2000, 6)) for s in (0.15, 0.3))
    many, few = 10_000, 500
    for X, size, square in (
        (marks, many, 6.0),
        (marks, 200, 2.4),
        (numbers, many, 0.6),
        (wide, few, 0.6),
        (wide, 10**6, 1.2),
    ):
        model = GaussianNB(classes=[0, 1], bounds=(-1, 1), epsilon=3.0, expected_size=size)
        model.fit(X, rng.integers(0, 2, 2000))
        assert model.radius_ == pytest.approx(square**0.5)
        assert isinstance(model.event_, Composed)


def test_it_approaches_the_exact_one_whatever_the_bounds() -> None:
    """Bounds of two deviations, which cut many records, and of fifty; two classes whose variances alone differ."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    X = rng.normal(0, np.where(y == 1, 1.3, 0.7)[:, None], (4000, 8))
    for end in (2.0, 50.0):
        rows = np.clip(X, -end, end)
        model = GaussianNB(classes=[0, 1], bounds=(-end, end), epsilon=1000.0, expected_size=4000).fit(rows, y)
        assert model.score(rows, y) > Exact().fit(rows, y).score(rows, y) - 0.01


def test_marks_are_not_taken_for_normal() -> None:
    """Twelve rare marks that say little: the normal law of the class where they are rarer would decide alone."""
    rng = np.random.default_rng(0)
    y = (rng.random(20_000) < 0.25).astype(int)
    X = np.where(rng.random((20_000, 12)) < np.where(y == 1, 0.004, 0.04)[:, None], 1.0, -1.0)
    X = np.column_stack([X, np.where(rng.random(20_000) < np.where(y == 1, 0.8, 0.2), 1.0, -1.0)])
    model = GaussianNB(classes=[0, 1], bounds=(-1, 1), epsilon=3.0).fit(X, y)
    best = BernoulliNB().fit(X > 0, y).score(X > 0, y)
    assert Exact().fit(X, y).score(X, y) + 0.05 < best < model.score(X, y) + 0.02


def test_of_a_few_records_a_few_features_are_used() -> None:
    X = np.zeros((10, 8))
    few, many = (
        GaussianNB(classes=[0, 1], bounds=(-1, 1), delta=0.0, expected_size=n).fit(X, np.zeros(10)).used_.sum()
        for n in (150, 10_000)
    )
    assert few < many == 8


def test_means_that_are_all_noise_as_far_as_one_can_tell_still_differ() -> None:
    """Of a hundred records of three classes, noise hides all differences in most fits: they are shrunk, not lost."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 100)
    X = rng.normal(0, 0.2, (100, 4)) + 0.2 * (y[:, None] - 1)
    model = GaussianNB(classes=[0, 1, 2], bounds=(-1, 1), epsilon=0.2, delta=0.0, expected_size=100)
    means = [model.fit(X, y).theta_[:, model.used_] for _ in range(20)]
    assert all(np.ptp(each, axis=0).max() > 0 for each in means)


def test_a_missing_value_says_nothing() -> None:
    X, y = people()
    model = GaussianNB(**FIELDS, epsilon=3.0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(np.full((1, 3), np.nan)), [model.class_prior_])
    assert list(model.predict([[-2.0, np.nan, np.nan], [3.0, np.nan, np.inf]])) == ["no", "yes"]


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    for fields in (
        {"radius": 0.0},
        {"epsilon": 0.0},
        {"max_features": 0},
        {"classes": ["a", "a"]},
    ):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            GaussianNB(**{**FIELDS, **fields}).fit(X, y)
