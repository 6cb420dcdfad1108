"""A released density: called with points, drawn, sampled and read, at no further cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.columns.box import Box
from discreet.releases.columns import KEPT, Columns, ConfidenceInterval, Series
from discreet.releases.curve import Curve
from discreet.releases.simulation import Simulation
from discreet.statistics.curves.reading import Reading

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True)
class DensityEstimate(Curve):
    """A released density: call it with points.

    It is nowhere negative and its integral is one: of all such functions the nearest to what was released, in mean
    square, which is no farther from any density than the release was (Glad, Hjort and Ushakov 2003).

    Parameters
    ----------
    box : Box
        The columns and their bounds; outside it the density is zero.
    reading : Reading
        What was released, and how it is evaluated.
    """

    box: Box
    reading: Reading
    y: ClassVar[str] = "density"
    stepped: ClassVar[bool] = True

    @property
    def x(self) -> str:
        return ", ".join(self.box.columns)

    @property
    def points(self) -> Array:
        """Points that show all of it: ascending for one column, else one in each row."""
        each = [self._looked(axis) for axis in range(self.box.size)]
        if self.box.size == 1:
            return each[0]
        return np.stack(np.meshgrid(*each, indexing="ij"), axis=-1).reshape(-1, self.box.size)

    @property
    def count(self) -> float:
        """About how many records it is of: those without a missing value."""
        return max(self.reading.count, 0.0)

    def __call__(self, points: ArrayLike) -> Array:
        """The density at points: numbers of any shape for one column, else an array whose last axis is the columns."""
        values = self.reading.at(self._inside(points)) - self._level
        return self._shaped(np.maximum(values, 0.0), points)

    def standard_errors(self, points: ArrayLike) -> Array:
        """The standard deviation of the noise at points, before anything is done about negative values."""
        return self._shaped(self.reading.standard_errors(self._inside(points)), points)

    def band(self, points: ArrayLike) -> ConfidenceInterval[Array]:
        """A band that holds, at all points of the box at once, what the same smoothing makes of the exact records.

        With the density's confidence; where that smoothing is negative, zero counts. It measures the noise alone: how
        far the smoothing itself or a sample is from the density of a population is another matter.
        """
        band = self.reading.band(self._inside(points))
        low, high = (self._shaped(np.maximum(end, 0.0), points) for end in (band.low, band.high))
        return ConfidenceInterval(low, high)

    def integral(self, lower: ArrayLike | None = None, upper: ArrayLike | None = None) -> float:
        """The share of the records between two points, in all columns; one where neither is given."""
        ends = (self.box.lower if lower is None else lower, np.inf if upper is None else upper)
        low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), (self.box.size,)) for end in ends)
        shares = self._shares
        for axis, reader in enumerate(self.reading.readers):
            cells = len(reader.places)
            below, above = ((end[axis] - self.box.lower[axis]) / self.box.width[axis] * cells for end in (low, high))
            left = np.arange(cells)
            inside = np.clip(np.minimum(left + 1, above) - np.maximum(left, below), 0.0, 1.0)
            shares = np.tensordot(shares, inside, axes=(0, 0))
        return float(shares)

    def sample(self, size: int, seed: int = 0) -> Array:
        """Points drawn from the density, the same for the same seed: post-processing. One row for each point."""
        check_whole("sample of a density", "size", size, least=0)
        drawn = Simulation(seed).uniform((int(size), 1 + self.box.size))
        places = np.searchsorted(np.cumsum(self._shares)[:-1], drawn[:, 0], side="right")
        cells = np.stack(np.unravel_index(places, self._shares.shape), axis=1)
        points = self.box.unscaled((cells + drawn[:, 1:]) / self._shares.shape)
        return points[:, 0] if self.box.size == 1 else points

    def _at(self, points: Array) -> Columns:
        columns = zip(self.box.columns, points.reshape(-1, self.box.size).T, strict=True)
        series = Series(self.y, self(points), self.standard_errors(points), *self.band(points))
        return Columns(dict(columns), (series,))

    def draw(self, ax: Axes) -> None:
        """A line with its band for one column, colours for two."""
        if self.box.size > 2:
            raise ParameterError("draw a density", f"it has {self.box.size} columns", "Draw one or two.", KEPT)
        if self.box.size == 1:
            return super().draw(ax)
        each = [self._looked(axis) for axis in range(2)]
        ax.pcolormesh(*each, self._shares.T * (self._shares.size / self.box.volume), shading="nearest")
        ax.set_xlabel(self.box.columns[0])
        ax.set_ylabel(self.box.columns[1])
        return None

    def _inside(self, points: ArrayLike) -> Array:
        """The nearest places in the box from 0 to 1, one in each row."""
        return np.clip(np.nan_to_num(self.box.scaled(points)), 0.0, 1.0)

    def _shaped(self, values: Array, points: ArrayLike) -> Array:
        """Values in the box from 0 to 1 as they are in this box, in the shape of the points; zero outside."""
        places = self.box.scaled(points)
        inside = ((places >= 0) & (places <= 1)).all(axis=1)
        own = np.where(inside, values / self.box.volume, np.where(np.isnan(places).any(axis=1), np.nan, 0.0))
        return own.reshape(np.shape(points) if self.box.size == 1 else np.shape(points)[:-1])

    def _looked(self, axis: int) -> Array:
        return np.asarray(self.box.lower[axis] + self.reading.readers[axis].places * self.box.width[axis])

    @cached_property
    def _level(self) -> float:
        """What is taken off everywhere, so that the integral of what is left above zero is one."""
        values = np.sort(self.reading.looked, axis=None)[::-1]
        levels = (np.cumsum(values) - len(values)) / np.arange(1, len(values) + 1)
        return float(levels[np.flatnonzero(values > levels)[-1]])

    @cached_property
    def _shares(self) -> Array:
        """The share of the records in each cell around a place that is looked at."""
        above = np.maximum(self.reading.looked - self._level, 0.0)
        return np.asarray(above / above.sum())
