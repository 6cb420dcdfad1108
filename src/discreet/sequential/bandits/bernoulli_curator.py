"""Convert a reward to a Bernoulli bit: local privacy by one coin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.checks import check_positive
from discreet.core.events import DiscreteLoss
from discreet.core.exact import Exact
from discreet.core.grid import Array
from discreet.mechanisms.selection.randomized_response import RandomizedResponse
from discreet.noise.bernoulli import bernoulli
from discreet.sequential.bandits.curator import OpenCurator, RewardCurator
from discreet.sequential.bandits.reward_map import Clipped, RewardMap
from discreet.sequential.continual_release import State
from discreet.sequential.reading import reward_of
from discreet.trust.grant import Grant


@dataclass(frozen=True, eq=False)
class BernoulliCurator(RewardCurator):
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

    Guarantee
    ---------
    Pure, epsilon, for the reward of one round (replace). The bits of the rewards 0 and 1 are randomised response of two
    categories, whose event this is; those of any other reward are mixtures of these two, so no two rewards are easier
    to distinguish. Ren, Zhou, Liu and Shroff 2020, "Multi-Armed Bandits
    with Local Differential Privacy", Algorithm CTB.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> curator = BernoulliCurator(epsilon=1.0)
    >>> bool(curator.open(Budget(1.0)).privatise(0.7) in (0.0, 1.0))
    True
    >>> float(curator.estimated(0.5))
    0.5
    """

    purpose: ClassVar[str] = "Bernoulli responses"

    epsilon: float = 1.0
    reward_map: RewardMap = Clipped()  # noqa: RUF009 - it is frozen

    def check(self) -> None:
        """Refuse an epsilon that is too large."""
        check_positive(self.purpose, "epsilon", self.epsilon, most=700.0)

    @cached_property
    def coin(self) -> RandomizedResponse:
        """Whether the reward is looked at: for a hair less, so that the price, rounded up, is within epsilon."""
        return RandomizedResponse(float(self.epsilon) * (1 - 2.0**-40), categories=2)

    @property
    def event(self) -> DiscreteLoss:
        """The price of one response."""
        return self.coin.event

    def estimated(self, mean: ArrayLike) -> Array:
        """An unbiased estimate of the mean of mapped rewards from the mean of responses: post-processing."""
        return (np.asarray(mean, np.float64) - self.coin.chance / 2) / (1 - self.coin.chance)

    def opened(self, grant: Grant) -> OpenBernoulli:
        """What responds."""
        return OpenBernoulli(grant)


class OpenBernoulli(OpenCurator[BernoulliCurator]):
    """Bernoulli responses that are paid for; nothing is kept of a reward."""

    def privatise(self, reward: ArrayLike, arm: ArrayLike = 0, last: ArrayLike = True) -> Any:
        """The response to one reward, or to one of each run."""
        unit = self.description.reward_map.unit(reward_of(reward, arm))
        self.begin_update()
        fair = bernoulli(self._bits, unit.shape, self.description.coin.chance)

        def coins(biases: Array) -> Array:
            return bernoulli(self._bits, biases.shape, np.where(fair, 0.5, biases)).astype(np.float64)

        return Exact(unit).drawn(coins)[()]

    def state(self) -> State:
        """Nothing."""
        return {}

    def restore(self, state: State) -> None:
        """Nothing is kept."""
