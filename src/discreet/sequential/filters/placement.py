"""Where noise is added to a filter, at its input, at its output, or between two parts of it, and what is best."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet.core.checks import check_one_of
from discreet.core.grid import Array
from discreet.releases.columns import Columns, Series
from discreet.releases.drawing import drawn_on
from discreet.sequential.filters.finite_filter import FiniteFilter, FiniteResponse
from discreet.sequential.filters.linear_filter import LinearFilter, LongResponse, whole_response
from discreet.sequential.filters.zero_forcing import zero_forcing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Adjacency = Literal["event", "signal"]
Place = Literal["input", "output", "zero_forcing"]
PLACES: tuple[Place, ...] = ("input", "output", "zero_forcing")
ASKED = "filter"


@dataclass(frozen=True)
class Placement:
    """A filter as what comes before the noise and what comes after it.

    Parameters
    ----------
    place : {"input", "output", "zero_forcing"}
        Public. Where the noise is.
    before : FiniteResponse
        Public. What the samples go through, exactly.
    after : LinearFilter
        Public. What the noisy result goes through; it sees no sample.
    adjacency : {"event", "signal"}
        Public. What one unit may change.
    contributions : int
        Public. How many samples that are, for events.
    horizon : int, optional
        Public. How many samples there are at most.
    """

    place: Place
    before: FiniteResponse
    after: LinearFilter
    adjacency: Adjacency
    contributions: int
    horizon: int | None

    @cached_property
    def gain(self) -> float:
        """How far one unit moves what gets noise, in l2, if its samples, or its signal in l2, move by one."""
        if self.adjacency == "signal":
            return self.before.signal_gain()
        return self.before.event_gain(self.contributions)

    def variances(self, time: int | None = None) -> Array:
        """Of the noise on each output after so many samples, or after very many, for a multiplier and bound of one."""
        if time is None:
            response = whole_response(ASKED, self.after, self.horizon, longest=2**22)
        else:
            response = self.after.impulse(int(time))
        return np.asarray(self.gain**2 * np.square(response).sum(axis=(1, 2)))

    @property
    def mean_squared_error(self) -> float:
        """The sum of these variances over all outputs, after very many samples."""
        return float(self.variances().sum())


def placed(
    system: LinearFilter,
    place: Place,
    adjacency: Adjacency = "event",
    contributions: int = 1,
    horizon: int | None = None,
) -> Placement:
    """Put the noise somewhere.

    - "input": independent noise on every sample of every input, before the filter.
    - "output": independent noise on every output, after the filter.
    - "zero_forcing": noise between two parts of the filter, which are near its square root.

    Examples
    --------
    >>> from discreet.sequential.filters.transfer_function import TransferFunction
    >>> smooth = TransferFunction([0.1], [1.0, -0.9])
    >>> [round(placed(smooth, place).mean_squared_error, 3) for place in PLACES]
    [0.053, 0.053, 0.021]
    >>> [round(placed(smooth, place, "signal").mean_squared_error, 3) for place in PLACES]
    [0.053, 1.0, 0.053]
    """
    check_one_of(ASKED, "placement", place, PLACES)
    check_one_of(ASKED, "adjacency", adjacency, ("event", "signal"))
    before, after = np.eye(system.inputs)[:, :, None], system
    if place != "input":
        before, after = whole_response(ASKED, system, horizon), FiniteFilter.identity(system.outputs)
    if place == "zero_forcing":
        parts = zero_forcing(before, per_signal=adjacency == "signal")
        before, after = parts.before[:, :, :horizon], FiniteFilter(parts.after)
    return Placement(place, FiniteResponse(before), after, adjacency, contributions, horizon)


@dataclass(frozen=True)
class PlacementReport:
    """The error that each placement of the noise leaves.

    Parameters
    ----------
    placements : tuple of Placement
        Those that are possible, the best one first.
    errors : tuple of float
        Their mean squared errors after very many samples, summed over outputs.
    unit : str
        What errors are measured in.

    Examples
    --------
    >>> from discreet.sequential import TransferFunction
    >>> print(better_placement(TransferFunction([0.1], [1.0, -0.9])))
       placement    gain  mean squared error
    zero_forcing   0.381             0.02108
           input       1             0.05263
          output  0.2294             0.05263
    """

    placements: tuple[Placement, ...]
    errors: tuple[float, ...]
    unit: str

    @property
    def best(self) -> Placement:
        """The one with the least mean squared error."""
        return self.placements[0]

    @property
    def mean_squared_errors(self) -> dict[str, float]:
        """By the names of the placements."""
        return {one.place: error for one, error in zip(self.placements, self.errors, strict=True)}

    @property
    def table(self) -> Columns:
        """A row for each: what one unit moves what gets noise by, and what is left of the noise."""
        figures = {"gain": [one.gain for one in self.placements], "mean squared error": self.errors}
        series = (Series(name, np.array([float(f"{x:.4g}") for x in each])) for name, each in figures.items())
        return Columns({"placement": tuple(self.mean_squared_errors)}, tuple(series))

    def __str__(self) -> str:
        return self.table.text()

    def _repr_html_(self) -> str:
        return self.table.html("Placements of the noise")

    def plot(self, ax: Axes | None = None) -> Axes:
        """The root mean squared error of each.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        """
        ax = drawn_on("placements of noise", ax)
        ax.barh(list(self.mean_squared_errors), np.sqrt(self.errors))
        ax.invert_yaxis()
        ax.locator_params(axis="x", nbins=5)
        ax.set_xlabel(f"root mean squared error, in {self.unit}")
        return ax


def better_placement(
    system: LinearFilter, *, adjacency: Adjacency = "event", contributions: int = 1, horizon: int | None = None
) -> PlacementReport:
    """Compare noise at the input, at the output, and between two parts of a filter.

    For one signal and single events, noise at the input and at the output leaves the same error, since both the gain of
    the one and what remains of the other are the H2 norm, and zero forcing never leaves more. Where whole signals are
    hidden, the output needs noise for the H-infinity norm, which is larger, and nothing is better than the input. With
    many people who feed an input each, noise at the output is added once, and at the input once for each of them.

    Parameters
    ----------
    system : TransferFunction or StateSpace
        Public. The filter.
    adjacency : {"event", "signal"}
        Public. What is hidden: single samples, or the whole signal of one input.
    contributions : int
        Public. In how many samples of its input a unit takes part at most, with adjacency "event".
    horizon : int, optional
        Public. How many samples there are at most.

    Returns
    -------
    PlacementReport
        For a bound of one and noise with a multiplier of one.

    Examples
    --------
    >>> from discreet.sequential import TransferFunction
    >>> better_placement(TransferFunction([0.1], [1.0, -0.9])).best.place
    'zero_forcing'
    """
    found = [placed(system, "input", adjacency, contributions, horizon)]
    with suppress(LongResponse):  # which noise at the input alone can hide
        found += [placed(system, place, adjacency, contributions, horizon) for place in PLACES[1:]]
    found.sort(key=lambda one: float(f"{one.mean_squared_error:.6g}"))  # of equal ones, the simplest first
    return PlacementReport(tuple(found), tuple(one.mean_squared_error for one in found), "bounds times multiplier")
