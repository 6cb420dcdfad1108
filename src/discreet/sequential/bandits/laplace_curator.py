"""Convert a reward to a Laplace response: local privacy by added noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.checks import check_positive
from discreet.core.events import LaplaceLoss
from discreet.core.exact import Exact
from discreet.core.grid import CELLS, Grid
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
    reward_map : RewardMap
        Public. How rewards become numbers in [0, 1].

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
        """Refuse an epsilon that is too small or too large."""
        check_positive(self.purpose, "epsilon", self.epsilon, least=1e-6, most=1e6)

    @property
    def event(self) -> LaplaceLoss:
        """The price of one response."""
        return laplace_of(self.epsilon).event

    def opened(self, grant: Grant) -> OpenLaplace:
        """What responds."""
        return OpenLaplace(grant)


class OpenLaplace(OpenCurator[LaplaceCurator]):
    """Laplace responses that are paid for; nothing is kept of a reward."""

    def privatise(self, reward: ArrayLike, arm: ArrayLike = 0, last: ArrayLike = True) -> Any:
        """The response to one reward, or to one of each run."""
        own = self.description
        steps = GRID.cut(own.reward_map.unit(reward_of(reward, arm))).astype(np.int64)
        self.begin_update()
        noise = laplace_of(own.epsilon)
        drawn = noise.noise(self._bits, steps.shape, noise.multiplier / GRID.step)
        return GRID.values(Exact(steps).noised(lambda exact: exact, drawn))[()]

    def state(self) -> State:
        """Nothing."""
        return {}

    def restore(self, state: State) -> None:
        """Nothing is kept."""
