"""Which placement of the noise leaves the least error."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.releases.columns import Columns, Series
from discreet.releases.drawing import drawn_on
from discreet.sequential.filters.linear_filter import LinearFilter, LongResponse
from discreet.sequential.filters.placement import PLACES, Adjacency, Placement, placed

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    adjacency, contributions, horizon
        Public. As for `FilterStream`.

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
