"""Responses of users' own devices: the price, the law, what refuses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from discreet.accounting import epsilon
from discreet.audit.trial import judged
from discreet.core.errors import ParameterError
from discreet.core.events import LaplaceLoss
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential.bandits.local_curators import GRID, BernoulliCurator, LaplaceCurator
from discreet.sequential.bandits.reward_map import Clipped
from tests.sequential.trial import RewardTrial, opened


def test_the_price_is_that_of_laplace_noise() -> None:
    assert LaplaceCurator(0.5).event == LaplaceLoss(2.0)


def test_an_audit_stands_and_refutes_two_thirds_of_the_noise() -> None:
    """On the extreme rewards, and on rewards far outside the bounds, which are clipped to these."""
    claim = LaplaceCurator(1.0).event
    for asked, holds in ((1.0, True), (1.5, False)):
        for pair in ((0.0, 1.0), (-1e9, 1e9)):
            curator = opened(LaplaceCurator(asked), DeterministicBits(3))
            first, second = (curator.privatise(np.full(60_000, reward)) for reward in pair)
            assert judged(claim, first, second).holds is holds


def test_responses_are_on_one_grid_with_the_mean_and_deviation_of_the_noise() -> None:
    """The mean of 40,000 responses is known to 0.02; five deviations are allowed."""
    curator = opened(LaplaceCurator(0.5, Clipped(0, 10)), DeterministicBits(1))
    found = curator.privatise(np.full(40_000, 3.0))
    assert (GRID.cut(found) * GRID.step == found).all()
    assert found.mean() == pytest.approx(0.3, abs=0.07)
    assert found.std() == pytest.approx(math.sqrt(8), rel=0.05)
    assert math.isfinite(curator.privatise(math.nan))


def test_an_epsilon_that_cannot_be_kept_is_refused() -> None:
    for asked in (0.0, math.nan, 1e-7, 1e7):
        with pytest.raises(ParameterError, match="Laplace responses: epsilon"):
            LaplaceCurator(asked)


@dataclass(frozen=True)
class CoinTrial(RewardTrial):
    """The chances of a bit that is 1, from the coins that are drawn for the rewards 0 and 1."""

    def losses(self) -> Iterator[float]:
        """Of several epsilons."""
        for price in (0.1, 1.0, 5.0):
            low, high = (self._chance(price, reward) for reward in (0.0, 1.0))
            yield max(math.log(high / low), math.log((1 - low) / (1 - high))) / price

    def _chance(self, price: float, reward: float) -> float:
        chances: list[float] = []

        def coins(bits: Any, shape: tuple[int, ...], chance: Any) -> Any:
            chances.append(float(np.asarray(chance)))
            return np.zeros(shape, np.bool_)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("discreet.sequential.bandits.local_curators.bernoulli", coins)
            opened(BernoulliCurator(price)).privatise(reward)
        fair, bias = chances  # the second is that of a reward that is looked at
        return fair / 2 + (1 - fair) * bias


TRIALS = {"LaplaceCurator": RewardTrial(LaplaceCurator), "BernoulliCurator": CoinTrial(BernoulliCurator)}


def test_the_price_is_that_of_the_coin() -> None:
    for asked in (1e-6, 0.01, 1.0, 8.0, 300.0):
        assert epsilon(BernoulliCurator(asked).event, 0.0) == pytest.approx(asked, rel=1e-9)


def test_the_law_is_that_of_ren_and_others() -> None:
    """A mean of 40,000 bits is known to 0.0025; five deviations are allowed. Rewards that are none count as 0."""
    curator, rewards = opened(BernoulliCurator(1.3), DeterministicBits(1)), np.array([0.0, 0.3, 1.0, math.nan, 7.0])
    law = (1 + np.array([0.0, 0.3, 1.0, 0.0, 1.0]) * math.expm1(1.3)) / (math.exp(1.3) + 1)
    bits = curator.privatise(np.tile(rewards, (40_000, 1)))
    np.testing.assert_allclose(bits.mean(axis=0), law, atol=0.0125)
    np.testing.assert_allclose(curator.description.estimated(law[:3]), rewards[:3], atol=1e-12)


def test_an_audit_stands_and_refutes_a_coin_of_half_as_much_again() -> None:
    """60,000 bits of the extreme rewards show an epsilon of 1 to about 3 %."""
    claim = BernoulliCurator(1.0).event
    for asked, holds in ((1.0, True), (1.5, False)):
        curator = opened(BernoulliCurator(asked), DeterministicBits(3))
        outputs = [curator.privatise(np.full(60_000, reward)) for reward in (0.0, 1.0)]
        assert set(np.unique(outputs)) == {0.0, 1.0}
        assert judged(claim, *outputs).holds is holds


def test_one_reward_gives_one_number() -> None:
    assert float(opened(BernoulliCurator(), DeterministicBits(0)).privatise(0.5)) in (0.0, 1.0)


def test_an_epsilon_that_no_coin_has_is_refused() -> None:
    for asked in (0.0, -1.0, math.nan, math.inf, 701.0):
        with pytest.raises(ParameterError, match="Bernoulli responses: epsilon"):
            BernoulliCurator(asked)
