"""Private Gaussian mixtures: close to the exact one, at the price that is stated."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture as Exact

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.learners.clusters.gaussian_mixture import GaussianMixture
from tests.learners import trial
from tests.learners.audited_fit import check_releases
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(GaussianMixture(2, bounds=trial.BOUNDS))
BOUNDS = ([-10.0, 0.0, -10.0], [10.0, 40.0, 10.0])
TYPES: tuple[Literal["full", "tied", "diag"], ...] = ("full", "tied", "diag")


def people(n: int = 20_000) -> Array:
    """Three parts, each with a covariance of its own."""
    rng = np.random.default_rng(0)
    centers = np.array([[-6.0, 10.0, 3.0], [5.0, 28.0, 0.0], [0.0, 20.0, -5.0]])
    shapes = [np.linalg.qr(rng.normal(size=(3, 3)))[0] * [0.8, 0.5, 0.3] * [[1.0], [2.0], [1.0]] for _ in range(3)]
    places = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    noise = rng.normal(size=(n, 3))
    return centers[places] + np.stack([shapes[k] @ z for k, z in zip(places, noise, strict=True)])


@pytest.mark.parametrize("kind", TYPES)
def test_it_is_close_to_the_exact_one(kind: Literal["full", "tied", "diag"]) -> None:
    X = people()
    model = GaussianMixture(3, covariance_type=kind, bounds=BOUNDS, epsilon=3.0).fit(X)
    exact = Exact(3, covariance_type=kind, random_state=0).fit(X)
    assert exact.score(X) - model.score(X) < 0.3
    assert model.covariances_.shape == exact.covariances_.shape
    np.testing.assert_allclose(np.sort(model.weights_), [0.2, 0.3, 0.5], atol=0.03)
    np.testing.assert_allclose(model.predict_proba(X[:9]).sum(axis=1), 1.0)


def test_its_scores_are_those_of_scikit_learn_for_the_same_parts() -> None:
    X = people(500)
    model = GaussianMixture(3, bounds=BOUNDS, epsilon=3.0).fit(X)
    exact = Exact(3).fit(X)
    exact.weights_, exact.means_ = model.weights_, model.means_
    exact.precisions_cholesky_ = np.stack([np.linalg.inv(np.linalg.cholesky(one)).T for one in model.covariances_])
    np.testing.assert_allclose(model.score_samples(X), exact.score_samples(X))
    assert model.bic(X) == pytest.approx(exact.bic(X))
    np.testing.assert_array_equal(model.predict(X), exact.predict(X))


def test_the_fit_costs_what_it_says() -> None:
    model = GaussianMixture(2, bounds=BOUNDS, epsilon=0.7).fit(people(50))
    assert 0.99e-6 < delta(model.event_, 0.7) <= 1e-6
    pure = GaussianMixture(2, bounds=BOUNDS, epsilon=0.7, delta=0.0).fit(people(50))
    assert 0.699 < pure_epsilon(pure.event_) <= 0.7


def test_covariances_are_positive_definite_whatever_the_noise() -> None:
    for kind in TYPES:
        model = GaussianMixture(3, covariance_type=kind, bounds=BOUNDS, epsilon=0.01).fit(people(5))
        assert np.isfinite(model.score_samples(people(20))).all()
        assert (model.weights_ > 0).all()


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    for fields in ({"n_components": 0}, {"covariance_type": "round"}, {"max_iter": 0}, {"epsilon": 0.0}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            GaussianMixture(**{"bounds": BOUNDS, **fields}).fit(people(10))  # type: ignore[arg-type]


def test_no_release_is_refuted_on_the_worst_record_and_each_is_with_two_thirds_of_the_noise() -> None:
    check_releases(GaussianMixture(2, max_iter=1, bounds=(-1, 1), epsilon=12.0, random_state=0))
