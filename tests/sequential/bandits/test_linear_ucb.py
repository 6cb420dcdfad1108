"""Confidence bounds of linear rewards."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential.bandits.gram_sums import GramSums
from discreet.sequential.bandits.linear_ucb import LinearUCB
from discreet.sequential.bandits.simulators.environments import LinearArms
from discreet.sequential.bandits.simulators.simulation import simulate_linear
from tests.sequential.trial import opened

THETA = np.array([0.7, 0.5, 0.1])


def test_bounds_hold_and_the_gram_matrix_is_as_regular_as_said() -> None:
    """In 200 runs of 300 rounds; the level of 0.05 allows ten runs to fail, and bounds are far from tight."""
    rng, arms = np.random.default_rng(0), LinearArms(THETA.tolist(), 5)
    curator = opened(GramSums(3, 300, 5.0, runs=200), DeterministicBits(0))
    agent, gram = LinearUCB(3, rounds=300, stddev=curator.description.stddev, runs=200), np.zeros((200, 3, 3))
    failed = np.zeros(200, np.bool_)
    for _ in range(300):
        contexts = arms.contexts(200, rng)
        lengths = np.sqrt(((contexts @ agent._inverse) * contexts).sum(axis=-1))
        off = np.abs(np.einsum("rai,ri->ra", contexts, agent.theta_ - THETA))
        failed |= (off > agent.beta * lengths).any(axis=1)
        pulled = contexts[np.arange(200), agent.predict(contexts)]
        gram += pulled[:, :, None] * pulled[:, None, :]
        agent.partial_fit(curator.privatise(pulled, arms.rewards(pulled @ THETA, rng)))
        regular = np.linalg.eigvalsh(np.linalg.inv(agent._inverse) - gram)
        failed |= (regular.min(axis=1) < agent.low * (1 - 1e-6)) | (regular.max(axis=1) > agent.high * (1 + 1e-6))
    assert failed.mean() <= 0.05


def test_regret_grows_less_and_less_with_little_noise_and_exploration() -> None:
    """Of 10 runs with epsilon 100; the second half of 600 rounds costs less than two thirds of the first."""
    curator = opened(GramSums(3, 600, 100.0, runs=10), DeterministicBits(0))
    agent = LinearUCB(3, rounds=600, stddev=curator.description.stddev, width=0.1, runs=10)
    regret = simulate_linear(agent, LinearArms(THETA.tolist()), 600, curator, marks=2, random_state=0)
    first, both = regret.values.mean(axis=0)
    assert both - first < 2 / 3 * first


def test_one_run_is_a_run_of_several() -> None:
    alone, together = (LinearUCB(2, rounds=10, stddev=0.5, runs=runs) for runs in (None, 2))
    contexts, sums = np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 0.5], [2.0, 0.5, 2.0]])
    alone.partial_fit(sums)
    together.partial_fit(np.stack([sums, sums]))
    assert [alone.predict(contexts)] * 2 == together.predict(np.stack([contexts, contexts])).tolist()
    penalty = 1.0 + 2 * 0.5 * (2.0 + math.sqrt(2 * math.log(8 * 10 / 0.05)))
    np.testing.assert_allclose(alone.theta_[0], np.linalg.solve(sums[:2, :2] + penalty * np.eye(2), sums[:2, 2]))


def test_shapes_and_parameters_that_cannot_be_are_refused() -> None:
    agent = LinearUCB(2, rounds=10, stddev=1.0)
    for wrong in (np.zeros((3, 2)), np.full((3, 3), np.nan)):
        with pytest.raises(ParameterError, match="linear UCB: a response"):
            agent.partial_fit(wrong)
    with pytest.raises(ParameterError, match="linear UCB: contexts"):
        agent.predict(np.array([[1.0, 0.0, 0.0]]))
    wrongs: list[dict[str, Any]] = [{"stddev": 0.0}, {"stddev": 1.0, "level": 2.0}, {"stddev": 1.0, "norm": math.nan}]
    for more in wrongs:
        with pytest.raises(ParameterError, match="linear UCB"):
            LinearUCB(2, rounds=10, **more)
