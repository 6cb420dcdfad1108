"""Curators on each user's own device: a reward becomes a Laplace response, or a Bernoulli bit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.checks import check_positive
from discreet.core.events import DiscreteLoss, LaplaceLoss
from discreet.core.exact import Exact
from discreet.core.grid import CELLS, Array, Grid
from discreet.mechanisms.selection.randomized_response import RandomizedResponse
from discreet.noise.bernoulli import bernoulli
from discreet.sequential.bandits.curator import OpenCurator, RewardCurator, laplace_of
from discreet.sequential.bandits.reward_map import Clipped, RewardMap
from discreet.sequential.continual_release import State
from discreet.sequential.reading import reward_of
from discreet.trust.grant import Grant

GRID = Grid(-CELLS)  # on which a reward in [0, 1] is put before noise is added


@dataclass(frozen=True, eq=False)
class LaplaceCurator(RewardCurator):
    """Add Laplace noise of scale 1 / epsilon to a reward in [0, 1].

    Parameters
    ----------
    epsilon : float
        Public. Of one response.

    Guarantee
    ---------
    `LaplaceLoss(1 / epsilon)`, so pure with epsilon, for the reward of one round (replace): two rewards in [0, 1] are
    at most 1 apart, and both are on the grid on which the rounded noise is drawn. Dwork, McSherry, Nissim and Smith
    2006, Proposition 1; Ren, Zhou, Liu and Shroff 2020, "Multi-Armed Bandits with Local Differential Privacy",
    Algorithm CTL.

    Examples
    --------
    >>> LaplaceCurator(epsilon=0.5).event
    LaplaceLoss(multiplier=2.0)
    """

    purpose: ClassVar[str] = "Laplace responses"

    epsilon: float = 1.0
    reward_map: RewardMap = Clipped()  # noqa: RUF009 - it is frozen

    def check(self) -> None:
        check_positive(self.purpose, "epsilon", self.epsilon, least=1e-6, most=1e6)

    @property
    def event(self) -> LaplaceLoss:
        """The price of one response."""
        return laplace_of(self.epsilon).event

    def opened(self, grant: Grant) -> OpenLaplace:
        return OpenLaplace(grant)


class OpenLaplace(OpenCurator[LaplaceCurator]):
    """Laplace responses that are paid for; nothing is kept of a reward."""

    def __init__(self, grant: Grant) -> None:
        super().__init__(grant)
        self._noise = laplace_of(self.description.epsilon)

    def privatise(self, reward: ArrayLike, arm: ArrayLike = 0, last: ArrayLike = True) -> Any:
        steps = GRID.cut(self.description.reward_map.unit(reward_of(reward, arm))).astype(np.int64)
        self.begin_update()
        noise = self._noise.noise(self._bits, steps.shape, self._noise.multiplier / GRID.step)
        return GRID.values(Exact(steps).noised(lambda exact: exact, noise))[()]

    def _state(self) -> State:
        """Nothing."""
        return {}

    def _restore(self, state: State) -> None:
        """Nothing is kept."""


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
        return OpenBernoulli(grant)


class OpenBernoulli(OpenCurator[BernoulliCurator]):
    """Bernoulli responses that are paid for; nothing is kept of a reward."""

    def privatise(self, reward: ArrayLike, arm: ArrayLike = 0, last: ArrayLike = True) -> Any:
        unit = self.description.reward_map.unit(reward_of(reward, arm))
        self.begin_update()
        fair = bernoulli(self._bits, unit.shape, self.description.coin.chance)

        def coins(biases: Array) -> Array:
            return bernoulli(self._bits, biases.shape, np.where(fair, 0.5, biases)).astype(np.float64)

        return Exact(unit).drawn(coins)[()]

    def _state(self) -> State:
        """Nothing."""
        return {}

    def _restore(self, state: State) -> None:
        """Nothing is kept."""
