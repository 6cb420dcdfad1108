"""FAST without an end: so many samples in any window of consecutive times."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound
from discreet.core.checks import check_whole
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.sequential.continual_release import State
from discreet.sequential.counters.counter import UNIT
from discreet.sequential.series.fast import LONGEST, OpenFAST, SampledSeries, Sampling
from discreet.sequential.series.pid_controller import PIDController
from discreet.trust.grant import Grant


@dataclass(frozen=True, eq=False)
class WindowedFAST(SampledSeries):
    """Release series as they come, from a limited number of noisy samples in any window, with w-event privacy.

    A series is sampled again when the controller says so, but not before the last `samples` samples reach back by a
    whole window.

    Parameters
    ----------
    window : int
        Public. w: how many consecutive times are protected together.
    noise : Laplace or Gaussian
        Public. Its multiplier is in units of what one unit moves all samples of a window by.
    samples : int
        Public. How many samples of each series any window has at most.

    Guarantee
    ---------
    `noise.event` for all releases together, for streams that differ by what one unit adds within a single window of w
    consecutive times, or, if it is replaced, by what another adds within a window of its own besides: w-event privacy
    (Kellaris, Papadopoulos, Xiao and Papadias 2014). With m = `samples`, a sample is
    taken only if the m-th last one is w times ago or more, so no window has more than m of them; and given earlier
    releases, nothing outside the window differs. The rest is as for `FAST`. A unit that comes back after the window is
    a new one: whole users are not protected.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.mechanisms import Laplace
    >>> stream = WindowedFAST(24, Laplace(1.0), samples=4).open(Budget(1.0))
    >>> found = [float(stream.update(np.ones(3000))[0]) for _ in range(100)]
    >>> bool(abs(found[-1] - 3000) < 100)
    True
    """

    purpose: ClassVar[str] = "windowed FAST"

    window: int
    noise: Additive
    samples: int
    bound: Bound = UNIT
    _: KW_ONLY
    series: int = 1
    memberships: int = 1
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    sampling: Sampling = "adaptive"
    step_variance: float | None = None
    controller: PIDController | None = None

    def check(self) -> None:
        check_whole(self.purpose, "window", self.window, most=LONGEST)
        super().check()

    @property
    def length(self) -> int:
        """The times of a window."""
        return self.window

    @property
    def both(self) -> int:
        """The samples of both: the windows of two units may be apart."""
        return 2 * self.each

    def opened(self, grant: Grant) -> OpenWindows:
        return OpenWindows(grant)


class OpenWindows(OpenFAST[WindowedFAST]):
    """Series sampled in windows, that are paid for."""

    def __init__(self, grant: Grant) -> None:
        super().__init__(grant)
        own = self.description
        self._times: NDArray[np.int64] = np.full((own.samples, own.series), -own.window, np.int64)

    @property
    def due(self) -> NDArray[np.bool_]:
        """The series that are sampled at the next time: a function of earlier releases."""
        own = self.description
        free = self.clock - self._times.min(axis=0) >= own.window
        if own.sampling == "fixed":
            return np.asarray(free & (self.clock * own.samples >= self._taken * own.window))
        return np.asarray(free & (self.clock >= self._next))

    @property
    def pace(self) -> Array:
        """The window over its samples."""
        return np.full(len(self._taken), self.description.window / self.description.samples)

    def _plan(self, expected: Array, due: NDArray[np.bool_]) -> None:
        """Note the times of samples, and set those of the next ones."""
        super()._plan(expected, due)
        oldest = self._times.argmin(axis=0)[due]
        self._times[oldest, np.flatnonzero(due)] = self.clock

    def _state(self) -> State:
        """That of `FAST`, and the times of the last samples."""
        return {**super()._state(), "times": self._times}
