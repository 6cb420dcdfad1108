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
    """What each placement of the noise leaves of it, for noise and a bound of one.

    Parameters
    ----------
    placements : tuple of Placement
        Those that are possible, the best one first.

    Examples
    --------
    >>> from discreet.sequential import TransferFunction
    >>> print(better_placement(TransferFunction([0.1], [1.0, -0.9])))
       placement      gain  mean squared error
    zero_forcing  0.381031           0.0210785
           input         1           0.0526316
          output  0.229416           0.0526316
    """

    placements: tuple[Placement, ...]

    @property
    def best(self) -> Placement:
        """The one with the least mean squared error."""
        return self.placements[0]

    @property
    def mean_squared_errors(self) -> dict[str, float]:
        """After very many samples, summed over outputs; in units of the squared bound times multiplier."""
        return {one.place: one.mean_squared_error for one in self.placements}

    @property
    def table(self) -> Columns:
        """A row for each: what one unit moves what gets noise by, and what is left of the noise."""
        gains = Series("gain", np.array([one.gain for one in self.placements]))
        errors = Series("mean squared error", np.array(list(self.mean_squared_errors.values())))
        return Columns({"placement": tuple(self.mean_squared_errors)}, (gains, errors))

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
        ax.barh(list(self.mean_squared_errors), np.sqrt(list(self.mean_squared_errors.values())))
        ax.invert_yaxis()
        ax.set_xlabel("root mean squared error, in bounds times multiplier")
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

    Examples
    --------
    >>> from discreet.sequential import TransferFunction
    >>> better_placement(TransferFunction([0.1], [1.0, -0.9])).best.place
    'zero_forcing'
    """
    found = [placed(system, "input", adjacency, contributions, horizon)]
    with suppress(LongResponse):  # which noise at the input alone can hide
        found += [placed(system, place, adjacency, contributions, horizon) for place in PLACES[1:]]
    return PlacementReport(tuple(sorted(found, key=lambda one: one.mean_squared_error)))
