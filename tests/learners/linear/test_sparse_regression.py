"""Private regression on few of many columns: they are found, where all products of two would be lost in noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import OrthogonalMatchingPursuit

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors
from discreet.learners.linear.linear_regression import Ridge
from discreet.learners.linear.sparse_regression import SparseLinearRegression
from discreet.schema.schema import Number, Schema
from discreet.trust.private_data import PrivateData
from tests.learners import trial
from tests.learners.audited_transcript import check_fit
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    SparseLinearRegression(1, bounds=trial.BOUNDS, target_bounds=(-40.0, 60.0)),
    exemptions={"check_regressors_train": "at epsilon 1, 200 records with 10 features leave no R2 above 0.5"},
)
TWINS = {"SparseLinearRegression": lambda model: OrthogonalMatchingPursuit(n_nonzero_coefs=model.n_nonzero_coefs)}
FIELDS: dict[str, Any] = {"bounds": (-4.0, 4.0), "target_bounds": (-15.0, 15.0), "epsilon": 1.0}
ACTIVE = {3: 1.0, 20: -1.5, 77: 0.7}


def wide(n: int, p: int = 100, alike: float = 0.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three of many columns matter; neighbours among columns may be correlated."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for column in range(1, p):
        X[:, column] = alike * X[:, column - 1] + np.sqrt(1 - alike**2) * X[:, column]
    X = X.clip(-4, 4)
    return X, sum(slope * X[:, place] for place, slope in ACTIVE.items()) + rng.normal(size=n)


@pytest.mark.parametrize("alike", [0.0, 0.6])
def test_it_finds_the_columns_that_matter_and_ridge_regression_is_lost_in_noise(alike: float) -> None:
    X, y = wide(15_000, alike=alike)
    sparse = SparseLinearRegression(3, **FIELDS).fit(X[:10_000], y[:10_000])
    assert np.flatnonzero(sparse.coef_).tolist() == list(ACTIVE)
    np.testing.assert_allclose(sparse.coef_[list(ACTIVE)], list(ACTIVE.values()), atol=0.2)
    ridge = Ridge(**FIELDS).fit(X[:10_000], y[:10_000])
    assert sparse.score(X[10_000:], y[10_000:]) > 0.05 + ridge.score(X[10_000:], y[10_000:])


def test_without_a_delta_it_is_better_than_a_constant() -> None:
    X, y = wide(25_000, 80)
    model = SparseLinearRegression(3, **FIELDS, delta=0.0).fit(X[:20_000], y[:20_000])
    assert model.score(X[20_000:], y[20_000:]) > 0.3


def test_only_columns_that_were_chosen_have_coefficients_and_standard_errors() -> None:
    X, y = wide(2000, 80)
    model = SparseLinearRegression(**FIELDS).fit(X, y)
    assert np.count_nonzero(model.coef_) == 8
    np.testing.assert_array_equal(model.coef_ != 0, model.coef_stderr_ != 0)


def test_the_intercept_is_that_of_the_columns_that_were_kept() -> None:
    """The other has a mean of 3 and a coefficient of 0.5."""
    X = np.random.default_rng(0).uniform(2, 4, (20_000, 2))
    y = X @ [1.0, 0.5]
    model = SparseLinearRegression(1, **{**FIELDS, "epsilon": 10.0}).fit(X, y)
    assert np.mean(model.predict(X) - y) == pytest.approx(0.0, abs=0.3)


def test_no_audit_of_a_whole_fit_refutes_it_and_one_does_with_two_thirds_of_the_noise() -> None:
    """Canaries are at the ends of all columns, with the sign that lengthens what they add to products."""
    X, y = wide(400, 80)
    schema = Schema({**Schema.numeric(-4, 4, 20).columns, "target": Number(-15, 15)})
    signs = np.random.default_rng(1).choice([-4.0, 4.0], (4, 20))
    canaries = [np.append(row, end) for row in (*signs, np.full(20, 4.0)) for end in (-15.0, 15.0)]
    check_fit(SparseLinearRegression(3, target="target"), np.column_stack([X[:, :20], y]), schema, canaries)


def test_the_fit_costs_what_it_says_for_both_relations() -> None:
    X, y = wide(100, 80)
    assert 0.99e-6 < delta(SparseLinearRegression(2, **FIELDS).fit(X, y).event_, 1.0) <= 1e-6
    assert pure_epsilon(SparseLinearRegression(2, **FIELDS, delta=0.0).fit(X, y).event_) == pytest.approx(1.0)
    schema = Schema({**Schema.numeric(-4, 4, 80).columns, "target": Number(-15, 15)})
    data = PrivateData.of(np.column_stack([X, y]), schema, Budget(0.7, 1e-6), neighbors=Neighbors.REPLACE)
    replaced = SparseLinearRegression(2, target="target", epsilon=0.7).fit(data)
    assert 0.99e-6 < delta(replaced.event_, 0.7) <= 1e-6


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = wide(10, 80)
    for kept in (0, 81, -1):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            SparseLinearRegression(kept, **FIELDS).fit(X, y)


def test_odd_records_are_fitted_too() -> None:
    for X, y in (
        (np.ones((50, 20)), np.full(50, 3.0)),
        (np.ones((1, 20)), np.ones(1)),
        (np.empty((0, 20)), np.empty(0)),
        (np.full((5, 20), np.nan), np.array([np.nan, np.inf, -np.inf, 1e300, 0.0])),
    ):
        model = SparseLinearRegression(**FIELDS).fit(X, y)
        assert np.isfinite(model.predict(np.zeros((1, 20)))).all()
