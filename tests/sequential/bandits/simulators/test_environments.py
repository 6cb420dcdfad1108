"""Invented users."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.sequential.bandits.simulators.environments import (
    AdversarialArms,
    BernoulliArms,
    BoundedArms,
    GaussianArms,
    LinearArms,
    MeanArms,
)


def test_rewards_have_the_means_that_losses_are_computed_from() -> None:
    """Means of 40,000 rewards are known to 0.005; five deviations are allowed."""
    arms, rng = np.repeat([0, 1], 40_000), np.random.default_rng(0)
    environments: list[MeanArms] = [BernoulliArms([0.3, 0.8]), BoundedArms([0.3, 0.8]), GaussianArms([-1.0, 3.0])]
    for environment in environments:
        found = environment.rewards(0, arms, rng).reshape(2, -1).mean(axis=1)
        np.testing.assert_allclose(found, environment.means, atol=0.025)
        np.testing.assert_allclose(environment.losses(0, np.array([0, 1])), [np.diff(environment.means)[0], 0.0])


def test_bounded_rewards_stay_in_bounds() -> None:
    found = BoundedArms([0.5], concentration=0.1).rewards(0, np.zeros(1000, int), np.random.default_rng(0))
    assert found.min() >= 0
    assert found.max() <= 1


def test_an_adversary_starts_again_after_its_table() -> None:
    environment = AdversarialArms([[1.0, 0.0], [0.0, 0.5]])
    paid = [environment.rewards(step, np.array([1]), np.random.default_rng(0))[0] for step in range(4)]
    assert paid == [0.0, 0.5, 0.0, 0.5]
    assert environment.best == 0


def test_environments_that_cannot_be_are_refused() -> None:
    for make in (
        lambda: BernoulliArms([]),
        lambda: BernoulliArms([1.2]),
        lambda: BoundedArms([0.0, 0.5]),
        lambda: GaussianArms([float("nan")]),
        lambda: AdversarialArms([[2.0]]),
        lambda: AdversarialArms([1.0]),
    ):
        with pytest.raises(ParameterError, match="environment of a bandit"):
            make()


def test_contexts_have_length_one_and_means_from_0_to_1() -> None:
    contexts = LinearArms([0.6, 0.8], arms=4).contexts(50, np.random.default_rng(0))
    assert contexts.shape == (50, 4, 2)
    np.testing.assert_allclose(np.linalg.norm(contexts, axis=-1), 1.0)
    means = contexts @ [0.6, 0.8]
    assert means.min() >= 0
    assert means.max() <= 1 + 1e-12


def test_a_theta_that_cannot_be_is_refused() -> None:
    for theta in ([], [-0.1, 0.5], [1.0, 1.0]):
        with pytest.raises(ParameterError, match="environment of a bandit: theta"):
            LinearArms(theta)
