"""Convert a reward to a Laplace response: local privacy by added noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.bits import Bits
from discreet.core.checks import check_positive
from discreet.core.events import LaplaceLoss
from discreet.core.grid import CELLS, Grid
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.system_bits import system_bits
from discreet.sequential.bandits.reward_map import Clipped, RewardMap
from discreet.sequential.reading import reward_of

GRID = Grid(-CELLS)  # on which a reward in [0, 1] is put before noise is added


class LaplaceCurator(CheckedParameters):
    """Add Laplace noise of scale 1 / epsilon to a reward in [0, 1].

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
    `LaplaceLoss(1 / epsilon)`, so pure with epsilon, for the reward of one round (replace): two rewards in [0, 1] are
    at most 1 apart, and both are on the grid on which the rounded noise is drawn. Dwork, McSherry, Nissim and Smith
    2006, Proposition 1; Ren, Zhou, Liu and Shroff 2020, "Multi-Armed Bandits with Local Differential Privacy",
    Algorithm CTL.

    Examples
    --------
    >>> LaplaceCurator(epsilon=0.5).event
    LaplaceLoss(multiplier=2.0)
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        reward_map: RewardMap = Clipped(),  # noqa: B008 - it is frozen
        bits: Bits | None = None,
    ) -> None:
        check_positive("Laplace responses", "epsilon", epsilon, least=1e-6, most=1e6)
        self.epsilon, self.reward_map = float(epsilon), reward_map
        self._noise = Laplace(1 / self.epsilon)
        self._bits = system_bits() if bits is None else bits

    @property
    def event(self) -> LaplaceLoss:
        """The price of one response."""
        return self._noise.event

    def privatise(self, reward: ArrayLike, arm: ArrayLike = 0, last: ArrayLike = True) -> Any:
        """The response to one reward, or to one of each run."""
        steps = GRID.cut(self.reward_map.unit(reward_of(reward, arm))).astype(np.int64)
        noise = self._noise.noise(self._bits, steps.shape, self._noise.multiplier / GRID.step)
        return GRID.values(steps + noise)[()]
