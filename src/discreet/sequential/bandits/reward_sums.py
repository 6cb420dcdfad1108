"""Trusted curators: running sums of every arm's rewards, and sums of whole episodes."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Event, LaplaceLoss
from discreet.core.exact import Exact
from discreet.core.grid import CELLS, Grid, Steps
from discreet.sequential.bandits.curator import OpenCurator, RewardCurator, laplace_of
from discreet.sequential.bandits.reward_map import Clipped, RewardMap
from discreet.sequential.continual_release import State, fitting
from discreet.sequential.counters.counter import MOST_NUMBERS
from discreet.sequential.counters.tree_counter import OpenTree, TreeCounter
from discreet.sequential.reading import of_each_run
from discreet.trust.grant import Grant

GRID = Grid(-CELLS)  # on which a reward in [0, 1] is put before it is added


@dataclass(frozen=True, eq=False)
class RunningSums(RewardCurator):
    """Answer each reward with the sum of all rewards of its arm so far, by a `TreeCounter` for each arm.

    Parameters
    ----------
    arms : int
        Public. How many arms there are.
    rounds : int
        Public. How many rewards come at most.
    epsilon : float
        Public. Of all responses together.

    Guarantee
    ---------
    `LaplaceLoss(1 / epsilon)`, so pure with epsilon, for all responses together and neighbors that differ in the reward
    of one round (replace). The reward is in the tree of one arm, and there in one node of each of L =
    `rounds.bit_length()` levels: the vector of all nodes moves by at most L in l1, and each has noise of scale L /
    epsilon. Which tree, and what comes later, follows from earlier responses, so it is the same for both neighbors as
    long as the responses are: Dwork, Naor, Pitassi and Rothblum 2010, for streams that are chosen adaptively.

    Examples
    --------
    >>> RunningSums(arms=2, rounds=1000, epsilon=0.5).event
    LaplaceLoss(multiplier=2.0)
    """

    purpose: ClassVar[str] = "running sums of rewards"

    arms: int
    rounds: int
    epsilon: float = 1.0
    reward_map: RewardMap = Clipped()  # noqa: RUF009 - it is frozen
    _: KW_ONLY
    runs: int | None = None

    def check(self) -> None:
        check_positive(self.purpose, "epsilon", self.epsilon, least=1e-6, most=1e6)
        check_whole(self.purpose, "arms", self.arms)
        check_whole(self.purpose, "runs", 1 if self.runs is None else self.runs)
        self.counter.event  # noqa: B018 - what is wrong with it is found now, before anything is charged

    @cached_property
    def counter(self) -> TreeCounter:
        """A tree for each arm of each run."""
        noise, streams = laplace_of(self.epsilon), self.arms * (self.runs or 1)
        return TreeCounter(self.rounds, noise, neighbors=self.neighbors, streams=streams)

    @property
    def event(self) -> Event:
        return self.counter.event

    def opened(self, grant: Grant) -> OpenRewards:
        return OpenRewards(grant)


class OpenRewards(OpenCurator[RunningSums]):
    """Running sums of rewards that are paid for."""

    def __init__(self, grant: Grant) -> None:
        super().__init__(grant)
        self._counter: OpenTree = self._part(self.description.counter)

    def privatise(self, reward: ArrayLike, arm: ArrayLike = 0, last: ArrayLike = True) -> Any:
        """The noisy sum of the rewards of this arm, with this one."""
        own = self.description
        unit, arms = own.reward_map.unit(of_each_run(own.purpose, reward, own.runs)), np.asarray(arm)
        if arms.dtype.kind not in "iu" or not ((arms >= 0) & (arms < own.arms)).all():
            raise ParameterError(own.purpose, f"arms {arms}", f"Give arms from 0 to {own.arms - 1}.")
        self.begin_update()
        streams = np.arange(unit.size) * own.arms + arms
        return self._counter.add(unit.reshape(-1, 1), streams).reshape(unit.shape)[()]

    def _state(self) -> State:
        return self._counter._state()

    def _restore(self, state: State) -> None:
        self._counter._restore(state)


@dataclass(frozen=True, eq=False)
class EpisodeSums(RewardCurator):
    """Answer the last reward of an episode with the sum of the episode's rewards, and others with nothing (nan).

    Parameters
    ----------
    epsilon : float
        Public. Of all responses together.

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
        check_positive(self.purpose, "epsilon", self.epsilon, least=1e-6, most=1e6)
        check_whole(self.purpose, "runs", 1 if self.runs is None else self.runs, most=MOST_NUMBERS)

    @property
    def event(self) -> LaplaceLoss:
        return laplace_of(self.epsilon).event

    def opened(self, grant: Grant) -> OpenEpisodes:
        return OpenEpisodes(grant)


class OpenEpisodes(OpenCurator[EpisodeSums]):
    """Sums of episodes that are paid for."""

    def __init__(self, grant: Grant) -> None:
        super().__init__(grant)
        self._noise, runs = laplace_of(self.description.epsilon), self.description.runs
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
            noise = self._noise.noise(self._bits, (int(ends.sum()),), self._noise.multiplier / GRID.step)
            found[ends] = GRID.values(self._sums.noised(lambda sums: sums[ends], noise))
            self._sums.change(lambda sums: np.where(ends, 0, sums))
        return found[()]

    def _state(self) -> State:
        """The sums of the episodes that have not ended."""
        return {"sums": self._sums.saved()}

    def _restore(self, state: State) -> None:
        self._sums = Exact(fitting(state, "sums", self._sums.saved()))
