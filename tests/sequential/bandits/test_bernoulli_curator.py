"""Bits in place of rewards: the price, the law, what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.accounting import epsilon
from discreet.audit.trial import judged
from discreet.core.errors import ParameterError
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential.bandits.bernoulli_curator import BernoulliCurator


def test_the_price_is_that_of_the_coin() -> None:
    for asked in (1e-6, 0.01, 1.0, 8.0, 300.0):
        assert epsilon(BernoulliCurator(asked).event, 0.0) == pytest.approx(asked, rel=1e-9)


def test_the_law_is_that_of_ren_and_others() -> None:
    """A mean of 40,000 bits is known to 0.0025; five deviations are allowed. Rewards that are none count as 0."""
    curator, rewards = BernoulliCurator(1.3, bits=DeterministicBits(1)), np.array([0.0, 0.3, 1.0, math.nan, 7.0])
    law = (1 + np.array([0.0, 0.3, 1.0, 0.0, 1.0]) * math.expm1(1.3)) / (math.exp(1.3) + 1)
    bits = curator.privatise(np.tile(rewards, (40_000, 1)))
    np.testing.assert_allclose(bits.mean(axis=0), law, atol=0.0125)
    np.testing.assert_allclose(curator.estimated(law[:3]), rewards[:3], atol=1e-12)


def test_an_audit_stands_and_refutes_a_coin_of_half_as_much_again() -> None:
    """60,000 bits of the extreme rewards show an epsilon of 1 to about 3 %."""
    claim = BernoulliCurator(1.0).event
    for asked, holds in ((1.0, True), (1.5, False)):
        curator = BernoulliCurator(asked, bits=DeterministicBits(3))
        outputs = [curator.privatise(np.full(60_000, reward)) for reward in (0.0, 1.0)]
        assert set(np.unique(outputs)) == {0.0, 1.0}
        assert judged(claim, *outputs).holds is holds


def test_one_reward_gives_one_number() -> None:
    assert float(BernoulliCurator(bits=DeterministicBits(0)).privatise(0.5)) in (0.0, 1.0)


def test_an_epsilon_that_cannot_be_kept_is_refused() -> None:
    for asked in (0.0, -1.0, math.nan, math.inf, 701.0):
        with pytest.raises(ParameterError, match="Bernoulli responses: epsilon"):
            BernoulliCurator(asked)
