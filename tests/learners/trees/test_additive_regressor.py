"""A private additive regression: better than lines where the target is curved, and what it promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import LinearRegression as Line

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.learners.trees.additive_regressor import LONGEST, AdditiveRegressor
from discreet.mechanisms.additive.laplace import Laplace
from discreet.releases.least_noise import SumPlan
from discreet.releases.spread import spread
from tests.learners import trial
from tests.learners.audited_sum import check_sum
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    AdditiveRegressor(bins=4, max_iter=1, bounds=trial.BOUNDS, target_bounds=(-30.0, 30.0)),
    exemptions={"check_regressors_train": "its 200 records are too few for what it asks at epsilon 1"},
)
FIELDS: dict[str, Any] = {"bounds": (-1.0, 1.0), "target_bounds": (10.0, 30.0)}


def people(n: int = 10_000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, 3))
    return X, 20 + 5 * np.cos(4 * X[:, 0]) + 4 * (X[:, 1] > 0) + rng.normal(size=n)


def test_it_learns_what_is_no_line() -> None:
    X, y = people()
    assert Line().fit(X, y).score(X, y) < 0.4
    for price, least in ((1e-6, 0.9), (0.0, 0.7)):
        assert AdditiveRegressor(**FIELDS, epsilon=1.0, delta=price).fit(X, y).score(X, y) > least


def test_a_target_at_either_end_of_its_bounds_is_fitted_too() -> None:
    """R2 of 0.92; where the target fills its bounds, 0.93."""
    X, y = people()
    for ends in ((10.0, 110.0), (-70.0, 30.0)):
        assert AdditiveRegressor(**{**FIELDS, "target_bounds": ends}, epsilon=1.0).fit(X, y).score(X, y) > 0.88


def test_its_shapes_are_the_functions_that_are_added() -> None:
    X, y = people(50_000)
    model = AdditiveRegressor(**FIELDS, epsilon=5.0).fit(X, y)
    middles = (model.edges_[0, 1:] + model.edges_[0, :-1]) / 2
    truth = 5 * np.cos(4 * middles)
    np.testing.assert_allclose(model.shapes_[0, 0], truth - truth.mean(), atol=0.8)
    assert model.intercept_[0] == pytest.approx(y.mean(), abs=0.5)
    axes = model.plot(Figure().add_subplot(), feature=0)
    assert axes.get_ylabel() == "added to the score"


def test_cells_and_rounds_are_finer_where_noise_is_small_and_as_they_were_where_it_is_not() -> None:
    X, y = people(200)
    for epsilon, price, cells, rounds in (
        (1.0, 1e-6, 16, 6),
        (3.0, 1e-6, 32, 6),
        (30.0, 1e-6, 64, 24),
        (30.0, 0.0, 16, 2),
    ):
        model = AdditiveRegressor(**FIELDS, epsilon=epsilon, delta=price).fit(X, y)
        assert (model.shapes_.shape[2], model.n_iter_) == (cells, rounds)


def test_predictions_stay_inside_the_bounds_of_the_target() -> None:
    X, y = people(50)
    found = AdditiveRegressor(**FIELDS, epsilon=0.01).fit(X, y).predict(X)
    assert found.min() >= 10
    assert found.max() <= 30


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(10)
    assert 0.9e-6 < delta(AdditiveRegressor(**FIELDS, epsilon=0.5).fit(X, y).event_, 0.5) <= 1e-6
    assert pure_epsilon(AdditiveRegressor(**FIELDS, epsilon=0.5, delta=0.0).fit(X, y).event_) == pytest.approx(0.5)


def test_the_audit_does_not_refute_its_sums_and_would_see_residuals_that_are_not_shrunk() -> None:
    """The twin has the noise of residuals of half the length."""
    model = AdditiveRegressor(bins=2, **FIELDS, epsilon=3.0)
    task = model._task(np.zeros((1, 1)), np.array([20.0]), Budget(3.0, 1e-6))
    question = model._gradients(task, np.zeros((1, 2)), 0)
    grid = [np.array([x, y]) for x in (-0.5, 0.5) for y in (10.0, 20.0, 30.0)]
    worst = max(grid, key=lambda record: float(np.abs(question.steps(record[None, :])).sum()))
    assert np.abs(question.grid.values(question.steps(worst[None, :]))).max() == pytest.approx(LONGEST, rel=1e-4)
    plan = SumPlan(question, spread(task.data, question, Laplace(0.4)))
    check_sum(plan, worst)


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    for fields in ({"bins": 1}, {"bins": 0}, {"max_iter": 0}, {"epsilon": 0.0}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            AdditiveRegressor(**{**FIELDS, **fields}).fit(X, y)
