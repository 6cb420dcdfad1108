"""DP-EM as it was published: what it releases, what it costs, and what had to be repaired."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.as_published.dp_em import DPEM
from discreet.audit.trial import judged
from discreet.core.events import GaussianLoss
from discreet.core.grid import Array
from discreet.learners.clusters.gaussian_mixture import GaussianMixture
from discreet.learners.clusters.mixture import CovarianceType
from tests.learners import trial
from tests.learners.audited_fit import check_releases, releases_of
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(DPEM(2, bounds=trial.BOUNDS))


def people(n: int = 5_000) -> Array:
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal([-0.4, 0.0], [0.1, 0.2], (n, 2)), rng.normal([0.4, 0.0], [0.2, 0.1], (n, 2))])


@pytest.mark.parametrize("kind", ["full", "tied", "diag"])
def test_with_little_noise_it_finds_the_parts(kind: CovarianceType) -> None:
    model = DPEM(2, covariance_type=kind, max_iter=20, bounds=(-1, 1), epsilon=200.0, random_state=1).fit(people())
    order = np.argsort(model.means_[:, 0])
    np.testing.assert_allclose(model.means_[order], [[-0.4, 0.0], [0.4, 0.0]], atol=0.05)
    np.testing.assert_allclose(model.weights_, 0.5, atol=0.05)
    if kind == "full":
        variances = [np.diag(one) for one in model.covariances_[order]]
        np.testing.assert_allclose(variances, [[0.01, 0.04], [0.04, 0.01]], atol=0.005)


def test_a_step_is_five_releases_for_two_parts_and_the_fit_costs_what_it_says() -> None:
    model = DPEM(2, max_iter=2, bounds=(-1, 1), epsilon=0.7).fit(people(20))
    assert 0.99e-6 < delta(model.event_, 0.7) <= 1e-6
    assert model.n_iter_ == 2
    pure = DPEM(2, max_iter=2, bounds=(-1, 1), epsilon=0.7, delta=0.0).fit(people(20))
    assert 0.699 < pure_epsilon(pure.event_) <= 0.7
    asked = releases_of(DPEM(2, max_iter=2, bounds=(-1, 1), random_state=0))
    assert [question.recipe.name for question, _ in asked] == 2 * (["part_shares"] + 4 * ["part_moments"])


def test_no_release_is_refuted_on_the_worst_record_and_each_is_with_two_thirds_of_the_noise() -> None:
    check_releases(DPEM(2, max_iter=1, bounds=(-1, 1), epsilon=12.0, random_state=0))


def test_noise_in_units_of_the_exact_count_gives_the_count_away() -> None:
    """A mean with noise of deviation 2 / count, as if the count were public: one record, or two of them, at zero."""
    rng, multiplier = np.random.default_rng(0), 2.0
    means = [rng.normal(0.0, multiplier * 2 / count, 20_000) for count in (1, 2)]
    assert not judged(GaussianLoss(multiplier), *means).holds


def test_the_joint_method_needs_less_noise() -> None:
    """Nats per record, at the same price."""
    X = people()
    joint, published = (
        np.median([kind(2, bounds=(-1, 1), random_state=2).fit(X).score(X) for _ in range(3)])
        for kind in (GaussianMixture, DPEM)
    )
    assert joint > published
