"""The binary tree of partial sums: every running sum from a few of them."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.core.exact import Exact
from discreet.core.grid import Array, Steps, upwards
from discreet.core.held import exclusive
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.sequential.continual_release import State, fitting, fitting_clock
from discreet.sequential.counters.counter import MOST_NUMBERS, UNIT, Counter, OpenCounter, Updates
from discreet.sequential.reading import update_of
from discreet.trust.grant import Grant

AHEAD = 1 << 14  # numbers that are drawn at once for several streams


def tree_factor(levels: int, contributions: int, norm: Norm) -> float:
    """How far all nodes of a tree move together if this many updates, wherever they are, move by one each; rounded up.

    An update is in at most one node of each level. In l1 the moves add up. In l2 the squares of a level add up to most
    where as many updates as possible share a node, which holds 2^level of them.

    Examples
    --------
    >>> tree_factor(11, 1, "l1"), round(tree_factor(11, 1, "l2") ** 2, 6)
    (11.0, 11.0)
    """
    if norm == "l1":
        return float(levels * contributions)
    squares = 0
    for level in range(levels):
        full, rest = divmod(contributions, 2**level)
        squares += full * 4**level + rest**2
    return upwards(Fraction(math.sqrt(squares)) * (1 + Fraction(2) ** -50))


@dataclass(frozen=True, eq=False)
class TreeCounter(Counter):
    """Release the sum of all updates so far, after every update, with noise that grows with the logarithm of time.

    Updates are the leaves of a binary tree, and each node has noise of its own. The first t updates are the union of as
    many nodes as t has bits that are 1. Only the running sum and one noise for each level are kept.

    Parameters
    ----------
    horizon : int
        Public. How many updates there are at most.
    noise : Laplace or Gaussian
        Public. Its multiplier is in units of what one unit moves all nodes by.
    streams : int
        Public. How many streams are counted side by side, each with its own clock; a unit is in one of them.

    Guarantee
    ---------
    `noise.event` for all releases together, also where updates are chosen after looking at earlier releases. An update
    is in at most one node of each of the `horizon.bit_length()` levels, so one unit moves the vector of all nodes by at
    most `tree_factor` times what one update moves by, and releases are sums of noisy nodes. Dwork, Naor, Pitassi and
    Rothblum 2010; Chan, Shi and Song 2011.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.mechanisms import Laplace
    >>> visits = TreeCounter(1024, Laplace(0.001))
    >>> visits.event
    LaplaceLoss(multiplier=0.001)
    >>> counter = visits.open(Budget(1000.0))
    >>> [round(float(counter.update(1.0))) for _ in range(3)]
    [1, 2, 3]
    """

    purpose: ClassVar[str] = "tree counter"

    horizon: int
    noise: Additive
    bound: Bound = UNIT
    size: int = 1
    _: KW_ONLY
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    contributions: int = 1
    streams: int = 1

    def check(self) -> None:
        check_whole(self.purpose, "horizon", self.horizon, most=2**30)
        check_whole(self.purpose, "contributions", self.contributions, most=self.horizon)
        check_whole(self.purpose, "streams", self.streams)
        check_size(self.purpose, self.streams * self.levels * self.size, MOST_NUMBERS)

    @property
    def last_clock(self) -> int:
        return self.horizon

    @property
    def levels(self) -> int:
        """Of the tree."""
        return self.horizon.bit_length()

    @cached_property
    def updates(self) -> Updates:
        """Updates whose unit moves the nodes by `tree_factor`."""
        factor = tree_factor(self.levels, self.contributions, self.noise.norm)
        return Updates(self.noise, self.bound, self.size, self.neighbors, factor)

    def stddev(self, time: int) -> float:
        return self.noise.deviation * self.updates.scale * math.sqrt(int(time).bit_count())

    def opened(self, grant: Grant) -> OpenTree:
        return OpenTree(grant)


class OpenTree(OpenCounter[TreeCounter]):
    """A tree counter that is paid for: exact running sums, and one noise for each level."""

    def __init__(self, grant: Grant) -> None:
        super().__init__(grant)
        own = self.description
        self._updates, self._levels = own.updates, np.arange(own.levels)
        self._clock: NDArray[np.int64] = np.zeros(own.streams, np.int64)
        self._reserve: Steps = np.empty(0, np.int64)
        self._sums: Exact[Steps] = Exact(np.zeros((own.streams, own.size), np.int64))
        self._noises: Steps = np.zeros((own.streams, own.levels, own.size), np.int64)

    def update(self, value: ArrayLike) -> Array:
        """Add one update to the only stream, and release the sum of all so far, in the shape of the update."""
        given = update_of(value, self.description.size)
        return self.add(given.reshape(1, -1), np.zeros(1, np.int64)).reshape(given.shape)

    @property
    def clock(self) -> NDArray[np.int64]:
        """How many updates each stream has had."""
        return self._clock.copy()

    @exclusive
    def add(self, values: Array, streams: NDArray[np.int64]) -> Array:
        """Add one update to each of some streams, and release their sums.

        Parameters
        ----------
        values : array of shape (k, size)
            Secret. One update for each.
        streams : array of shape (k,)
            Public. The streams, from 0 on, each at most once; another one is refused.

        Returns
        -------
        array of shape (k, size)
        """
        purpose, size = self.description.purpose, self.description.size
        if streams.dtype.kind not in "iu" or not ((streams >= 0) & (streams < len(self._clock))).all():
            remedy = f"Give streams from 0 to {len(self._clock) - 1}."
            raise ParameterError(purpose, f"the streams are {streams!r:.80}", remedy)
        time = self._clock[streams] + 1
        if len(streams) > 1 and not np.diff(np.sort(streams)).all():
            raise ParameterError(purpose, "a stream has two updates at once", "Give one after the other.")
        self.admit(values.shape, (len(streams), size), int(time.max()) - 1)
        steps = self._updates.steps(values)
        self._clock[streams] = time
        noise = self._noise(streams, time, size)

        def added(sums: Steps) -> Steps:
            sums[streams] += steps
            return sums[streams]

        return self._updates.grid.values(self._sums.noised(added, noise))

    def _noise(self, streams: NDArray[np.int64], time: NDArray[np.int64], size: int) -> Steps:
        """That of the nodes whose union is all updates so far; the one that ends here is new."""
        levels = np.frexp((time & -time).astype(np.float64))[1] - 1
        self._noises[streams, levels] = self._drawn(len(streams), size)
        used = (time[:, None] >> self._levels) & 1
        return np.asarray(np.einsum("kl,kls->ks", used, self._noises[streams]))

    def _drawn(self, count: int, size: int) -> Steps:
        """Noise for so many updates; for several streams from a reserve, each number of which is used once."""
        if len(self._clock) == 1:
            return self._updates.drawn(self._bits, (1, size))
        if len(self._reserve) < count * size:
            self._reserve = self._updates.drawn(self._bits, (max(AHEAD, count * size),))
        taken, self._reserve = self._reserve[: count * size], self._reserve[count * size :]
        return taken.reshape(count, size)

    def _state(self) -> State:
        """Clocks, exact sums and one noise for each level."""
        return {"clock": self._clock, "sums": self._sums.saved(), "noises": self._noises}

    def _restore(self, state: State) -> None:
        clock = fitting_clock(state, self._clock, self.description.horizon)
        sums, noises = fitting(state, "sums", self._sums.saved()), fitting(state, "noises", self._noises)
        self._clock, self._sums, self._noises = clock, Exact(sums), noises
