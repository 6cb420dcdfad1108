"""A private low-rank approximation: close to the exact one, at the price that is stated."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD as Exact

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.learners.components.truncated_svd import TruncatedSVD
from tests.learners import trial
from tests.learners.audited_fit import check_releases
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(TruncatedSVD(2, bounds=trial.BOUNDS))
BOUNDS = ([-1.0] * 5, [1.0, 1.0, 1.0, 2.0, 2.0])


def people(n: int = 20_000) -> Array:
    rng = np.random.default_rng(0)
    factors = np.linalg.qr(rng.normal(size=(5, 5)))[0][:, :2]
    return np.clip(0.2 + rng.normal(0, [0.3, 0.2], (n, 2)) @ factors.T + rng.normal(0, 0.02, (n, 5)), *BOUNDS)


def lost(model: TruncatedSVD, X: Array) -> float:
    return float(np.square(X - model.inverse_transform(model.transform(X))).sum())


def test_the_approximation_is_hardly_worse_than_the_best() -> None:
    X = people()
    model, exact = TruncatedSVD(2, bounds=BOUNDS, epsilon=5.0).fit(X), Exact(2).fit(X)
    assert lost(model, X) < 1.1 * np.square(X - exact.inverse_transform(exact.transform(X))).sum()
    np.testing.assert_allclose(model.singular_values_, exact.singular_values_, rtol=0.05)
    np.testing.assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=0.25)
    np.testing.assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, atol=0.05)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-9)


def test_records_are_shrunk_to_the_radius() -> None:
    X = np.tile([0.9, 0.0, 0.0, 0.5, 0.5], (20_000, 1))
    model = TruncatedSVD(1, radius=0.45, bounds=BOUNDS, epsilon=5.0).fit(X)
    shrunk = np.sqrt(20_000 * (0.45**2 + 0.5))
    assert model.singular_values_[0] == pytest.approx(shrunk, rel=0.02)


def test_the_fit_costs_what_it_says() -> None:
    model = TruncatedSVD(2, bounds=BOUNDS, epsilon=0.7).fit(people(50))
    assert 0.99e-6 < delta(model.event_, 0.7) <= 1e-6
    pure = TruncatedSVD(2, bounds=BOUNDS, epsilon=0.7, delta=0.0).fit(people(50))
    assert 0.699 < pure_epsilon(pure.event_) <= 0.7


def test_no_release_is_refuted_on_the_worst_record_and_each_is_with_two_thirds_of_the_noise() -> None:
    check_releases(TruncatedSVD(1, bounds=(-1, 1), epsilon=12.0))


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    for fields in ({"n_components": 6}, {"n_components": 0}, {"radius": 0.0}, {"bounds": None}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            TruncatedSVD(**{"bounds": BOUNDS, **fields}).fit(people(10))  # type: ignore[arg-type]
