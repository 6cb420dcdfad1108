"""w-event privacy: whatever happens within w consecutive times is protected, for as long as a stream goes on."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import ULP, Bound
from discreet.core.checks import check_positive, check_whole
from discreet.core.events import PureLoss
from discreet.core.exact import Exact
from discreet.core.grid import CELLS, Array, Grid, Steps
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.sequential.continual_release import State, fitting, fitting_clock
from discreet.sequential.counters.counter import FINE, UNIT
from discreet.sequential.series.series_stream import OpenSeries, SeriesStream
from discreet.trust.grant import Grant

HALF = 2**40  # the part of epsilon that pays for publications, in whole shares: they add up without error
LEAST = 2**28  # shares that are worth a publication
LONGEST = 2**20  # window
DIGITS = 4  # binary ones, of shares

Shares = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WEventStream(SeriesStream):
    """Release series as they come, with a new noisy number wherever the last one no longer fits.

    At each time half of the window's budget, divided by its length, shows how far each series is from its last release.
    Where that is more than the noise of a new number would be, it is published, and paid from the other half; else the
    last one is released again. `BudgetDistribution` and `BudgetAbsorption` say how the other half is divided.

    Parameters
    ----------
    window : int
        Public. w: how many consecutive times are protected together.
    epsilon : float
        Public. Of all releases, for whatever a unit adds within one window.
    series : int
        Public. How many series are followed side by side, each published at times of its own.
    neighbors : Neighbors
        Public. Whether what a unit adds within a window is added or removed, or replaced by what any other adds within
        a window of its own.

    Guarantee
    ---------
    `PureLoss(epsilon)`, for streams that differ by what one unit adds within a single window of w consecutive times:
    w-event privacy, Kellaris, Papadopoulos, Xiao and Papadias 2014. Given all earlier releases, what is released at a
    time in the window loses at most epsilon / (2 w) by the distance, and by a publication what it is paid: both have
    Laplace noise for what a unit moves a series by. Outside the window nothing differs. In every window the former add
    up to epsilon / 2, and the latter to epsilon / 2 at most, whatever was released; so the likelihood of all releases,
    which is the product of those of each time given those before, changes by a factor of exp(epsilon) at most. A unit
    that comes back after the window is a new one: whole users are not protected. With `memberships` m each of the
    series has epsilon / m. Where a unit is replaced, it is removed and another added: noise is for twice as much.
    """

    purpose: ClassVar[str] = "w-event stream"

    window: int
    epsilon: float
    bound: Bound = UNIT
    _: KW_ONLY
    series: int = 1
    memberships: int = 1
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def check(self) -> None:
        check_whole(self.purpose, "window", self.window, most=LONGEST)
        check_positive(self.purpose, "epsilon", self.epsilon, 2.0**-20, 2.0**20)

    @property
    def event(self) -> PureLoss:
        return PureLoss(float(self.epsilon))

    @property
    def scale(self) -> float:
        """Of noise that costs all of a half."""
        moved = self.memberships * self.neighbors.reach * self.bound.radius  # two windows may be apart
        return 2 * moved / self.epsilon * (1 + 8 * ULP)

    @cached_property
    def grid(self) -> Grid:
        """Fine beside the bound, unless noise would not fit its own grid."""
        largest = self.scale * max(self.window, HALF // LEAST)
        finest = float(np.frexp(self.bound.radius)[1]) - CELLS
        return Grid(int(max(finest, float(np.frexp(largest)[1]) - FINE)))

    @abstractmethod
    def opened(self, grant: Grant) -> OpenWEvent:
        """The object that takes updates, for whoever has paid: see `open`."""


class OpenWEvent(OpenSeries[WEventStream]):
    """A w-event stream that is paid for.

    Attributes
    ----------
    published : array of bool, shape (series,)
        Which series were published anew at the latest time.
    """

    def __init__(self, grant: Grant) -> None:
        super().__init__(grant)
        own = self.description
        self._spent: Shares = np.zeros((own.window, own.series), np.int64)
        self._held: Steps = np.zeros(own.series, np.int64)
        self.published: NDArray[np.bool_] = np.zeros(own.series, np.bool_)

    @abstractmethod
    def offered(self) -> Shares:
        """The shares that a publication of each series would cost now: a function of earlier releases."""

    def _released(self, sums: Exact[Steps]) -> Array:
        """New noisy numbers of the series that have moved, and the last ones of the others."""
        own, shares, held = self.description, self.offered(), self._held.copy()
        each_time = np.full(own.series, HALF / own.window)  # those of a window are a half
        distances = sums.noised(lambda exact: np.abs(exact - held), self._noise(each_time))
        error = own.scale * (HALF / own.grid.step) / np.maximum(shares, LEAST)
        self.published = chosen = (shares >= LEAST) & (distances > error)
        self._spent[self.clock % own.window] = np.where(chosen, shares, 0)
        self._held[chosen] = sums.noised(lambda exact: exact[chosen], self._noise(shares[chosen]))
        return own.grid.values(self._held)

    def _noise(self, shares: Array | Shares) -> Steps:
        """Laplace noise that costs these shares of a half, in grid steps."""
        own, found = self.description, np.zeros(len(shares), np.int64)
        for share in np.unique(shares):
            where = shares == share
            scale = own.scale * (HALF / float(share)) * (1 + 8 * ULP) / own.grid.step
            found[where] = Laplace().noise(self._bits, (int(where.sum()),), scale)
        return found

    def _state(self) -> State:
        """The last releases and what they were paid."""
        return {"clock": np.array(self.clock), "held": self._held, "spent": self._spent}

    def _restore(self, state: State) -> None:
        clock = fitting_clock(state, np.array(self.clock), self.description.last_clock)
        held, spent = fitting(state, "held", self._held), fitting(state, "spent", self._spent)
        self.clock, self._held, self._spent = int(clock), held, spent


@dataclass(frozen=True, eq=False)
class BudgetDistribution(WEventStream):
    """A w-event stream whose publications each get half of what the window has left: for few changes in a window.

    Guarantee
    ---------
    That of `WEventStream`: what was spent in the last w - 1 times and the half of what is left are no more than all.
    Kellaris, Papadopoulos, Xiao and Papadias 2014.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> stream = BudgetDistribution(window=10, epsilon=2.0).open(Budget(2.0))
    >>> found = [float(stream.update(np.ones(5000))[0]) for _ in range(30)]
    >>> bool(abs(found[-1] - 5000) < 100)
    True
    """

    purpose: ClassVar[str] = "budget distribution"

    def opened(self, grant: Grant) -> OpenDistribution:
        return OpenDistribution(grant)


class OpenDistribution(OpenWEvent):
    """Budget distribution that is paid for."""

    def offered(self) -> Shares:
        """Half of what was not spent in the last w - 1 times, cut to few digits: few scales of noise are drawn."""
        spent = self._spent.sum(axis=0) - self._spent[self.clock % self.description.window]
        half = (HALF - spent) // 2
        cut = np.maximum(np.frexp(half.astype(np.float64))[1].astype(np.int64) - DIGITS, 0)
        return np.asarray(half >> cut << cut)


@dataclass(frozen=True, eq=False)
class BudgetAbsorption(WEventStream):
    """A w-event stream whose publications absorb the shares of times without one: for changes now and then.

    Each time has an equal share. A publication takes its own and those of the times before that made none, up to w.
    As many times after it make none, so that no window holds more than its shares.

    Guarantee
    ---------
    That of `WEventStream`. A publication of j shares at time t spans the times from t - j + 1, the first that it
    absorbs, to t + j - 1, the last that it makes give up. Spans do not overlap, since the next one absorbs times after
    that. A window with publications in it either holds at least j times of the span of each, and so no more shares than
    times; or it lies inside the span of one, which then is alone in it and has at most w shares.
    Kellaris, Papadopoulos, Xiao and Papadias 2014.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> stream = BudgetAbsorption(window=10, epsilon=2.0).open(Budget(2.0))
    >>> found = [float(stream.update(np.ones(5000))[0]) for _ in range(30)]
    >>> bool(abs(found[-1] - 5000) < 200)
    True
    """

    purpose: ClassVar[str] = "budget absorption"

    def opened(self, grant: Grant) -> OpenAbsorption:
        return OpenAbsorption(grant)


class OpenAbsorption(OpenWEvent):
    """Budget absorption that is paid for."""

    def __init__(self, grant: Grant) -> None:
        super().__init__(grant)
        self._saved: Shares = np.zeros(self.description.series, np.int64)  # times to absorb; negative: given up

    def offered(self) -> Shares:
        """The shares of this time and of those that may be absorbed; none while shares are given up."""
        times = np.clip(self._saved + 1, 0, self.description.window)
        return np.asarray(times * (HALF // self.description.window))

    def _released(self, sums: Exact[Steps]) -> Array:
        """New noisy numbers of the series that have moved, and the last ones of the others."""
        found = super()._released(sums)
        taken = np.clip(self._saved + 1, 0, self.description.window)
        self._saved = np.where(self.published, 1 - taken, np.minimum(self._saved + 1, self.description.window - 1))
        return found

    def _state(self) -> State:
        """The last releases, and the times that are saved or given up."""
        return {**super()._state(), "saved": self._saved}

    def _restore(self, state: State) -> None:
        saved = fitting(state, "saved", self._saved)
        super()._restore(state)
        self._saved = saved
