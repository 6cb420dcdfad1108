"""Where noise is added to a filter: at its input, at its output, or between two parts of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from discreet.core.checks import check_one_of
from discreet.core.grid import Array
from discreet.sequential.filters.finite_filter import FiniteFilter
from discreet.sequential.filters.finite_response import FiniteResponse
from discreet.sequential.filters.linear_filter import LinearFilter, whole_response
from discreet.sequential.filters.zero_forcing import zero_forcing

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
