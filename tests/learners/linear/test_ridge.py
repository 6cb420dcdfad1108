"""Private ridge regression: close to the exact one, and what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge as Exact

from discreet.accounting.accountant import delta
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.learners.linear.ridge import Ridge
from discreet.schema.schema import Number, Schema
from discreet.trust.private_data import PrivateData
from tests.learners import trial
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    Ridge(bounds=trial.BOUNDS, target_bounds=(-100.0, 100.0)),
    exemptions={
        "check_regressors_train": "at epsilon 1, 200 records with 10 features leave no R2 above 0.5",
    },
)
SLOPES = np.array([2.0, -1.0, 0.5])


def people(n: int = 50_000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform([0, -1, 10], [10, 1, 30], (n, 3))
    return X, X @ SLOPES + 3 + rng.normal(0, 0.5, n)


BOUNDS = ([0.0, -1.0, 10.0], [10.0, 1.0, 30.0])


def test_it_is_close_to_the_exact_one() -> None:
    X, y = people()
    model = Ridge(bounds=BOUNDS, target_bounds=(0.0, 45.0), epsilon=1.0).fit(X, y)
    exact = Exact(1.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=0.1)
    assert model.score(X, y) > exact.score(X, y) - 0.01


def test_without_noise_it_is_the_exact_one() -> None:
    X, y = people(2000)
    model = Ridge(0.0, bounds=BOUNDS, target_bounds=(0.0, 45.0), epsilon=1e6, delta=0.0).fit(X, y)
    exact = Exact(0.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-3)
    assert model.intercept_ == pytest.approx(exact.intercept_, abs=0.02)


def test_a_column_of_private_data_is_the_target() -> None:
    X, y = people(20_000)
    table = {"a": X[:, 0], "b": X[:, 1], "y": y, "c": X[:, 2]}
    schema = Schema({"a": Number(0, 10), "b": Number(-1, 1), "y": Number(0, 45), "c": Number(10, 30)})
    model = Ridge(target="y").fit(PrivateData.of(table, schema, Budget(1.0, 1e-6)))
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_allclose(model.coef_, SLOPES, atol=0.3)
    assert delta(model.event_, 1.0) <= 1e-6


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    for fields in ({"alpha": -1.0}, {"epsilon": 0.0}, {"target_bounds": (1.0, 0.0)}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            Ridge(**{"bounds": BOUNDS, "target_bounds": (0.0, 45.0), **fields}).fit(X, y)  # type: ignore[arg-type]


def test_the_penalty_is_that_of_standardised_features() -> None:
    X, y = people(2000)
    model = Ridge(500.0, bounds=BOUNDS, target_bounds=(0.0, 45.0), epsilon=1e6, delta=0.0).fit(X, y)
    spread = X.std(axis=0)
    np.testing.assert_allclose(model.coef_, Exact(500.0).fit(X / spread, y).coef_ / spread, rtol=0.02)
