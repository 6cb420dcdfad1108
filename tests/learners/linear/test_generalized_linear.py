"""Private Poisson and gamma regression: close to the exact ones, better than a constant, and what they cost."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn import linear_model

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors
from discreet.learners.linear.generalized_linear import GammaRegressor, PoissonRegressor, best_size
from discreet.learners.linear.target_distribution import TargetDistribution
from discreet.schema.schema import Number, Schema
from discreet.trust.private_data import PrivateData
from tests.learners import trial
from tests.learners.audited_transcript import check_fit
from tests.learners.trial import LearnerTrial

FEW = {"check_regressors_train": "its target is negative for half of the records, where the least is 0"}
TRIALS = {
    kind.__name__: LearnerTrial(kind(bounds=trial.BOUNDS, target_bounds=(0.0, 60.0), max_iter=2), exemptions=FEW)
    for kind in (PoissonRegressor, GammaRegressor)
}
TWINS = {
    "PoissonRegressor": lambda _: linear_model.PoissonRegressor(alpha=0.0, max_iter=1000),
    "GammaRegressor": lambda _: linear_model.GammaRegressor(alpha=0.0, max_iter=1000),
}
SETS = {"PoissonRegressor": ("visits", "costs"), "GammaRegressor": ("costs",)}
KINDS = [PoissonRegressor, GammaRegressor]
SLOPES = np.array([0.5, -0.3, 0.2, 0.0])
FIELDS: dict[str, Any] = {"bounds": (-5.0, 5.0), "target_bounds": (0.0, 60.0), "epsilon": 1.0}


def people(kind: type[Any], n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Four features, and a target whose mean is e on the whole, of counts or of positive numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).clip(-5, 5)
    means = np.exp(1 + X @ SLOPES)
    y = rng.poisson(means) if kind is PoissonRegressor else means * rng.gamma(2.0, 0.5, n)
    return X, np.clip(y, 1e-3 if kind is GammaRegressor else 0.0, 60.0)


@pytest.mark.parametrize("kind", KINDS)
def test_at_epsilon_1_it_is_close_to_the_exact_one_with_a_delta_and_without(kind: type[Any]) -> None:
    """Of 15,000 records, noise moves a coefficient by less than 0.02, and without a delta by less than 0.04."""
    X, y = people(kind, 20_000)
    exact = TWINS[kind.__name__](None).fit(X[:15_000], y[:15_000]).score(X[15_000:], y[15_000:])
    for price in (1e-6, 0.0):
        model = kind(**FIELDS, delta=price).fit(X[:15_000], y[:15_000])
        assert model.score(X[15_000:], y[15_000:]) > exact - 0.02
        np.testing.assert_allclose(model.coef_, SLOPES, atol=0.1)
        assert model.intercept_ == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_thousand_records_it_is_better_than_a_constant_at_epsilon_1(kind: type[Any]) -> None:
    """The exact ones explain about 0.4 and 0.3 of the deviance, a constant none."""
    for seed in range(3):
        X, y = people(kind, 4000, seed)
        assert kind(**FIELDS).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.15


def test_bounds_that_are_far_too_wide_cost_little() -> None:
    X, y = people(PoissonRegressor, 8000)
    fields = {**FIELDS, "target_bounds": (0.0, 3000.0), "bounds": (-50.0, 50.0)}
    model = PoissonRegressor(**fields).fit(X, y)
    assert model.score(X, y) > PoissonRegressor(**FIELDS).fit(X, y).score(X, y) - 0.03


def test_residuals_are_shrunk_less_where_there_is_less_noise() -> None:
    found = TargetDistribution.of(np.exp(-np.arange(100.0) / 10) * 1000, 1.0, 0.0, 100.0)
    sizes = [best_size(found, moved) for moved in (1.0, 0.1, 1e-2, 1e-6)]
    assert sizes == sorted(sizes)
    assert sizes[0] < 1.0 < 6.0 < sizes[-1]


def test_skewed_features_and_rare_marks_are_fitted_as_well_as_without_noise() -> None:
    """Long records were shrunk in the moments: their features are longer, and the loss bends more, than these say."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.gamma(2.0, 1.0, (4000, 3)), rng.random((4000, 2)) < 0.05])
    slopes = [0.2, -0.2, 0.1, 0.5, -0.5]
    y = np.exp(2 + X @ slopes) * rng.gamma(2.0, 0.5, 4000)
    bounds = ([0.0] * 5, [15.0] * 3 + [1.0] * 2)
    model = PoissonRegressor(bounds=bounds, target_bounds=(0, y.max()), epsilon=100.0).fit(X, y)
    exact = TWINS["PoissonRegressor"](None).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_no_audit_of_a_whole_fit_refutes_it_and_one_does_with_two_thirds_of_the_noise(kind: type[Any]) -> None:
    """Canaries are at the ends of their bounds, and so are their targets: their residuals are the largest."""
    X, y = people(kind, 400)
    records = np.column_stack([X, X[:, ::-1], y])
    schema = Schema({**Schema.numeric(-5, 5, 8).columns, "target": Number(0, 60)})
    canaries = [
        np.array([first, *[rest] * 7, end])
        for first, rest, end in product((-5.0, 0.0, 5.0), (-5.0, -1.0, 0.0, 1.0, 5.0), (0.0, 3.0, 60.0))
    ]
    check_fit(kind(target="target", max_iter=4), records, schema, canaries)


@pytest.mark.parametrize("kind", KINDS)
def test_the_fit_costs_what_it_says_for_both_relations(kind: type[Any]) -> None:
    X, y = people(kind, 100)
    model = kind(**{**FIELDS, "epsilon": 0.7}).fit(X, y)
    assert 0.99e-6 < delta(model.event_, 0.7) <= 1e-6
    pure = kind(**{**FIELDS, "epsilon": 0.7}, delta=0.0).fit(X, y)
    assert pure_epsilon(pure.event_) == pytest.approx(0.7)
    schema = Schema({**Schema.numeric(-5, 5, 4).columns, "target": Number(0, 60)})
    data = PrivateData.of(np.column_stack([X, y]), schema, Budget(0.7, 1e-6), neighbors=Neighbors.REPLACE)
    replaced = kind(target="target", epsilon=0.7).fit(data)
    assert 0.99e-6 < delta(replaced.event_, 0.7) <= 1e-6


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(PoissonRegressor, 10)
    for fields in ({"max_iter": 0}, {"epsilon": 0.0}, {"target_bounds": (-1.0, 60.0)}, {"bounds": (1.0, 0.0)}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            PoissonRegressor(**{**FIELDS, **fields}).fit(X, y)
