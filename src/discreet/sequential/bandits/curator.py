"""What stands between rewards and an agent: descriptions of curators, and what they do once they are paid for."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from numpy.typing import ArrayLike

from discreet.core.grid import upwards
from discreet.core.held import exclusive
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.sequential.bandits.reward_map import RewardMap
from discreet.sequential.continual_release import ContinualRelease, OpenStream
from discreet.trust.grant import Grant

Described = TypeVar("Described", bound="RewardCurator", covariant=True)


class RewardCurator(ContinualRelease):
    """Sees rewards, and gives out responses that an agent may see: a description.

    `event` is the price of all responses together, for neighbors that differ in the reward of one round (replace). Who
    takes part in several rounds pays for each: compose the events.

    Parameters
    ----------
    reward_map : RewardMap
        Public. How rewards become numbers in [0, 1].
    runs : int, optional
        Public. How many independent runs are played at once; without it there is one.
    """

    neighbors: ClassVar[Neighbors] = Neighbors.REPLACE  # type: ignore[misc]
    reward_map: RewardMap

    @abstractmethod
    def opened(self, grant: Grant) -> OpenCurator[Any]:
        """The object that takes rewards, for whoever has paid: see `open`."""


class OpenCurator(OpenStream[Described]):
    """A curator that is paid for."""

    @exclusive
    @abstractmethod
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


def laplace_of(epsilon: float) -> Laplace:
    """Laplace noise that costs no more than this epsilon, to the last digit."""
    return Laplace(upwards(1 / Fraction(float(epsilon))))
