"""A private Kalman filter: estimates of a hidden state, released after every measurement."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from discreet.core.bound import Bound
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.releases.option_docs import describing
from discreet.sequential.counters.counter import UNIT
from discreet.sequential.filters.filter_stream import Change, PrivateFilter, change_of
from discreet.sequential.filters.kalman_filter import RunningKalman, SteadyKalman
from discreet.sequential.filters.kalman_model import KalmanModel
from discreet.sequential.filters.linear_filter import LinearFilter, LongResponse
from discreet.sequential.filters.placement import PLACES, Adjacency, Place, Placement, PlacementReport, placed

DESIGNS = (0.0, 4.0**-3, 4.0**-2, 0.25, 1.0, 4.0, 16.0, 64.0)  # what filters are made for, in variances at the input


@dataclass(frozen=True)
class _Choice:
    """A filter, where its noise is, and the mean squared error of what is wanted."""

    system: SteadyKalman
    placement: Placement
    error: float


@dataclass(frozen=True, eq=False)
class KalmanStream(PrivateFilter):
    """Release a Kalman filter's estimate after every measurement.

    With noise at the input, each measurement gets noise, and the filter knows its covariance: R + extra I. At the
    output and between two parts, the filter is one that passes less on, among several, where that pays.

    Parameters
    ----------
    model : KalmanModel
        Public. What moves, what is measured and what is wanted.
    bound : Bound
        Public. What each measurement is clipped to; by default 0 to 1.
    placement : {"input", "output", "zero_forcing"}, optional
        Public. Where the noise is added; by default where it leaves the least mean squared error: see
        `better_kalman_placement`.

    Guarantee
    ---------
    That of `FilterStream`: `noise.event` for all releases together. The model is public, and a wrong one costs accuracy
    alone. Le Ny and Pappas 2014.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.mechanisms import Gaussian
    >>> walk = KalmanModel(A=1.0, C=1.0, Q=0.001, R=0.1, start=1.0)
    >>> stream = KalmanStream(walk, Gaussian(0.01), placement="input").open(Budget(1e4, 1e-6))
    >>> [round(float(stream.update(y))) for y in (5.0, 0.9, 0.9)]  # numbers are clipped to 1
    [1, 1, 1]
    """

    purpose: ClassVar[str] = "Kalman filter"

    model: KalmanModel
    noise: Additive
    bound: Bound = UNIT
    _: KW_ONLY
    placement: Place | None = None
    adjacency: Adjacency = "event"
    horizon: int | None = None
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    contributions: int = 1
    streams: int = 1

    @cached_property
    def _best(self) -> _Choice:
        places = PLACES if self.placement is None else (self.placement,)
        change = change_of(self.bound, self.adjacency, self.neighbors, self.contributions, len(self.model.C))
        found = _choices(self.model, self.noise.multiplier, change, places, self.adjacency, self.horizon)
        return min(found, key=lambda one: one.error)

    @property
    def filter(self) -> LinearFilter:
        """The Kalman filter after many measurements."""
        return self._best.system

    @property
    def placed(self) -> Placement:
        """Where the noise is, and what comes before and after it."""
        return self._best.placement

    @property
    def mean_squared_error(self) -> float:
        """Of what is wanted, after many measurements: of model, measurements and noise together."""
        return self._best.error

    @property
    def extra(self) -> float:
        """The variance of the noise on what gets noise: on each measurement, where that is the input."""
        return self.updates.scale**2

    def stddevs(self, time: int | None = None) -> Array:
        """The standard deviation of the error of each estimate: of model, measurements and noise together.

        With noise at the input after so many measurements, or very many; elsewhere as it is in the end.
        """
        if self.placed.place != "input":
            own = np.diag(self.model.steady_covariance(0.0, self._best.system.extra))
            return np.sqrt(own + np.square(super().stddevs(time)))
        if time is None:
            return np.sqrt(np.diag(self.model.steady_covariance(self.extra)))
        running = RunningKalman(self.model, self.extra, 1)
        for _ in range(int(time)):
            running.push(np.zeros((1, self.filter.inputs)))
        return np.sqrt(np.diag(self.model.L @ running.covariance @ self.model.L.T))


@describing("", KalmanStream)
def better_kalman_placement(
    model: KalmanModel,
    noise: Additive,
    bound: Bound = UNIT,
    *,
    adjacency: Adjacency = "event",
    horizon: int | None = None,
    neighbors: Neighbors = Neighbors.ADD_REMOVE,
    contributions: int = 1,
) -> PlacementReport:
    """Compare placements of the noise of a Kalman filter by the mean squared error of what is wanted.

    Returns
    -------
    PlacementReport
        Its errors are those of the estimates: of model, measurements and noise together.

    Examples
    --------
    >>> from discreet.mechanisms import Gaussian
    >>> walk = KalmanModel(A=1.0, C=1.0, Q=0.01, R=1.0)
    >>> better_kalman_placement(walk, Gaussian(2.0)).best.place
    'zero_forcing'
    """
    change = change_of(bound, adjacency, neighbors, contributions, len(model.C))
    found = _choices(model, noise.multiplier, change, PLACES, adjacency, horizon)
    found.sort(key=lambda one: one.error)
    return PlacementReport(tuple(one.placement for one in found), tuple(one.error for one in found), "what is wanted")


def _choices(
    model: KalmanModel,
    multiplier: float,
    change: Change,
    places: tuple[Place, ...],
    adjacency: Adjacency,
    horizon: int | None,
) -> list[_Choice]:
    """The best filter for each placement."""
    scale = multiplier * change.reach

    def choice(place: Place, extra: float) -> _Choice:
        system = SteadyKalman(model, extra)
        placement = placed(system, place, adjacency, change.samples, horizon)
        own = float(np.trace(model.steady_covariance(0.0, extra)))
        return _Choice(system, placement, own + scale**2 * placement.mean_squared_error)

    gain = placed(SteadyKalman(model, 0.0), "input", adjacency, change.samples, horizon).gain
    best = []
    for place in places:
        designs = (1.0,) if place == "input" else DESIGNS
        with suppress(LongResponse) if len(places) > 1 else nullcontext():
            each = [choice(place, design * (scale * gain) ** 2) for design in designs]
            best.append(min(each, key=lambda one: one.error))
    return best
