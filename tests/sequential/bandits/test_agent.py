"""What holds for every agent that learns from responses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.sequential.bandits.agent import Agent
from discreet.sequential.bandits.kl_ucb import KLUCB
from discreet.sequential.bandits.randomized_agents import Exp3, ThompsonSampling
from discreet.sequential.bandits.ucb import UCB1, LaplaceUCB

AGENTS: list[Callable[..., Agent]] = [UCB1, KLUCB, LaplaceUCB, ThompsonSampling, Exp3]


def test_runs_at_once_are_runs_by_themselves() -> None:
    """Three runs with scripted responses, at once and one by one; agents that choose at random are given the arms."""
    script = np.random.default_rng(0).random((60, 3, 4))
    together: Agent
    alone: list[Agent]
    for kind in (UCB1, KLUCB, LaplaceUCB):
        together, alone = kind(4, runs=3), [kind(4) for _ in range(3)]
        for row in script:
            arms = together.predict()
            assert arms.tolist() == [agent.predict() for agent in alone]
            together.partial_fit(arms, row[np.arange(3), arms])
            for run, agent in enumerate(alone):
                agent.partial_fit(int(arms[run]), row[run, arms[run]])
        assert together.rounds_ == 60
        assert (together.pulls_.sum(axis=1) == 60).all()
    for chooser in (ThompsonSampling, Exp3):
        together, alone = chooser(4, runs=3, random_state=0), [chooser(4, random_state=0) for _ in range(3)]
        for row in script:
            arms = together.predict()
            together.partial_fit(arms, row[np.arange(3), arms])
            for run, agent in enumerate(alone):
                agent.partial_fit(int(arms[run]), row[run, arms[run]])
        np.testing.assert_array_equal(together.means_, np.concatenate([agent.means_ for agent in alone]))


def test_a_clearly_better_arm_is_pulled_most() -> None:
    for kind in AGENTS:
        more: dict[str, Any] = {} if kind in (UCB1, KLUCB, LaplaceUCB) else {"random_state": 0}
        agent = kind(3, **more)
        for _ in range(1000):
            arm = agent.predict()
            agent.partial_fit(arm, float(arm == 1))
        assert agent.pulls_[0].argmax() == 1, kind


def test_what_no_curator_gives_out_is_refused_and_changes_nothing() -> None:
    for kind in AGENTS:
        agent = kind(3, runs=2)
        wrong: list[tuple[Any, Any]] = [
            ([0, 3], [0.5, 0.5]),
            ([0, -1], [0.5, 0.5]),
            ([0], [0.5]),
            ([0.0, 1.0], [0.5, 0.5]),
            ([0, 1], [0.5, math.nan]),
            ([0, 1], [0.5, math.inf]),
        ]
        for arm, response in wrong + ([] if kind is LaplaceUCB else [([0, 1], [0.5, 1.5])]):
            with pytest.raises(ParameterError):
                agent.partial_fit(arm, response)
        assert agent.rounds_ == 0
        assert not agent.pulls_.any()
    for arms, runs in ((0, None), (2.5, None), (2, 0)):
        with pytest.raises(ParameterError, match="UCB1"):
            UCB1(arms, runs=runs)  # type: ignore[arg-type]
