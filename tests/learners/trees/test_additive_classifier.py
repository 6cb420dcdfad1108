"""A private additive classifier: better than lines where classes are curved, and what it promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression as Line
from sklearn.metrics import roc_auc_score

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.learners.trees.additive_classifier import AdditiveClassifier
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.releases.least_noise import SumPlan
from discreet.releases.spread import spread
from tests.learners import trial
from tests.learners.audited_sum import check_sum
from tests.learners.trees.test_random_forest import CLASSIFIER
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(AdditiveClassifier(bins=4, max_iter=1, bounds=trial.BOUNDS, classes=[0, 1]), exemptions=CLASSIFIER)
FIELDS: dict[str, Any] = {"classes": ["in", "out"], "bounds": (-1.0, 1.0)}


def people(n: int = 10_000) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).uniform(-1, 1, (n, 3))
    return X, np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 0.5, "in", "out")


def test_it_learns_what_no_line_separates() -> None:
    X, y = people()
    assert Line().fit(X, y).score(X, y) < 0.7
    for price in (1e-6, 0.0):
        assert AdditiveClassifier(**FIELDS, epsilon=1.0, delta=price).fit(X, y).score(X, y) > 0.9


def test_probabilities_are_those_of_the_classes() -> None:
    """A class that has probability q where x is positive, and 1 - q elsewhere; residuals are shrunk, and q is found."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (20_000, 1))
    for q in (0.6, 0.9):
        y = np.where(rng.random(20_000) < np.where(X[:, 0] > 0, q, 1 - q), "out", "in")
        found = AdditiveClassifier(**FIELDS, epsilon=5.0).fit(X, y).predict_proba([[0.5], [-0.5]])
        np.testing.assert_allclose(found, [[1 - q, q], [q, 1 - q]], atol=0.05)


def test_scores_do_not_run_away_where_a_class_and_marks_are_rare() -> None:
    """Eight in a hundred are positive, and six rare marks mean nothing: an AUC of 0.79; the exact chances have 0.81."""
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=(20_000, 5)).clip(-4, 4) / 4, 2.0 * (rng.random((20_000, 6)) < 0.05) - 1])
    chances = 1 / (1 + np.exp(3.2 - 4 * X[:, :5] @ [1.0, -0.7, 0.5, 0.3, 0.0]))
    y = (rng.random(20_000) < chances).astype(int)
    model = AdditiveClassifier(bounds=(-1, 1), classes=[0, 1], epsilon=1.0).fit(X, y)
    found = model.predict_proba(X)[:, 1]
    assert roc_auc_score(y, found) > 0.77
    assert found.mean() == pytest.approx(y.mean(), rel=0.2)
    assert model.score(X, y) > 1 - y.mean() - 0.005


def test_three_classes_have_a_score_each() -> None:
    X, _ = people()
    y = np.where(X[:, 0] < -0.3, "a", np.where(X[:, 0] < 0.3, "b", "c"))
    model = AdditiveClassifier(classes=["a", "b", "c"], bounds=(-1, 1), epsilon=2.0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.shapes_.shape == (3, 3, 16)
    np.testing.assert_allclose(model.predict_proba(X[:9]).sum(axis=1), 1.0)


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(10)
    assert 0.9e-6 < delta(AdditiveClassifier(**FIELDS, epsilon=0.5).fit(X, y).event_, 0.5) <= 1e-6
    assert pure_epsilon(AdditiveClassifier(**FIELDS, epsilon=0.5, delta=0.0).fit(X, y).event_) == pytest.approx(0.5)


def test_a_missing_value_adds_nothing() -> None:
    X, y = people(1000)
    model = AdditiveClassifier(**FIELDS).fit(X, y)
    np.testing.assert_allclose(model.scores(np.full((1, 3), np.nan)), [model.intercept_])


def test_shapes_are_drawn_and_how_much_each_says() -> None:
    X, y = people()
    model = AdditiveClassifier(**FIELDS, epsilon=3.0).fit(X, y)
    axes = Figure().add_subplot()
    assert model.plot(axes, feature=1) is axes
    assert axes.get_xlabel() == "x1"
    assert len(axes.patches) == 1
    bars = [bar.get_extents().width for bar in model.plot(Figure().add_subplot()).patches]
    assert len(bars) == 3
    assert min(bars[:2]) > 3 * bars[2]


def test_the_audit_does_not_refute_its_sums_and_would_see_two_thirds_of_the_noise() -> None:
    """The worst record of a grid, by what it adds: one that the shapes are wrong about, and one that they fit."""
    model = AdditiveClassifier(bins=2, **FIELDS)
    task = model._task(np.zeros((1, 1)), np.array(["in"]), Budget(1.0))
    question = model._gradients(task, np.array([[3.0, -3.0]]), 0)
    grid = [np.array([x, kind]) for x in (-0.5, 0.5, np.nan) for kind in (0.0, 1.0)]
    worst = max(grid, key=lambda record: float(np.abs(question.steps(record[None, :])).sum()))
    for noise in (Laplace(0.4), Gaussian(0.4)):
        plan = SumPlan(question, spread(task.data, question, noise))
        check_sum(plan, worst)


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    for fields in ({"bins": 1}, {"max_iter": 0}, {"epsilon": 0.0}, {"classes": ["in"]}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            AdditiveClassifier(**{**FIELDS, **fields}).fit(X, y)
