"""A trusted curator that gives out the running sum of every arm's rewards, with the noise of a tree."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.bits import Bits
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.held import exclusive
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.sequential.bandits.reward_map import Clipped, RewardMap
from discreet.sequential.counters.tree_counter import TreeCounter
from discreet.sequential.reading import of_each_run
from discreet.sequential.resumable import Resumable, State

ASKED = "running sums of rewards"


class RunningSums(Resumable):
    """Answer each reward with the sum of all rewards of its arm so far, by a `TreeCounter` for each arm.

    Parameters
    ----------
    arms : int
        Public. How many arms there are.
    rounds : int
        Public. How many rewards come at most.
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
    of one round (replace). The reward is in the tree of one arm, and there in one node of each of L =
    `rounds.bit_length()` levels: the vector of all nodes moves by at most L in l1, and each has noise of scale L /
    epsilon. Which tree, and what comes later, follows from earlier responses, so it is the same for both neighbors as
    long as the responses are: Dwork, Naor, Pitassi and Rothblum 2010, for streams that are chosen adaptively.

    Examples
    --------
    >>> RunningSums(arms=2, rounds=1000, epsilon=0.5).event
    LaplaceLoss(multiplier=2.0)
    """

    purpose: ClassVar[str] = ASKED
    neighbors: ClassVar[Neighbors] = Neighbors.REPLACE
    contributions: ClassVar[int] = 1

    def __init__(
        self,
        arms: int,
        rounds: int,
        epsilon: float = 1.0,
        reward_map: RewardMap = Clipped(),  # noqa: B008 - it is frozen
        *,
        runs: int | None = None,
        bits: Bits | None = None,
    ) -> None:
        check_positive(ASKED, "epsilon", epsilon, least=1e-6, most=1e6)
        check_whole(ASKED, "arms", arms)
        check_whole(ASKED, "runs", 1 if runs is None else runs)
        self.arms, self.reward_map = int(arms), reward_map
        self.runs = None if runs is None else int(runs)
        self._counter = TreeCounter(
            rounds,
            Laplace(1 / float(epsilon)),
            neighbors=self.neighbors,
            streams=self.arms * int(runs or 1),
            bits=bits,
        )

    @property
    def secret(self) -> bool:
        """Whether the noise is secret."""
        return self._counter.secret

    @property
    def event(self) -> Event:
        """The price of all responses."""
        return self._counter.event

    @exclusive
    def privatise(self, reward: ArrayLike, arm: ArrayLike = 0, last: ArrayLike = True) -> Any:
        """The noisy sum of the rewards of this arm, with this one."""
        unit, arms = self.reward_map.unit(of_each_run(ASKED, reward, self.runs)), np.asarray(arm)
        if arms.dtype.kind not in "iu" or not ((arms >= 0) & (arms < self.arms)).all():
            raise ParameterError(ASKED, f"arms {arms}", f"Give arms from 0 to {self.arms - 1}.")
        self.begin_update()
        streams = np.arange(unit.size) * self.arms + arms
        return self._counter.add(unit.reshape(-1, 1), streams).reshape(unit.shape)[()]

    def state(self) -> State:
        """That of the counter."""
        return self._counter.state()

    def restore(self, state: State) -> None:
        """Go on from a state of a curator with the same parameters."""
        self._counter.restore(state)
