"""Sums of rewards: the price, the sums, what refuses."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.audit.trial import judged
from discreet.core.errors import ParameterError
from discreet.core.events import LaplaceLoss
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential.bandits.reward_sums import EpisodeSums, RunningSums
from tests.sequential.trial import TIMES, RewardTrial, opened

TRIALS = {
    "RunningSums": RewardTrial(RunningSums, {"arms": (2, 3), "rounds": (10, 11)}, {"arms": 1, "rounds": TIMES}),
    "EpisodeSums": RewardTrial(EpisodeSums, ends=((True,) * TIMES, (False, True, False, True))),
}


RUNS = 40_000


def test_an_audit_stands_and_refutes_two_thirds_of_the_noise() -> None:
    """The first of three rewards is in both levels of its arm's tree, and both responses show it."""
    claim = LaplaceLoss(1.0)
    assert RunningSums(2, 3, 1.0).event == claim
    for epsilon, holds in ((1.0, True), (1.5, False)):
        found = []
        for seed, first in enumerate((0.0, 1e9)):
            curator, arms = opened(RunningSums(2, 3, epsilon, runs=RUNS), DeterministicBits(seed)), np.ones(RUNS, int)
            responses = [curator.privatise(np.full(RUNS, reward), arms) for reward in (first, 0.0)]
            found.append(np.max(responses, axis=0))
        assert judged(claim, *found).holds is holds


def test_each_arm_of_each_run_has_a_sum_of_its_own() -> None:
    curator = opened(RunningSums(3, 100, 1e6, runs=2), DeterministicBits(0))
    curator.privatise(np.array([1.0, 0.5]), np.array([0, 2]))
    np.testing.assert_allclose(curator.privatise(np.array([1.0, 0.25]), np.array([1, 2])), [1.0, 0.75], atol=1e-3)
    np.testing.assert_allclose(curator.privatise(np.array([0.5, 0.25]), np.array([0, 0])), [1.5, 0.25], atol=1e-3)
    alone = opened(RunningSums(3, 100, 1e6), DeterministicBits(0))
    assert float(alone.privatise(0.5, 2)) == pytest.approx(0.5, abs=1e-3)


def test_parameters_that_cannot_be_are_refused() -> None:
    curator = opened(RunningSums(2, 10, runs=2))
    for reward, arm in (([1.0], [0]), ([1.0, 1.0], [0, 2]), ([1.0, 1.0], [0, -1]), (1.0, 0), ([1.0, 1.0], [0.0, 1.0])):
        with pytest.raises(ParameterError, match=r"running sums of rewards: (numbers of shape|arms)"):
            curator.privatise(reward, arm)
    for arms, rounds, epsilon in ((0, 10, 1.0), (2, 0, 1.0), (2, 10, 0.0)):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            RunningSums(arms, rounds, epsilon)


RUNS = 40_000


def test_an_audit_of_episodes_stands_and_refutes_two_thirds_of_the_noise() -> None:
    """Episodes of two rewards, of which the first differs, and then another one: all responses added up."""
    claim = EpisodeSums(1.0).event
    assert claim == LaplaceLoss(1.0)
    for epsilon, holds in ((1.0, True), (1.5, False)):
        found = []
        for seed, first in enumerate((0.0, 1e9)):
            curator = opened(EpisodeSums(epsilon, runs=RUNS), DeterministicBits(seed))
            assert np.isnan(curator.privatise(np.full(RUNS, first), last=False)).all()
            found.append(curator.privatise(np.full(RUNS, 0.5)))
        assert judged(claim, *found).holds is holds


def test_a_sum_is_given_out_once_and_forgotten() -> None:
    curator, last = opened(EpisodeSums(1e6, runs=2), DeterministicBits(0)), [[False, True], [True, False], [True, True]]
    found = [curator.privatise(np.array([1.0, 0.5]), last=np.array(one)) for one in last]
    np.testing.assert_allclose(found, [[np.nan, 0.5], [2.0, np.nan], [1.0, 1.0]], atol=1e-3)


def test_parameters_that_cannot_be_of_episodes_are_refused() -> None:
    with pytest.raises(ParameterError, match="numbers of shape"):
        opened(EpisodeSums(1.0, runs=2)).privatise(1.0)
    for epsilon, runs in ((0.0, None), (1.0, 0)):
        with pytest.raises(ParameterError, match="sums of episodes"):
            EpisodeSums(epsilon, runs=runs)
