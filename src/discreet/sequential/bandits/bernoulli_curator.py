"""Convert a reward to a Bernoulli bit: local privacy by one coin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.bits import Bits
from discreet.core.checks import check_positive
from discreet.core.events import DiscreteLoss
from discreet.core.grid import Array
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.selection.randomized_response import RandomizedResponse
from discreet.noise.bernoulli import bernoulli
from discreet.noise.system_bits import system_bits
from discreet.sequential.bandits.reward_map import Clipped, RewardMap
from discreet.sequential.reading import reward_of


class BernoulliCurator(CheckedParameters):
    """Replace a reward r in [0, 1] by a bit that is 1 with probability (1 + r (e^epsilon - 1)) / (e^epsilon + 1).

    It is drawn as a fair coin with probability 2 / (e^epsilon + 1), and otherwise as a coin of bias r, both exactly.
    The mean of the bits is an increasing, affine function of the mean of the rewards, with slope tanh(epsilon / 2), so
    the best arm stays the best, and `estimated` inverts it.

    Parameters
    ----------
    epsilon : float
        Public. Of one response.
    reward_map : RewardMap
        Public. How rewards become numbers in [0, 1].
    bits : Bits, optional
        Where randomness comes from; secret bits of this process by default.

    Guarantee
    ---------
    Pure, epsilon, for the reward of one round (replace). The bits of the rewards 0 and 1 are randomised response of two
    categories, whose event this is; those of any other reward are mixtures of these two, so no two rewards are easier
    to distinguish. Ren, Zhou, Liu and Shroff 2020, "Multi-Armed Bandits
    with Local Differential Privacy", Algorithm CTB.

    Examples
    --------
    >>> curator = BernoulliCurator(epsilon=1.0)
    >>> bool(curator.privatise(0.7) in (0.0, 1.0))
    True
    >>> float(curator.estimated(0.5))
    0.5
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        reward_map: RewardMap = Clipped(),  # noqa: B008 - it is frozen
        bits: Bits | None = None,
    ) -> None:
        check_positive("Bernoulli responses", "epsilon", epsilon, most=700.0)
        self.epsilon, self.reward_map = float(epsilon), reward_map
        self._coin = RandomizedResponse(self.epsilon, categories=2)
        self._bits = system_bits() if bits is None else bits

    @property
    def event(self) -> DiscreteLoss:
        """The price of one response."""
        return self._coin.event

    def privatise(self, reward: ArrayLike, arm: ArrayLike = 0, last: ArrayLike = True) -> Any:
        """The response to one reward, or to one of each run."""
        unit = self.reward_map.unit(reward_of(reward, arm))
        biases = np.where(bernoulli(self._bits, unit.shape, self._coin.chance), 0.5, unit)
        return bernoulli(self._bits, unit.shape, biases).astype(np.float64)[()]

    def estimated(self, mean: ArrayLike) -> Array:
        """An unbiased estimate of the mean of mapped rewards from the mean of responses: post-processing."""
        return (np.asarray(mean, np.float64) - self._coin.chance / 2) / (1 - self._coin.chance)
