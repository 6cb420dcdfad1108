"""A trusted curator that gives out running sums of products of contexts and rewards."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.checks import check_positive, check_whole
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.held import exclusive
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.questions.vectors.mapped_coordinates import AcuteBound
from discreet.questions.vectors.second_moments import weights_of
from discreet.sequential.bandits.reward_map import Clipped, RewardMap
from discreet.sequential.continual_release import ContinualRelease, OpenStream, State
from discreet.sequential.counters.tree_counter import OpenTree, TreeCounter
from discreet.sequential.reading import of_each_run
from discreet.trust.grant import Grant

ROW = Bound("l2", 1.0)


@dataclass(frozen=True, eq=False)
class GramSums(ContinualRelease):
    """Answer each pair of context and reward with the sum of all products so far, by a `TreeCounter`.

    With v the context, shrunk to length 1, and then the reward in [0, 1], the products are v v'. What is given out is a
    symmetric matrix of size dimension + 1: the Gram matrix of contexts in its first rows, and their products with
    rewards in the last.

    Parameters
    ----------
    dimension : int
        Public. Of contexts.
    rounds : int
        Public. How many pairs come at most.
    epsilon, delta : float
        Public. Of all responses together.
    reward_map : RewardMap
        Public. How rewards become numbers in [0, 1].
    runs : int, optional
        Public. How many independent runs are played at once; without it there is one.

    Guarantee
    ---------
    `GaussianLoss(multiplier)`, calibrated to epsilon and delta, for all responses together and neighbors that differ in
    context and reward of one round (replace). The Frobenius norm of v v' is |v|^2 <= 2, and two such matrices have a
    product of at least 0, so they are at most 2 sqrt(2) apart; each is in one node of each level of the tree. The arm
    of a round may be chosen from that user's own context: what all *other* users see is private (joint differential
    privacy). Shariff and Sheffet 2018.

    Examples
    --------
    >>> curator = GramSums(dimension=2, rounds=100, epsilon=2.0).open(Budget(2.0, 1e-6))
    >>> curator.privatise([0.6, 0.8], 1.0).shape
    (3, 3)
    """

    purpose: ClassVar[str] = "sums of products"
    neighbors: ClassVar[Neighbors] = Neighbors.REPLACE  # type: ignore[misc]

    dimension: int
    rounds: int
    epsilon: float = 1.0
    delta: float = 1e-6
    reward_map: RewardMap = Clipped()  # noqa: RUF009 - it is frozen
    _: KW_ONLY
    runs: int | None = None

    def check(self) -> None:
        check_positive(self.purpose, "epsilon", self.epsilon, least=1e-3)
        check_whole(self.purpose, "dimension", self.dimension, most=1000)
        check_whole(self.purpose, "runs", 1 if self.runs is None else self.runs)
        self.counter.event  # noqa: B018 - what is wrong with it is found now, before anything is charged

    @cached_property
    def upper(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of a symmetric matrix that are added up."""
        return np.triu_indices(self.dimension + 1)

    @cached_property
    def weights(self) -> Array:
        """What each place counts, so that lengths are those of whole matrices."""
        return weights_of(self.dimension + 1)

    @cached_property
    def counter(self) -> TreeCounter:
        """A tree for each run."""
        noise, bound = calibrate(Gaussian, Budget(self.epsilon, self.delta)), AcuteBound("l2", 2.0 * (1 + 2.0**-30))
        more = {"neighbors": self.neighbors, "streams": self.runs or 1}
        return TreeCounter(self.rounds, noise, bound, len(self.weights), **more)  # type: ignore[arg-type]

    @property
    def event(self) -> Event:
        return self.counter.event

    @property
    def stddev(self) -> float:
        """The standard deviation of the noise on the diagonal, at most; off the diagonal it is sqrt(2) times less."""
        return self.counter.stddev(2**self.counter.levels - 1)

    def opened(self, grant: Grant) -> OpenGram:
        return OpenGram(grant)


class OpenGram(OpenStream[GramSums]):
    """Sums of products that are paid for."""

    def __init__(self, grant: Grant) -> None:
        super().__init__(grant)
        self._counter: OpenTree = self._part(self.description.counter)

    @exclusive
    def privatise(self, context: ArrayLike, reward: ArrayLike) -> Any:
        """The noisy sum of all products, with these: of shape (d, d), or (runs, d, d), d = dimension + 1."""
        own = self.description
        contexts = np.atleast_2d(of_each_run(own.purpose, context, own.runs, (own.dimension,)))
        unit = np.atleast_1d(own.reward_map.unit(of_each_run(own.purpose, reward, own.runs)))
        self.begin_update()
        rows = np.hstack([ROW.clip(contexts), unit[:, None]])
        products = (rows[:, own.upper[0]] * rows[:, own.upper[1]]) * own.weights
        found = self._counter.add(products, np.arange(len(rows))) / own.weights
        gram = np.zeros((len(rows), own.dimension + 1, own.dimension + 1))
        gram[:, own.upper[0], own.upper[1]] = found
        gram[:, own.upper[1], own.upper[0]] = found
        return gram[0] if own.runs is None else gram

    def _state(self) -> State:
        return self._counter._state()

    def _restore(self, state: State) -> None:
        self._counter._restore(state)
