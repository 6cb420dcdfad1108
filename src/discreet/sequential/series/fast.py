"""FAST: series sampled where they surprise, and estimated in between."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound
from discreet.core.checks import check_one_of, check_positive, check_whole
from discreet.core.events import Event
from discreet.core.exact import Exact
from discreet.core.grid import Array, Grid, Steps
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.sequential.continual_release import State, fitting, fitting_clock
from discreet.sequential.counters.counter import UNIT, Updates
from discreet.sequential.series.kalman_bank import RATIOS, KalmanBank
from discreet.sequential.series.pid_controller import PIDController
from discreet.sequential.series.series_stream import OpenSeries, SeriesStream
from discreet.trust.grant import Grant

Sampling = Literal["adaptive", "fixed"]
LONGEST = 2**30
Described = TypeVar("Described", bound="SampledSeries", covariant=True)


class SampledSeries(SeriesStream):
    """Series estimated from noisy samples: what `FAST` and `WindowedFAST` share.

    `length` is how many times the samples are for: all, or those of a window.

    Parameters
    ----------
    series : int
        Public. How many series are followed side by side, each sampled at times of its own.
    neighbors : Neighbors
        Public. Whether a unit is added or removed, or replaced by any other, which may be there at other times.
    sampling : {"adaptive", "fixed"}
        Public. Whether the controller sets the times of samples, or all intervals are equal.
    step_variance : float, optional
        Public. The variance of what a series moves by from one time to the next; by default several are tried, and
        those count most that foretell noisy numbers best.
    controller : PIDController
        Public. Its gains.
    """

    noise: Additive
    samples: int
    sampling: Sampling
    step_variance: float | None
    controller: PIDController | None

    def check(self) -> None:
        check_whole(self.purpose, "samples", self.samples, most=self.length)
        check_one_of(self.purpose, "sampling", self.sampling, ("adaptive", "fixed"))
        if self.step_variance is not None:
            check_positive(self.purpose, "step_variance", self.step_variance, 0.0, 1e300)

    @property
    @abstractmethod
    def length(self) -> int:
        """How many times the samples are for."""

    @property
    def each(self) -> int:
        """In how many samples of a series a unit is at most."""
        return self.samples

    @property
    @abstractmethod
    def both(self) -> int:
        """In how many samples of a series two units are together."""

    @cached_property
    def updates(self) -> Updates:
        """Values whose unit moves the samples by `Membership.factor`."""
        factor = self.membership.factor(self.noise.norm, self.each, self.both)
        return Updates(self.noise, self.bound, 1, self.neighbors, factor)

    @property
    def event(self) -> Event:
        return self.updates.event

    @property
    def grid(self) -> Grid:
        """The grid that values are cut to and noise is drawn on."""
        return self.updates.grid

    @property
    def control(self) -> PIDController:
        """The controller, where none is given that with the usual gains."""
        return PIDController() if self.controller is None else self.controller

    def bank(self) -> KalmanBank:
        """Filters that have seen nothing."""
        variance = (self.noise.deviation * self.updates.scale) ** 2
        steps = np.array(RATIOS) * variance if self.step_variance is None else np.array([float(self.step_variance)])
        return KalmanBank(self.series, variance, steps, laplace=self.noise.norm == "l1")


@dataclass(frozen=True, eq=False)
class FAST(SampledSeries):
    """Release series as they come, from a fixed number of noisy samples of each.

    At a sampled time a series' exact sum gets noise; at all times a Kalman filter, which knows the variance of that
    noise, estimates it from the noisy sums so far. After each sample a controller sets the time of the next one, by how
    far the estimate moved: nothing but noisy numbers decides when a series is sampled. Whatever samples are left are
    taken at the last times.

    Parameters
    ----------
    horizon : int
        Public. How many times there are at most.
    noise : Laplace or Gaussian
        Public. Of all releases together: its multiplier is in units of what one unit moves all samples by.
    samples : int
        Public. How many samples are taken of each series.
    contributions : int, optional
        Public. At how many times a unit is there at most; by default at all, which protects whole users. 1 protects
        single events.

    Guarantee
    ---------
    `noise.event` for all releases together. A unit is in at most m = `memberships` x min(`samples`, `contributions`)
    samples and moves each by one bound, so the vector of all samples moves by m bounds in l1 and sqrt(m) in l2; for a
    unit that is replaced, `Membership.factor` counts the samples of both. Times are functions of earlier noisy samples,
    and a sample has noise of the same scale whenever it is taken. So whatever the times are, the losses add up to no
    more than that of one release that moves by as much: adaptive composition of pure losses, or of Gaussian ones (Smith
    and Thakurta 2022). Estimates are post-processing. Fan and Xiong 2012.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.mechanisms import Laplace
    >>> stream = FAST(100, Laplace(1.0), samples=10).open(Budget(1.0))
    >>> found = [float(stream.update(np.ones(2000))[0]) for _ in range(100)]
    >>> bool(abs(found[-1] - 2000) < 100), int(stream.taken[0])
    (True, 10)
    """

    purpose: ClassVar[str] = "FAST"

    horizon: int
    noise: Additive
    samples: int
    bound: Bound = UNIT
    _: KW_ONLY
    series: int = 1
    memberships: int = 1
    contributions: int | None = None
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    sampling: Sampling = "adaptive"
    step_variance: float | None = None
    controller: PIDController | None = None

    def check(self) -> None:
        check_whole(self.purpose, "horizon", self.horizon, most=LONGEST)
        check_whole(self.purpose, "contributions", self.times, most=self.horizon)
        super().check()

    @property
    def times(self) -> int:
        """At how many times a unit is there at most."""
        return self.horizon if self.contributions is None else self.contributions

    @property
    def length(self) -> int:
        return self.horizon

    @property
    def last_clock(self) -> int:
        return self.horizon

    @property
    def each(self) -> int:
        """In how many samples of a series a unit is at most."""
        return min(self.samples, self.times)

    @property
    def both(self) -> int:
        """In how many samples of a series two units are together."""
        return min(self.samples, 2 * self.each)

    @property
    def rows(self) -> int:
        """How many rows of a unit the price is for, also where they all fall together."""
        return min(self.times, self.membership.rows(self.noise.norm, self.each, self.both))

    def opened(self, grant: Grant) -> OpenFAST[FAST]:
        return OpenFAST(grant)


class OpenFAST(OpenSeries[Described]):
    """Sampled series that are paid for.

    Attributes
    ----------
    measured : array of shape (series,)
        The noisy sums of the latest time; nan for those that were not sampled. They may be published.
    """

    def __init__(self, grant: Grant) -> None:
        super().__init__(grant)
        own, series = self.description, self.description.series
        self._updates, self._bank, self._control = own.updates, own.bank(), own.control
        self._taken: NDArray[np.int64] = np.zeros(series, np.int64)
        self._next: NDArray[np.int64] = np.zeros(series, np.int64)
        self._last: NDArray[np.int64] = np.zeros(series, np.int64)
        self._interval: Array = np.ones(series)
        self._errors: Array = np.zeros((self._control.window, series))
        self.measured: Array = np.full(series, math.nan)

    @property
    def taken(self) -> NDArray[np.int64]:
        """How many samples were taken of each series."""
        return self._taken.copy()

    @property
    def standard_errors(self) -> Array:
        """Of the last release, if series are random walks as the filter supposes."""
        return np.sqrt(self._bank.variances)

    def _released(self, sums: Exact[Steps]) -> Array:
        """Noisy sums of the series whose turn it is, and estimates of all."""
        due = self.due
        self._bank.step()
        self.measured = np.full(len(due), math.nan)
        if due.any():
            noise = self._updates.drawn(self._bits, (int(due.sum()),))
            self.measured[due] = self._updates.grid.values(sums.noised(lambda exact: exact[due], noise))
            expected = self._bank.means
            self._bank.correct(self.measured, due)
            self._plan(expected, due)
        return self._bank.means

    @property
    def due(self) -> NDArray[np.bool_]:
        """The series that are sampled at the next time: a function of earlier releases."""
        own, left = self.description, self.description.samples - self._taken
        if own.sampling == "fixed":
            return (left > 0) & (self.clock * own.samples >= self._taken * own.length)
        return (left > 0) & ((self.clock >= self._next) | (left >= own.length - self.clock))

    @property
    def pace(self) -> Array:
        """The time left over the samples left."""
        return np.asarray(
            (self.description.length - self.clock) / np.maximum(self.description.samples - self._taken, 1)
        )

    def _plan(self, expected: Array, due: NDArray[np.bool_]) -> None:
        """Set the time of the next sample of those that were sampled just now."""
        found = self._bank.means
        errors = np.abs(found - expected) / np.maximum(np.abs(found), self.description.bound.radius)
        history = np.vstack([np.where(self._taken > 0, errors, 0.0), self._errors[:-1]])
        interval = self._control.interval(self._interval, history, self.clock - self._last, self.pace)
        self._errors = np.where(due, history, self._errors)
        self._interval = np.where(due, interval, self._interval)
        self._next = np.where(due, self.clock + np.rint(interval).astype(np.int64), self._next)
        self._last = np.where(due, self.clock, self._last)
        self._taken += due

    def _state(self) -> State:
        """Estimates and plans: made of noisy numbers alone, but a sample that was taken must not be taken again."""
        numbers = {"taken": self._taken, "next": self._next, "last": self._last, "interval": self._interval}
        bank = {"estimates": self._bank.estimates, "variances": self._bank.errors, "merits": self._bank.merits}
        return {"clock": np.array(self.clock), "errors": self._errors, **numbers, **bank}

    def _restore(self, state: State) -> None:
        clock = fitting_clock(state, np.array(self.clock), self.description.last_clock)
        own = {name: array for name, array in self._state().items() if name != "clock"}
        saved = {name: fitting(state, name, array) for name, array in own.items()}
        for name, array in own.items():
            array[...] = saved[name]
        self.clock = int(clock)
