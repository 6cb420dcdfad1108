"""A trusted curator that adds up the rewards of an episode, and gives out their sum once."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.bits import Bits
from discreet.core.checks import check_positive, check_whole
from discreet.core.events import LaplaceLoss
from discreet.core.grid import CELLS, Grid, Steps
from discreet.core.held import exclusive
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.system_bits import system_bits
from discreet.sequential.bandits.reward_map import Clipped, RewardMap
from discreet.sequential.counters.updates import MOST_NUMBERS
from discreet.sequential.reading import of_each_run
from discreet.sequential.resumable import Resumable, State, fitting

GRID = Grid(-CELLS)  # on which a reward in [0, 1] is put before it is added


class EpisodeSums(Resumable):
    """Answer the last reward of an episode with the sum of the episode's rewards, and others with nothing (nan).

    Parameters
    ----------
    epsilon : float
        Public. Of all responses together.
    reward_map : RewardMap
        Public. How rewards become numbers in [0, 1].
    runs : int, optional
        Public. As for `Agent`.
    bits : Bits, optional
        Where noise comes from; secret bits of this process by default.

    Guarantee
    ---------
    `LaplaceLoss(1 / epsilon)`, so pure with epsilon, for all responses together and neighbors that differ in the reward
    of one round (replace). A sum is given out once and then forgotten, so a reward in [0, 1] moves one response, by at
    most 1. When episodes end follows from earlier responses, so it is the same for both neighbors up to that response,
    and afterwards nothing depends on the reward: composition of mechanisms on disjoint data, McSherry 2009, Theorem 4,
    where parts are chosen adaptively. Azize and Basu 2022; Sajed and Sheffet 2019.

    Examples
    --------
    >>> curator = EpisodeSums(epsilon=1000.0)
    >>> [round(float(curator.privatise(1.0, last=last)), 1) for last in (False, False, True)]
    [nan, nan, 3.0]
    """

    purpose: ClassVar[str] = "sums of episodes"
    neighbors: ClassVar[Neighbors] = Neighbors.REPLACE
    contributions: ClassVar[int] = 1

    def __init__(
        self,
        epsilon: float = 1.0,
        reward_map: RewardMap = Clipped(),  # noqa: B008 - it is frozen
        *,
        runs: int | None = None,
        bits: Bits | None = None,
    ) -> None:
        check_positive("sums of episodes", "epsilon", epsilon, least=1e-6, most=1e6)
        check_whole("sums of episodes", "runs", 1 if runs is None else runs, most=MOST_NUMBERS)
        self.reward_map = reward_map
        self._noise = Laplace(1 / float(epsilon))
        self._bits = system_bits() if bits is None else bits
        self.runs = None if runs is None else int(runs)
        self._sums: Steps = np.zeros(() if runs is None else (int(runs),), np.int64)

    @property
    def secret(self) -> bool:
        """Whether the noise is secret."""
        return self._bits.secret

    @property
    def event(self) -> LaplaceLoss:
        """The price of all responses."""
        return self._noise.event

    @exclusive
    def privatise(self, reward: ArrayLike, arm: ArrayLike = 0, last: ArrayLike = True) -> Any:
        """The noisy sum of the episode that ends here; nan where none does."""
        unit = self.reward_map.unit(of_each_run("sums of episodes", reward, self.runs))
        self.begin_update()
        self._sums = self._sums + GRID.cut(unit).astype(np.int64)
        ends = np.broadcast_to(np.asarray(last, np.bool_), self._sums.shape)
        found = np.full(self._sums.shape, np.nan)
        if ends.any():
            noise = self._noise.noise(self._bits, (int(ends.sum()),), self._noise.multiplier / GRID.step)
            found[ends] = GRID.values(self._sums[ends] + noise)
            self._sums = np.where(ends, 0, self._sums)
        return found[()]

    def state(self) -> State:
        """The sums of the episodes that have not ended."""
        return {"sums": self._sums}

    def restore(self, state: State) -> None:
        """Go on from a state of a curator with the same parameters."""
        self._sums = fitting(state, "sums", self._sums)
