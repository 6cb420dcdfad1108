"""A trusted curator that adds up the rewards of an episode, and gives out their sum once."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.checks import check_positive, check_whole
from discreet.core.events import LaplaceLoss
from discreet.core.exact import Exact
from discreet.core.grid import CELLS, Grid, Steps
from discreet.sequential.bandits.curator import OpenCurator, RewardCurator, laplace_of
from discreet.sequential.bandits.reward_map import Clipped, RewardMap
from discreet.sequential.continual_release import State, fitting
from discreet.sequential.counters.updates import MOST_NUMBERS
from discreet.sequential.reading import of_each_run
from discreet.trust.grant import Grant

GRID = Grid(-CELLS)  # on which a reward in [0, 1] is put before it is added


@dataclass(frozen=True, eq=False)
class EpisodeSums(RewardCurator):
    """Answer the last reward of an episode with the sum of the episode's rewards, and others with nothing (nan).

    Parameters
    ----------
    epsilon : float
        Public. Of all responses together.
    reward_map : RewardMap
        Public. How rewards become numbers in [0, 1].
    runs : int, optional
        Public. As for `Agent`.

    Guarantee
    ---------
    `LaplaceLoss(1 / epsilon)`, so pure with epsilon, for all responses together and neighbors that differ in the reward
    of one round (replace). A sum is given out once and then forgotten, so a reward in [0, 1] moves one response, by at
    most 1. When episodes end follows from earlier responses, so it is the same for both neighbors up to that response,
    and afterwards nothing depends on the reward: composition of mechanisms on disjoint data, McSherry 2009, Theorem 4,
    where parts are chosen adaptively. Azize and Basu 2022; Sajed and Sheffet 2019.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> curator = EpisodeSums(epsilon=1000.0).open(Budget(1000.0))
    >>> [round(float(curator.privatise(1.0, last=last)), 1) for last in (False, False, True)]
    [nan, nan, 3.0]
    """

    purpose: ClassVar[str] = "sums of episodes"

    epsilon: float = 1.0
    reward_map: RewardMap = Clipped()  # noqa: RUF009 - it is frozen
    _: KW_ONLY
    runs: int | None = None

    def check(self) -> None:
        """Refuse an epsilon that is too small or too large, and too many runs."""
        check_positive(self.purpose, "epsilon", self.epsilon, least=1e-6, most=1e6)
        check_whole(self.purpose, "runs", 1 if self.runs is None else self.runs, most=MOST_NUMBERS)

    @property
    def event(self) -> LaplaceLoss:
        """The price of all responses."""
        return laplace_of(self.epsilon).event

    def opened(self, grant: Grant) -> OpenEpisodes:
        """The sums before the first reward."""
        return OpenEpisodes(grant)


class OpenEpisodes(OpenCurator[EpisodeSums]):
    """Sums of episodes that are paid for."""

    def __init__(self, grant: Grant) -> None:
        super().__init__(grant)
        runs = self.description.runs
        self._sums: Exact[Steps] = Exact(np.zeros(() if runs is None else (runs,), np.int64))

    def privatise(self, reward: ArrayLike, arm: ArrayLike = 0, last: ArrayLike = True) -> Any:
        """The noisy sum of the episode that ends here; nan where none does."""
        own = self.description
        unit = own.reward_map.unit(of_each_run(own.purpose, reward, own.runs))
        self.begin_update()
        self._sums.change(lambda sums: sums + GRID.cut(unit).astype(np.int64))
        ends = np.broadcast_to(np.asarray(last, np.bool_), unit.shape)
        found = np.full(unit.shape, np.nan)
        if ends.any():
            noise = laplace_of(own.epsilon)
            drawn = noise.noise(self._bits, (int(ends.sum()),), noise.multiplier / GRID.step)
            found[ends] = GRID.values(self._sums.noised(lambda sums: sums[ends], drawn))
            self._sums.change(lambda sums: np.where(ends, 0, sums))
        return found[()]

    def state(self) -> State:
        """The sums of the episodes that have not ended."""
        return {"sums": self._sums.saved()}

    def restore(self, state: State) -> None:
        """Go on from a state of a curator with the same parameters."""
        self._sums = Exact(fitting(state, "sums", self._sums.saved()))
