"""What stands between a reward and an agent."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import ArrayLike

from discreet.core.events import Event
from discreet.sequential.bandits.reward_map import Clipped, RewardMap
from discreet.sequential.reading import reward_of


class RewardCurator(Protocol):
    """The user's side: sees a reward, and gives out a response that an agent may see.

    `event` is the price that the user of one round pays, for neighbors that differ in the reward of that round
    (replace). Who takes part in several rounds pays for each: compose the events.
    """

    @property
    def event(self) -> Event: ...

    def privatise(self, reward: ArrayLike, arm: ArrayLike = 0, last: ArrayLike = True) -> Any:
        """The response to one reward, or to one of each run.

        Parameters
        ----------
        reward : float or array of shape (runs,)
            Secret.
        arm : int or array of shape (runs,)
            Public. The arm that was pulled.
        last : bool or array of shape (runs,)
            Public. Whether the agent ends an episode with this pull; `agent.last`.

        Returns
        -------
        float or array of shape (runs,)
            nan where nothing is given out in this round.
        """


class NoCurator:
    """Give out rewards as they are, scaled to [0, 1]: NOT PRIVATE, for baselines on invented rewards.

    Parameters
    ----------
    reward_map : RewardMap
        Public.

    Examples
    --------
    >>> float(NoCurator(Clipped(0, 10)).privatise(2.5))
    0.25
    """

    def __init__(self, reward_map: RewardMap = Clipped()) -> None:  # noqa: B008 - it is frozen
        self.reward_map = reward_map

    def privatise(self, reward: ArrayLike, arm: ArrayLike = 0, last: ArrayLike = True) -> Any:
        """The reward itself."""
        return self.reward_map.unit(reward_of(reward, arm))
