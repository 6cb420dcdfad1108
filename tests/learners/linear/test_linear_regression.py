"""Private linear and ridge regression: close to the exact ones, with standard errors that hold."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression as Exact
from sklearn.linear_model import Ridge as ExactRidge

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.learners.linear.linear_regression import LinearRegression, Ridge
from discreet.releases.whitening import NormalEquations
from discreet.schema.schema import Number, Schema
from discreet.trust.private_data import PrivateData
from tests.learners import trial
from tests.learners.trial import LearnerTrial

TRIALS = {
    "LinearRegression": LearnerTrial(
        LinearRegression(bounds=trial.BOUNDS, target_bounds=(-100.0, 100.0)),
        exemptions={
            "check_regressors_train": "at epsilon 1, 200 records with 10 features leave no R2 above 0.5",
        },
    ),
    "Ridge": LearnerTrial(
        Ridge(bounds=trial.BOUNDS, target_bounds=(-100.0, 100.0)),
        exemptions={
            "check_regressors_train": "at epsilon 1, 200 records with 10 features leave no R2 above 0.5",
        },
    ),
}
BOUNDS = ([0.0, -1.0, 10.0], [10.0, 1.0, 30.0])
SLOPES = np.array([2.0, -1.0, 0.5])


def people(n: int, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(*BOUNDS, (n, 3))
    return X, X @ SLOPES + 3 + rng.normal(0, 3.0, n)


def fitted(X: Array, y: Array, epsilon: float, price: float = 1e-6) -> LinearRegression:
    return LinearRegression(bounds=BOUNDS, target_bounds=(-20.0, 60.0), epsilon=epsilon, delta=price).fit(X, y)


@pytest.mark.parametrize("price", [1e-6, 0.0], ids=["approximate", "pure"])
def test_it_is_close_to_the_exact_one(price: float) -> None:
    X, y = people(20_000)
    model, exact = fitted(X, y, 2.0, price), Exact().fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=0.3)
    assert model.score(X, y) > exact.score(X, y) - 0.01


def test_without_noise_it_is_least_squares_and_has_its_standard_errors() -> None:
    X, y = people(3000)
    model, exact = fitted(X, y, 1e5, 0.0), Exact().fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=5e-3)
    assert model.intercept_ == pytest.approx(exact.intercept_, abs=0.05)
    design = np.column_stack([np.ones(len(X)), X])
    variance = np.mean((y - exact.predict(X)) ** 2) * np.diag(np.linalg.inv(design.T @ design))
    np.testing.assert_allclose([model.intercept_stderr_, *model.coef_stderr_], np.sqrt(variance), rtol=0.02)


def test_standard_errors_hold_where_noise_matters() -> None:
    """In 40 fits of 3 coefficients, squared errors in units of their variance have mean 1, give or take 0.4."""
    scores = []
    for seed in range(40):
        X, y = people(4000, seed)
        model = fitted(X, y, 1.0)
        scores.append((model.coef_ - SLOPES) / model.coef_stderr_)
    assert 0.6 < np.mean(np.square(scores)) < 1.5
    assert np.mean(model.coef_stderr_ > 1.3 * fitted(X, y, 1e4, 0.0).coef_stderr_) == 1


def test_the_covariance_of_noise_is_that_of_drawn_noise() -> None:
    rng = np.random.default_rng(0)
    design = rng.normal(size=(500, 4)) @ np.diag([1.0, 0.5, 2.0, 1.0])
    design[:, 3] += design[:, :3] @ [1.0, -2.0, 0.5]
    gram, stddev = design.T @ design, 1.5
    drawn = []
    for _ in range(4000):
        upper = rng.normal(size=(4, 4)) * stddev / (11 / 8)
        noise = np.triu(upper, 1) + np.triu(upper, 1).T + np.diag(rng.normal(size=4) * stddev)
        drawn.append(NormalEquations.solved(gram + noise, 500, 0.0, 0.0).coefficients)
    claimed = NormalEquations.solved(gram, 500, stddev, 0.0).covariance
    sampling = NormalEquations.solved(gram, 500, 0.0, 0.0).covariance
    np.testing.assert_allclose(np.cov(np.array(drawn).T), claimed - sampling, rtol=0.15, atol=2e-6)


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(50)
    assert 0.99e-6 < delta(fitted(X, y, 0.7).event_, 0.7) <= 1e-6
    assert pure_epsilon(fitted(X, y, 0.7, 0.0).event_) == pytest.approx(0.7)


def little_noise(n: int = 50_000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform([0, -1, 10], [10, 1, 30], (n, 3))
    return X, X @ SLOPES + 3 + rng.normal(0, 0.5, n)


def test_ridge_is_close_to_the_exact_one() -> None:
    X, y = little_noise()
    model = Ridge(bounds=BOUNDS, target_bounds=(0.0, 45.0), epsilon=1.0).fit(X, y)
    exact = ExactRidge(1.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=0.1)
    assert model.score(X, y) > exact.score(X, y) - 0.01


def test_without_noise_ridge_is_the_exact_one() -> None:
    X, y = little_noise(2000)
    model = Ridge(0.0, bounds=BOUNDS, target_bounds=(0.0, 45.0), epsilon=1e6, delta=0.0).fit(X, y)
    exact = ExactRidge(0.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-3)
    assert model.intercept_ == pytest.approx(exact.intercept_, abs=0.02)


def test_a_column_of_private_data_is_the_target() -> None:
    X, y = little_noise(20_000)
    table = {"a": X[:, 0], "b": X[:, 1], "y": y, "c": X[:, 2]}
    schema = Schema({"a": Number(0, 10), "b": Number(-1, 1), "y": Number(0, 45), "c": Number(10, 30)})
    model = Ridge(target="y").fit(PrivateData.of(table, schema, Budget(1.0, 1e-6)))
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_allclose(model.coef_, SLOPES, atol=0.3)
    assert delta(model.event_, 1.0) <= 1e-6


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = little_noise(10)
    for fields in ({"alpha": -1.0}, {"epsilon": 0.0}, {"target_bounds": (1.0, 0.0)}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            Ridge(**{"bounds": BOUNDS, "target_bounds": (0.0, 45.0), **fields}).fit(X, y)  # type: ignore[arg-type]


def test_the_penalty_is_that_of_standardised_features() -> None:
    X, y = little_noise(2000)
    model = Ridge(500.0, bounds=BOUNDS, target_bounds=(0.0, 45.0), epsilon=1e6, delta=0.0).fit(X, y)
    spread = X.std(axis=0)
    np.testing.assert_allclose(model.coef_, ExactRidge(500.0).fit(X / spread, y).coef_ / spread, rtol=0.02)
