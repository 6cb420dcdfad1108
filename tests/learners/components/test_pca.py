"""Private principal components: close to the exact ones, at the price that is stated."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA as Exact

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.errors import DiscreetError, UnplannedRelease
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.components.pca import METHODS, PCA, Method
from discreet.noise.deterministic import DeterministicBits
from discreet.releases.joint_plan import JointPlan
from discreet.trust.local import Local
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact
from tests.learners import trial
from tests.learners.audited_fit import check_releases
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(PCA(2, bounds=trial.BOUNDS))
BOUNDS = ([-10.0] * 6, [10.0, 10.0, 10.0, 10.0, 10.0, 14.0])


def people(n: int = 20_000) -> Array:
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    return rng.normal(0, [2.0, 1.5, 0.3, 0.3, 0.2, 0.1], (n, 6)) @ turn.T + np.arange(6)


def captured(model: PCA, X: Array) -> float:
    """The variance along the components, as a share of the most that so many can have."""
    covariance, components = np.cov(X.T), model.components_
    most = np.linalg.eigvalsh(covariance)[::-1][: len(components)].sum()
    return float(np.trace(components @ covariance @ components.T) / most)


@pytest.mark.parametrize("method", METHODS)
def test_it_is_close_to_the_exact_one(method: Method) -> None:
    X = people()
    model = PCA(2, method=method, bounds=BOUNDS, epsilon=2.0, random_state=0).fit(X)
    exact = Exact(2).fit(X)
    assert captured(model, X) > 0.99
    np.testing.assert_allclose(model.mean_, exact.mean_, atol=0.3)
    np.testing.assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=0.25)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-9)


def test_without_noise_it_is_the_exact_one() -> None:
    X = people(2000)
    model = PCA(bounds=BOUNDS, epsilon=1e6, radius=9.0).fit(X)
    exact = Exact().fit(X)
    np.testing.assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=0.02, atol=2e-3)
    np.testing.assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, atol=0.01)
    np.testing.assert_allclose(np.abs((model.components_ * exact.components_).sum(axis=1)), 1.0, atol=0.02)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-9)


def test_the_fit_costs_what_it_says() -> None:
    for method in METHODS:
        model = PCA(2, method=method, bounds=BOUNDS, epsilon=0.7).fit(people(50))
        assert 0.99e-6 < delta(model.event_, 0.7) <= 1e-6
        pure = PCA(2, method=method, bounds=BOUNDS, epsilon=0.7, delta=0.0).fit(people(50))
        assert 0.699 < pure_epsilon(pure.event_) <= 0.7


def test_directions_one_by_one_take_a_curator() -> None:
    data = TRIAL.private(Local(TRIAL.source(TRIAL.features()), bits=DeterministicBits(0)))
    with pytest.raises(DiscreetError, match=r"takes a curator.*Nothing was released or spent"):
        PCA(1, method="exponential").fit(data)
    assert data.ledger.balance().certified == 0


def test_by_the_exponential_mechanism_shares_of_variance_add_up() -> None:
    X = people()
    model = PCA(3, method="exponential", bounds=BOUNDS, epsilon=4.0, delta=0.0).fit(X)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-9)
    exact = Exact().fit(X).explained_variance_ratio_[:2]
    np.testing.assert_allclose(model.explained_variance_ratio_[:2], exact, atol=0.05)
    assert 0.9 < model.explained_variance_ratio_.sum() <= 1 + 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_no_release_is_refuted_on_the_worst_record_and_each_is_with_two_thirds_of_the_noise(method: Method) -> None:
    check_releases(PCA(1, method=method, max_iter=2, bounds=(-1, 1), epsilon=12.0, random_state=0))


def test_a_center_that_is_not_paid_for_is_not_released() -> None:
    """The permit answers what is planned, and no more."""

    class UnpaidCenter(PCA):
        def plan(self, task: Task) -> JointPlan:
            return JointPlan(super().plan(task).mechanisms[1:])

        def learn(self, task: Task, plan: JointPlan, permit: Permit) -> Artefact:
            return super().learn(task, super().plan(task), permit)

    with pytest.raises(UnplannedRelease, match="does not pay for another"):
        UnpaidCenter(1, bounds=(-1, 1)).fit(np.zeros((5, 2)))


def test_names_of_the_outcome_follow_scikit_learn() -> None:
    model = PCA(2, bounds=BOUNDS).fit(people(50)).set_output(transform="pandas")
    assert list(model.transform(people(3)).columns) == ["pca0", "pca1"]


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    for fields in ({"n_components": 7}, {"n_components": 0}, {"method": "exact"}, {"radius": 0.0}, {"max_iter": 0}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            PCA(**{"bounds": BOUNDS, **fields}).fit(people(10))  # type: ignore[arg-type]
