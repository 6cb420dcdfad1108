"""Agents among invented users."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential.bandits.agent import Agent
from discreet.sequential.bandits.curator import OpenCurator
from discreet.sequential.bandits.gram_sums import GramSums
from discreet.sequential.bandits.kl_ucb import KLUCB
from discreet.sequential.bandits.linear_ucb import LinearUCB
from discreet.sequential.bandits.local_curators import BernoulliCurator, LaplaceCurator
from discreet.sequential.bandits.randomized_agents import ThompsonSampling
from discreet.sequential.bandits.simulators.environments import BernoulliArms, LinearArms
from discreet.sequential.bandits.simulators.simulation import simulate, simulate_linear
from discreet.sequential.bandits.ucb import UCB1, LaplaceUCB
from tests.sequential.trial import opened

ARMS = BernoulliArms([0.9, 0.8, 0.8, 0.7, 0.7, 0.7, 0.5, 0.5, 0.5, 0.5])


def test_the_better_the_index_fits_the_responses_the_less_regret() -> None:
    """At epsilon 1, 1,500 rounds and 16 runs; measured 163, 196, 265, 324. All seeds are fixed."""
    pairs: list[tuple[Agent, OpenCurator[Any]]] = [
        (ThompsonSampling(10, runs=16, random_state=0), opened(BernoulliCurator(1.0), DeterministicBits(0))),
        (KLUCB(10, runs=16), opened(BernoulliCurator(1.0), DeterministicBits(1))),
        (UCB1(10, runs=16), opened(BernoulliCurator(1.0), DeterministicBits(2))),
        (LaplaceUCB(10, runs=16), opened(LaplaceCurator(1.0), DeterministicBits(3))),
    ]
    found = [simulate(agent, ARMS, 1500, curator, random_state=0).mean for agent, curator in pairs]
    assert found == sorted(found)
    assert found[0] < 0.6 * found[3]


def test_regret_is_the_sum_of_gaps_and_is_noted_at_the_marks() -> None:
    agent = UCB1(10, runs=5)
    regret = simulate(agent, ARMS, 100, marks=10, random_state=0)
    assert regret.rounds.tolist() == list(range(10, 101, 10))
    np.testing.assert_allclose(regret.values[:, -1], agent.pulls_ @ ARMS.gaps)
    assert (np.diff(regret.values, axis=1) >= 0).all()


def test_unequal_numbers_of_arms_and_no_rounds_are_refused() -> None:
    for agent, rounds in ((UCB1(3), 10), (UCB1(10), 0)):
        with pytest.raises(ParameterError, match="simulation of a bandit"):
            simulate(agent, ARMS, rounds)


def test_contexts_of_another_dimension_are_refused() -> None:
    with pytest.raises(ParameterError, match="dimension"):
        simulate_linear(
            LinearUCB(3, rounds=5, stddev=1.0, runs=2), LinearArms([0.5]), 5, opened(GramSums(3, 5, runs=2))
        )
