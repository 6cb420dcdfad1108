"""A trusted curator that gives out running sums of products of contexts and rewards."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.accounting.calibration import calibrate
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.checks import check_positive, check_whole
from discreet.core.events import Event
from discreet.core.held import exclusive
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.questions.vectors.mapped_coordinates import AcuteBound
from discreet.questions.vectors.second_moments import weights_of
from discreet.sequential.bandits.reward_map import Clipped, RewardMap
from discreet.sequential.counters.tree_counter import TreeCounter
from discreet.sequential.reading import of_each_run
from discreet.sequential.resumable import Resumable, State

ROW = Bound("l2", 1.0)


class GramSums(Resumable):
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
        Public. As for `Agent`.
    bits : Bits, optional
        Where noise comes from; secret bits of this process by default.

    Guarantee
    ---------
    `GaussianLoss(multiplier)`, calibrated to epsilon and delta, for all responses together and neighbors that differ in
    context and reward of one round (replace). The Frobenius norm of v v' is |v|^2 <= 2, and two such matrices have a
    product of at least 0, so they are at most 2 sqrt(2) apart; each is in one node of each level of the tree. The arm
    of a round may be chosen from that user's own context: what all *other* users see is private (joint differential
    privacy). Shariff and Sheffet 2018.

    Examples
    --------
    >>> curator = GramSums(dimension=2, rounds=100, epsilon=1000.0, delta=0.1)
    >>> curator.privatise([0.6, 0.8], 1.0).shape
    (3, 3)
    """

    purpose: ClassVar[str] = "sums of products"
    neighbors: ClassVar[Neighbors] = Neighbors.REPLACE
    contributions: ClassVar[int] = 1

    def __init__(
        self,
        dimension: int,
        rounds: int,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        reward_map: RewardMap = Clipped(),  # noqa: B008 - it is frozen
        *,
        runs: int | None = None,
        bits: Bits | None = None,
    ) -> None:
        check_positive("sums of products", "epsilon", epsilon, least=1e-3)
        check_whole("sums of products", "dimension", dimension, most=1000)
        check_whole("sums of products", "runs", 1 if runs is None else runs)
        self.dimension, self.runs, self.reward_map = int(dimension), None if runs is None else int(runs), reward_map
        self._upper = np.triu_indices(self.dimension + 1)
        self._weights = weights_of(self.dimension + 1)
        noise = calibrate(Gaussian, Budget(epsilon, delta))
        self._counter = TreeCounter(
            rounds,
            noise,
            AcuteBound("l2", 2.0 * (1 + 2.0**-30)),
            len(self._weights),
            neighbors=self.neighbors,
            streams=self.runs or 1,
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

    @property
    def stddev(self) -> float:
        """The standard deviation of the noise on the diagonal, at most; off the diagonal it is sqrt(2) times less."""
        return self._counter.stddev(2**self._counter.levels - 1)

    @exclusive
    def privatise(self, context: ArrayLike, reward: ArrayLike) -> Any:
        """The noisy sum of all products, with these: of shape (d, d), or (runs, d, d), d = dimension + 1."""
        contexts = np.atleast_2d(of_each_run("sums of products", context, self.runs, (self.dimension,)))
        unit = np.atleast_1d(self.reward_map.unit(of_each_run("sums of products", reward, self.runs)))
        self.begin_update()
        rows = np.hstack([ROW.clip(contexts), unit[:, None]])
        products = (rows[:, self._upper[0]] * rows[:, self._upper[1]]) * self._weights
        found = self._counter.add(products, np.arange(len(rows))) / self._weights
        gram = np.zeros((len(rows), self.dimension + 1, self.dimension + 1))
        gram[:, self._upper[0], self._upper[1]] = found
        gram[:, self._upper[1], self._upper[0]] = found
        return gram[0] if self.runs is None else gram

    def state(self) -> State:
        """That of the counter."""
        return self._counter.state()

    def restore(self, state: State) -> None:
        """Go on from a state of a curator with the same parameters."""
        self._counter.restore(state)
