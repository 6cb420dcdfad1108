"""The binary tree of partial sums: every running sum from a few of them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.bits import Bits
from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps, upwards
from discreet.core.held import exclusive
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.sequential.counters.counter import Counter
from discreet.sequential.counters.updates import MOST_NUMBERS, UNIT, Updates
from discreet.sequential.reading import update_of
from discreet.sequential.resumable import State, fitting, fitting_clock

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
    bound : Bound
        Public. What each update is clipped to; by default numbers from 0 to 1.
    size : int
        Public. How many numbers an update has.
    neighbors : Neighbors
        Public. Whether an update of zeros (`ADD_REMOVE`) or any other update (`REPLACE`) takes the place of a unit's.
    contributions : int
        Public. In how many updates a unit takes part at most: 1 protects single events, more protect whole users.
    streams : int
        Public. How many streams are counted side by side, each with its own clock; a unit is in one of them.
    bits : Bits, optional
        Where noise comes from; secret bits of this process by default.

    Guarantee
    ---------
    `noise.event` for all releases together, also where updates are chosen after looking at earlier releases. An update
    is in at most one node of each of the `horizon.bit_length()` levels, so one unit moves the vector of all nodes by at
    most `tree_factor` times what one update moves by, and releases are sums of noisy nodes. Dwork, Naor, Pitassi and
    Rothblum 2010; Chan, Shi and Song 2011.

    Examples
    --------
    >>> from discreet.mechanisms import Gaussian
    >>> counter = TreeCounter(1024, Gaussian(0.001))
    >>> [round(float(counter.update(1.0))) for _ in range(3)]
    [1, 2, 3]
    >>> counter.event
    GaussianLoss(multiplier=0.001)
    """

    purpose: ClassVar[str] = "tree counter"

    def __init__(
        self,
        horizon: int,
        noise: Additive,
        bound: Bound = UNIT,
        size: int = 1,
        *,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
        contributions: int = 1,
        streams: int = 1,
        bits: Bits | None = None,
    ) -> None:
        check_whole(self.purpose, "horizon", horizon, most=2**30)
        check_whole(self.purpose, "contributions", contributions, most=int(horizon))
        check_whole(self.purpose, "streams", streams)
        self.levels = int(horizon).bit_length()
        check_size(self.purpose, int(streams) * self.levels * int(size), MOST_NUMBERS)
        factor = tree_factor(self.levels, int(contributions), noise.norm)
        updates = Updates(noise, bound, int(size), neighbors, factor, int(contributions))
        super().__init__(int(horizon), updates, bits)
        self.clock: NDArray[np.int64] = np.zeros(int(streams), np.int64)
        self._reserve: Steps = np.empty(0, np.int64)
        self._sums: Steps = np.zeros((int(streams), int(size)), np.int64)
        self._noises: Steps = np.zeros((int(streams), self.levels, int(size)), np.int64)

    def stddev(self, time: int) -> float:
        """The standard deviation of the noise on each number of the release after so many updates."""
        return self._updates.noise.deviation * self._updates.scale * math.sqrt(int(time).bit_count())

    def update(self, value: ArrayLike) -> Array:
        """Add one update to the only stream, and release the sum of all so far, in the shape of the update."""
        given = update_of(value, self._updates.size)
        return self.add(given.reshape(1, -1), np.zeros(1, np.int64)).reshape(given.shape)

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
        if streams.dtype.kind not in "iu" or not ((streams >= 0) & (streams < len(self.clock))).all():
            remedy = f"Give streams from 0 to {len(self.clock) - 1}."
            raise ParameterError(self.purpose, f"the streams are {streams!r:.80}", remedy)
        size, time = self._updates.size, self.clock[streams] + 1
        if len(streams) > 1 and not np.diff(np.sort(streams)).all():
            raise ParameterError(self.purpose, "a stream has two updates at once", "Give one after the other.")
        self.admit(values.shape, (len(streams), size), int(time.max()) - 1)
        self.clock[streams] = time
        self._sums[streams] += self._updates.steps(values)
        levels = np.frexp((time & -time).astype(np.float64))[1] - 1
        self._noises[streams, levels] = self._drawn(len(streams), size)
        used = (time[:, None] >> np.arange(self.levels)) & 1
        noise = np.einsum("kl,kls->ks", used, self._noises[streams])
        return self._updates.grid.values(self._sums[streams] + noise)

    def _drawn(self, count: int, size: int) -> Steps:
        """Noise for so many updates; for several streams from a reserve, each number of which is used once."""
        if len(self.clock) == 1:
            return self._updates.drawn(self._bits, (1, size))
        if len(self._reserve) < count * size:
            self._reserve = self._updates.drawn(self._bits, (max(AHEAD, count * size),))
        taken, self._reserve = self._reserve[: count * size], self._reserve[count * size :]
        return taken.reshape(count, size)

    def state(self) -> State:
        """Clocks, exact sums and one noise for each level."""
        return {"clock": self.clock, "sums": self._sums, "noises": self._noises}

    def restore(self, state: State) -> None:
        """Go on from a state of a counter with the same parameters."""
        clock = fitting_clock(state, self.clock, self.horizon)
        sums, noises = fitting(state, "sums", self._sums), fitting(state, "noises", self._noises)
        self.clock, self._sums, self._noises = clock, sums, noises
