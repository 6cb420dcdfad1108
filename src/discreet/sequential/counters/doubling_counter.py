"""Running sums of a stream without an end: counters one after another, each for twice as many updates."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.bound import Bound
from discreet.core.checks import check_one_of, check_whole
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.sequential.continual_release import State, fitting
from discreet.sequential.counters.counter import UNIT, Counter, OpenCounter, Updates
from discreet.sequential.counters.square_root_counter import LONGEST, OpenSquareRoot, SquareRootCounter
from discreet.sequential.counters.square_root_factor import square_root_factor
from discreet.sequential.counters.tree_counter import OpenTree, TreeCounter, tree_factor
from discreet.sequential.reading import update_of
from discreet.trust.grant import Grant

Kind = Literal["square_root", "tree"]
ENDLESS = 2**62


def spread(factor: Callable[[int], float], contributions: int, power: int) -> float:
    """How much more noise each counter needs, if a unit may take part in several; 1 for a single contribution.

    With it, j of k contributions move a counter by at most (j / k)^(1 / power) of what its noise is made for, so that
    contributions to all counters, k in all, move by at most that in the norm of this power.
    """
    most = max(factor(j) ** power / j for j in range(1, contributions + 1))
    ratio = (most * contributions) ** (1 / power) / factor(contributions)
    return 1.0 if contributions == 1 else ratio * (1 + 2.0**-40)


@dataclass(frozen=True, eq=False)
class DoublingCounter(Counter):
    """Release the sum of all updates so far, after every update, for as long as updates come.

    A counter for `first` updates is followed by one for twice as many, and so on. The last release of each is added to
    the releases of those that follow.

    Parameters
    ----------
    noise : Laplace or Gaussian
        Public. Of all releases together. Laplace noise needs kind "tree".
    first : int
        Public. How many updates the first counter is for; at least the contributions of a unit.
    kind : {"square_root", "tree"}
        Public. Of the counters. A "square_root" keeps updates, and does not grow beyond 65,536 of them.

    Guarantee
    ---------
    `noise.event` for all releases together. A single update is in one counter, whose noise keeps that event, and what
    the others release does not depend on it. Of k contributions a counter has noise for all at once, and `spread` makes
    it enough for any division of them among counters.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.mechanisms import Laplace
    >>> counter = DoublingCounter(Laplace(0.001), first=4, kind="tree").open(Budget(1000.0))
    >>> [round(float(counter.update(1.0))) for _ in range(30)][-1]
    30
    """

    purpose: ClassVar[str] = "doubling counter"
    last_clock: ClassVar[int] = ENDLESS

    noise: Additive
    bound: Bound = UNIT
    size: int = 1
    _: KW_ONLY
    first: int = 1024
    kind: Kind = "square_root"
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    contributions: int = 1

    def check(self) -> None:
        check_one_of(self.purpose, "kind", self.kind, ("square_root", "tree"))
        check_whole(self.purpose, "first", self.first, most=LONGEST)
        check_whole(self.purpose, "contributions", self.contributions, most=self.first)
        self.counter(0)

    @cached_property
    def updates(self) -> Updates:
        """What one update may be."""
        return Updates(self.noise, self.bound, self.size, self.neighbors, 1.0)

    def stddev(self, time: int) -> float:
        squares, epoch, left = 0.0, 0, int(time)
        while left > 0:
            made = min(left, self.length(epoch))
            squares += self.counter(epoch).stddev(made) ** 2
            epoch, left = epoch + 1, left - made
        return math.sqrt(squares)

    def length(self, epoch: int) -> int:
        """How many updates the counter of this number is for."""
        return min(self.first << min(epoch, 30), LONGEST if self.kind == "square_root" else 2**30)

    def counter(self, epoch: int) -> SquareRootCounter | TreeCounter:
        """The counter of this number, from 0 on."""
        length = self.length(epoch)
        make: type[SquareRootCounter | TreeCounter] = SquareRootCounter if self.kind == "square_root" else TreeCounter
        factor: Callable[[int], float] = (
            square_root_factor(length).norm
            if self.kind == "square_root"
            else lambda j: tree_factor(length.bit_length(), j, self.noise.norm)
        )
        ratio = spread(factor, self.contributions, 1 if self.noise.norm == "l1" else 2)
        noise = dataclasses.replace(self.noise, multiplier=self.noise.multiplier * ratio)
        relation, each = self.neighbors, self.contributions
        return make(length, noise, self.bound, self.size, neighbors=relation, contributions=each)

    def opened(self, grant: Grant) -> OpenDoubling:
        return OpenDoubling(grant)


class OpenDoubling(OpenCounter[DoublingCounter]):
    """A doubling counter that is paid for: the present counter, and the last releases of those before."""

    def __init__(self, grant: Grant) -> None:
        super().__init__(grant)
        self._begin(0)
        self._before: Array = np.zeros(self.description.size)
        self._latest: Array = np.zeros(self.description.size)

    @property
    def clock(self) -> int:
        """How many updates were made."""
        return sum(map(self.description.length, range(self._epoch))) + int(np.max(self._counter.clock))

    def update(self, value: ArrayLike) -> Array:
        size = self.description.size
        given = update_of(value, size)
        self.admit((given.size,), (size,), 0)
        if int(np.max(self._counter.clock)) == self._counter.description.horizon:
            self._before = self._before + self._latest
            self._begin(self._epoch + 1)
        self._latest = self._counter.update(given.reshape(-1))
        return (self._before + self._latest).reshape(given.shape)

    def _state(self) -> State:
        """That of the present counter, and the sum of the last releases of those before."""
        here = {"epoch": np.array(self._epoch), "before": self._before, "latest": self._latest}
        return {**here, **self._counter._state()}

    def _restore(self, state: State) -> None:
        before, latest = fitting(state, "before", self._before), fitting(state, "latest", self._latest)
        self._begin(int(fitting(state, "epoch", np.array(self._epoch))))
        self._counter._restore(state)
        self._before, self._latest = before, latest

    def _begin(self, epoch: int) -> None:
        self._epoch = epoch
        self._counter: OpenSquareRoot | OpenTree = self._part(self.description.counter(epoch))
