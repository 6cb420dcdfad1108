"""A released density: called with points, drawn, sampled and read, at no further cost."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.digits import error_bar
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.knob import check_whole
from discreet.core.receipt import Receipt
from discreet.questions.box import Box
from discreet.releases.columns import KEPT
from discreet.releases.drawing import drawn_on
from discreet.releases.simulation import Simulation
from discreet.statistics.curves.reading import CurveBand, Reading

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN, WIDE = 24, 40  # lines that are printed, and letters of the longest bar


@dataclass(frozen=True)
class DensityEstimate:
    """A released density: call it with points.

    It is nowhere negative and its integral is one: of all such functions the nearest to what was released, in mean
    square, which is no farther from any density than the release was (Glad, Hjort and Ushakov 2003).

    Parameters
    ----------
    box : Box
        The columns and their bounds; outside it the density is zero.
    reading : Reading
        What was released, and how it is read off.
    smoothing : str
        What makes a density of records, in words.
    confidence : float
        Of the band.
    receipt : Receipt
        What it cost.
    """

    box: Box
    reading: Reading
    smoothing: str
    confidence: float
    receipt: Receipt

    @property
    def count(self) -> float:
        """How many records it is of, about: those without a missing value."""
        return max(self.reading.count, 0.0)

    def __call__(self, points: ArrayLike) -> Array:
        """The density at points: numbers of any shape for one column, else an array whose last axis is the columns."""
        values = self.reading.at(self._inside(points)) - self._level
        return self._shaped(np.maximum(values, 0.0), points)

    def standard_error(self, points: ArrayLike) -> Array:
        """The standard deviation of the noise at points, before anything is done about negative values."""
        return self._shaped(self.reading.standard_errors(self._inside(points)), points)

    def band(self, points: ArrayLike) -> CurveBand:
        """A band that holds, at all points of the box at once, what the same smoothing makes of the exact records.

        With the density's confidence; where that smoothing is negative, zero counts. It measures the noise alone: how
        far the smoothing itself or a sample is from the density of a population is another matter.
        """
        band = self.reading.band(self._inside(points))
        low, high = (self._shaped(np.maximum(end, 0.0), points) for end in (band.low, band.high))
        return CurveBand(low, high)

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

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw it: a line with its band for one column, colours for two.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; new ones by default.
        """
        if self.box.size > 2:
            raise ParameterError("draw a density", f"it has {self.box.size} columns", "Draw one or two.", KEPT)
        axes = drawn_on("a density", axes)
        points = [self._looked(axis) for axis in range(self.box.size)]
        if self.box.size == 1:
            band, stepped = self.band(points[0]), self.reading.readers[0].stepped
            high = np.where(np.isfinite(band.high), band.high, self(points[0]).max())
            axes.fill_between(points[0], band.low, high, alpha=0.3, step="mid" if stepped else None)
            axes.plot(points[0], self(points[0]), drawstyle="steps-mid" if stepped else "default")
            axes.set_ylabel("density")
        else:
            axes.pcolormesh(*points, self._shares.T * (self._shares.size / self.box.volume), shading="nearest")
            axes.set_ylabel(self.box.columns[1])
        axes.set_xlabel(self.box.columns[0])
        return axes

    @property
    def title(self) -> str:
        """What it is, and how far off."""
        band = self.band(np.stack(np.meshgrid(*map(self._looked, range(self.box.size)), indexing="ij"), axis=-1))
        error = error_bar(float((band.high - band.low).max()) / 2)
        of = f"density of {', '.join(self.box.columns)}, {self.smoothing}"
        return f"{of}, everywhere ± {error} or less ({100 * self.confidence:.10g}% for these data)"

    def __str__(self) -> str:
        if self.box.size > 1:
            return self.title
        points = self.box.unscaled((np.arange(SHOWN)[:, None] + 0.5) / SHOWN)[:, 0]
        values, names = self(points), [f"{point:.4g}" for point in points]
        width, most = max(map(len, names)), max(float(values.max()), 1e-300)
        lines = [
            f"{name:>{width}} {value:10.4g} {'#' * round(WIDE * value / most)}".rstrip()
            for name, value in zip(names, values, strict=True)
        ]
        return "\n".join([self.title, *lines])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>{self.receipt._repr_html_()}"

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
