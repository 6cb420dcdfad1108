"""What streams of series share: what people add at each time, a price for all releases, and a state used once."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.exact import Exact
from discreet.core.grid import Array, Grid, Steps
from discreet.core.held import exclusive
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.sequential.continual_release import ContinualRelease, OpenStream
from discreet.sequential.reading import places_of, values_of
from discreet.trust.grant import Grant

MOST_SERIES = 2**20
ENDLESS = 2**62
Described = TypeVar("Described", bound="SeriesStream", covariant=True)


@dataclass(frozen=True)
class Membership(CheckedParameters):
    """How a unit takes part in series.

    Parameters
    ----------
    bound : Bound
        Public. What each value is clipped to.
    series : int
        Public. How many series there are.
    memberships : int
        Public. To how many of them a unit adds values at most, over all times; at one time, one value to each,
        unless it has few rows in all: see `rows`.
    neighbors : Neighbors
        Public. Whether a unit is added or removed, or replaced by any other, which may be there at other times.
    """

    bound: Bound
    series: int
    memberships: int
    neighbors: Neighbors

    def __post_init__(self) -> None:
        check_whole("series", "series", self.series, most=MOST_SERIES)
        check_whole("series", "memberships", self.memberships, most=self.series)

    def factor(self, norm: Norm, each: int, both: int) -> float:
        """How far a unit moves the samples of all series, in units of how far it moves a single one; rounded up.

        A unit is in at most `each` samples of a series, and two units in at most `both` together. It moves a single one
        by one bound, or by two where values of both signs are replaced: then two units in the same samples are the
        farthest apart. Where values of one sign are replaced, two units in different samples are, of different series
        if there are as many, and each moves by one bound.
        """
        moved = self._moved(each, both)
        return float(moved) if norm == "l1" else math.sqrt(moved) * (1 + 2.0**-50)

    def rows(self, norm: Norm, each: int, both: int) -> int:
        """How many rows of a unit, wherever they are, move the samples no farther than `factor` says; at least one.

        They move them farthest where all fall together: r rows by r, in either norm. Where values of one sign are
        replaced, those of the other unit may fall together elsewhere: then by 2 r in l1, and by sqrt(2) r in l2.
        """
        moved = self._moved(each, both) // (2 if self._apart else 1)
        return max(1, moved if norm == "l1" else math.isqrt(moved))

    @property
    def _apart(self) -> bool:
        """Whether two units are the farthest apart in different samples."""
        return self.neighbors is Neighbors.REPLACE and self.bound.nonnegative

    def _moved(self, each: int, both: int) -> int:
        """How many samples a unit, or two where one is replaced, move by one bound; see `factor`."""
        if not self._apart:
            return self.memberships * each
        shared = max(0, 2 * self.memberships - self.series)
        return 2 * (self.memberships - shared) * each + shared * both

    def sums(self, asked: str, grid: Grid, values: ArrayLike, places: ArrayLike | None) -> Steps:
        """What all values add up to in each series, in grid steps: each clipped and cut.

        A value that is no number, or is for a series that is not there, counts for nothing.
        """
        given = values_of(asked, values)
        where = np.zeros(given.shape, np.int64) if places is None else places_of(asked, places, self.series)
        if where.shape != given.shape or (places is None and self.series > 1):
            obstacle = f"values of shape {given.shape} and places of shape {where.shape}"
            raise ParameterError(asked, obstacle, "Give one number for each unit, and the place of its series.")
        sums = np.zeros(self.series + 1, np.int64)  # the last is of values for a series that is not there
        np.add.at(sums, where, grid.cut(self.bound.clip(given[:, None]))[:, 0].astype(np.int64))
        return sums[:-1]


class SeriesStream(ContinualRelease):
    """Release a number for each of several series, time after time: a description.

    A subclass has the fields `bound`, `series`, `memberships` and `neighbors`.

    Parameters
    ----------
    bound : Bound
        Public. What each unit's value at a time is clipped to; by default numbers from 0 to 1.
    memberships : int
        Public. To how many of them a unit adds values at most.
    """

    bound: Bound
    series: int
    memberships: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self.membership, self.grid  # noqa: B018 - what is wrong is found now, before anything is charged

    @cached_property
    def membership(self) -> Membership:
        """How a unit takes part."""
        return Membership(self.bound, self.series, self.memberships, self.neighbors)

    @property
    @abstractmethod
    def grid(self) -> Grid:
        """The grid that values are cut to and noise is drawn on."""

    @property
    def last_clock(self) -> int:
        """After how many updates there is none; very many, where a stream has no end."""
        return ENDLESS

    @abstractmethod
    def opened(self, grant: Grant) -> OpenSeries[Any]:
        """The object that takes updates, for whoever has paid: see `open`."""


class OpenSeries(OpenStream[Described]):
    """Series that are paid for."""

    def __init__(self, grant: Grant) -> None:
        super().__init__(grant)
        self.clock = 0

    @exclusive
    def update(self, values: ArrayLike, places: ArrayLike | None = None) -> Array:
        """Take what all units add at the next time, and release a number for each series.

        Parameters
        ----------
        values : array of shape (units,)
            Secret. One number for each unit that is there, clipped to the bound; what is no number counts for nothing.
        places : array of int, shape (units,), optional
            Secret. The series that each adds to, counted from 0; for a single series it is left out. A value for a
            series that is not there counts for nothing.

        Returns
        -------
        array of shape (series,)
        """
        own = self.description
        if self.clock >= own.last_clock:
            obstacle = f"all {own.last_clock} times that were planned are over"
            raise ParameterError(own.purpose, obstacle, "Plan for more.", horizon=own.last_clock)
        sums = Exact(own.membership.sums(own.purpose, own.grid, values, places))
        self.begin_update()
        found = self._released(sums)
        self.clock += 1
        return found

    @exclusive
    @abstractmethod
    def _released(self, sums: Exact[Steps]) -> Array:
        """What is released of the exact sums, which nothing else depends on."""
