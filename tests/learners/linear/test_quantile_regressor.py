"""Private linear quantile regression: close to the exact one, better than a constant, and what it costs."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.metrics import d2_pinball_score

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors
from discreet.learners.linear.quantile_regressor import QuantileRegressor
from discreet.schema.schema import Number, Schema
from discreet.trust.private_data import PrivateData
from tests.learners import trial
from tests.learners.audited_transcript import check_fit
from tests.learners.trial import LearnerTrial

FEW = {"check_regressors_train": "of 200 records with ten features it asks for half of the loss, at epsilon 1"}
TRIAL = LearnerTrial(QuantileRegressor(bounds=trial.BOUNDS, target_bounds=(-40.0, 60.0), max_iter=4), exemptions=FEW)
SLOPES = np.array([2.0, -1.0, 0.0])
FIELDS: dict[str, Any] = {"bounds": (0.0, 1.0), "target_bounds": (-5.0, 25.0), "epsilon": 1.0}


class ExactTwin(linear_model.QuantileRegressor):
    """Scored as the private one is."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return float(d2_pinball_score(y, self.predict(X), alpha=self.quantile))


TWINS = {"QuantileRegressor": lambda model: ExactTwin(quantile=model.quantile, alpha=0.0)}


def delays(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A linear function of the first two of three features, and what is added to it is exponential, of mean 1."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    return X, X @ SLOPES + rng.exponential(size=n)


def test_at_epsilon_1_it_is_close_to_the_exact_one_with_a_delta_and_without() -> None:
    X, y = delays(20_000)
    for quantile, price in ((0.5, 1e-6), (0.5, 0.0), (0.9, 1e-6)):
        model = QuantileRegressor(**FIELDS, quantile=quantile, delta=price).fit(X[:15_000], y[:15_000])
        exact = ExactTwin(quantile=quantile, alpha=0.0).fit(X[:2000], y[:2000])
        assert model.score(X[15_000:], y[15_000:]) > exact.score(X[15_000:], y[15_000:]) - 0.02
        assert np.mean(y < model.predict(X)) == pytest.approx(quantile, abs=0.03)
    assert model.intercept_ == pytest.approx(-np.log(0.1), abs=0.3)


def test_of_a_thousand_records_it_is_better_than_a_constant_at_epsilon_1() -> None:
    """The exact one explains a fifth of the loss of the median, a constant none."""
    for seed in range(3):
        X, y = delays(4000, seed)
        assert QuantileRegressor(**FIELDS).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.1


def test_outliers_and_bounds_that_are_far_too_wide_cost_little() -> None:
    X, y = delays(8000)
    y[:80] = 2900.0
    model = QuantileRegressor(**{**FIELDS, "target_bounds": (-3000.0, 3000.0)}).fit(X, y)
    np.testing.assert_allclose(model.coef_, SLOPES, atol=0.3)


def test_where_hardly_any_residual_is_left_steps_find_the_level_of_a_high_quantile() -> None:
    """It starts at that of all records, which is twenty deviations of the residuals away."""
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(4000, 3))
    y = X @ [6.0, -4.0, 2.0] + 0.1 * rng.normal(size=4000)
    model = QuantileRegressor(quantile=0.9, bounds=(0, 1), target_bounds=(-10, 10), epsilon=100.0).fit(X, y)
    assert np.mean(y < model.predict(X)) == pytest.approx(0.9, abs=0.02)


def test_no_audit_of_a_whole_fit_refutes_it_and_one_does_with_two_thirds_of_the_noise() -> None:
    """Canaries are at the ends of their bounds, and so are their targets."""
    X, y = delays(400)
    schema = Schema({**Schema.numeric(0, 1, 3).columns, "target": Number(-5, 25)})
    canaries = [np.array(one) for one in product((0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (-5.0, 25.0))]
    model = QuantileRegressor(quantile=0.8, target="target", max_iter=4)
    check_fit(model, np.column_stack([X, y]), schema, canaries)


def test_the_fit_costs_what_it_says_for_both_relations() -> None:
    X, y = delays(100)
    model = QuantileRegressor(**{**FIELDS, "epsilon": 0.7}).fit(X, y)
    assert 0.99e-6 < delta(model.event_, 0.7) <= 1e-6
    assert pure_epsilon(QuantileRegressor(**FIELDS, delta=0.0).fit(X, y).event_) == pytest.approx(1.0)
    schema = Schema({**Schema.numeric(0, 1, 3).columns, "target": Number(-5, 25)})
    data = PrivateData.of(np.column_stack([X, y]), schema, Budget(0.7, 1e-6), neighbors=Neighbors.REPLACE)
    replaced = QuantileRegressor(target="target", epsilon=0.7).fit(data)
    assert 0.99e-6 < delta(replaced.event_, 0.7) <= 1e-6


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = delays(10)
    wrong: list[dict[str, Any]] = [{"max_iter": 0}, {"epsilon": 0.0}, {"quantile": 1.0}, {"quantile": float("nan")}]
    for fields in wrong:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            QuantileRegressor(**{**FIELDS, **fields}).fit(X, y)


def test_odd_records_are_fitted_too() -> None:
    """A constant target, one record, none, and values that are missing or huge."""
    for X, y in (
        (np.ones((50, 3)), np.full(50, 3.0)),
        (np.ones((1, 3)), np.ones(1)),
        (np.empty((0, 3)), np.empty(0)),
        (np.array([[np.nan, 1e300, -1e300]] * 5), np.array([np.nan, np.inf, -np.inf, 1e300, 0.0])),
    ):
        model = QuantileRegressor(**FIELDS).fit(X, y)
        assert np.isfinite(model.predict(np.array([[0.5, 0.5, 0.5]]))).all()
