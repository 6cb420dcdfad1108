"""A released series, made of its lowest frequencies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.grid import Array
from discreet.questions.series.fourier import FourierBasis
from discreet.releases.columns import Columns, ConfidenceInterval
from discreet.releases.curve import Curve
from discreet.schema.dates import Temporal

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True)
class FourierSeries(Curve):
    """A released series: call it with times.

    It is the exact series without its higher frequencies, plus noise. The band holds that smooth part, at all periods
    at once; what the higher frequencies would add is not in it, unless all are released.

    Parameters
    ----------
    time : str
        What it is a function of.
    start, end : float
        Of the first period, and of the last.
    basis : FourierBasis
        Which frequencies of how many periods.
    numbers : array of shape (basis.size,)
        The noisy coefficients.
    stddev : float
        The standard deviation of the noise on each of them.
    half_width : float
        Half the width of the band.
    kind : Date or Datetime, optional
        What times stand for: they are printed and drawn as such.

    Examples
    --------
    >>> from discreet.sequential import series_of_events
    >>> days = np.repeat(np.arange(28.0), 100 + 50 * (np.arange(28) % 7 == 0))
    >>> found = series_of_events({"day": days}, "day", bounds=(0, 27), periods=28, coefficients=15, epsilon=10.0)
    >>> found.values[[0, 1]].round(-1)
    array([150., 100.])
    """

    time: str
    start: float
    end: float
    basis: FourierBasis
    numbers: Array
    stddev: float
    half_width: float
    kind: Temporal | None = None
    y: ClassVar[str] = "value"

    @property
    def x(self) -> str:
        """What it is a function of."""
        return self.time

    @property
    def coefficients(self) -> int:
        """How many frequencies it has, the constant among them."""
        return self.basis.coefficients

    @property
    def points(self) -> Array:
        """The middles of the periods."""
        return np.asarray(self.start + (np.arange(self.basis.periods) + 0.5) * self._width, dtype=np.float64)

    def __call__(self, points: ArrayLike) -> Array:
        """The series at these times; at the middle of a period, that of the period."""
        return np.asarray(np.tensordot(self.numbers, self._waves(points), axes=1))

    def band(self, points: ArrayLike) -> ConfidenceInterval[Array]:
        """The ends of the band."""
        values = self(points)
        return ConfidenceInterval(values - self.half_width, values + self.half_width)

    def standard_errors(self, points: ArrayLike) -> Array:
        """The standard deviation of the noise."""
        return np.asarray(self.stddev * np.sqrt(np.square(self._waves(points)).sum(axis=0)))

    def draw(self, ax: Axes) -> None:
        """A line in its band."""
        super().draw(ax)
        if self.kind is not None:
            ax.xaxis.set_major_formatter(lambda time, _: self._named(time))

    def _at(self, points: Array) -> Columns:
        found = super()._at(points)
        return found if self.kind is None else Columns({self.x: list(map(self._named, points))}, found.series)

    def _named(self, time: float) -> str:
        """The date of a number, which may be a rounding below that of a whole day."""
        assert self.kind is not None
        return self.kind.shown(round(float(time), 6))

    @property
    def _width(self) -> float:
        return (self.end - self.start) / self.basis.periods

    def _waves(self, points: ArrayLike) -> Array:
        times = np.asarray(points, dtype=np.float64)
        places = (times - self.start) / self._width - 0.5
        return self.basis.at(places.ravel()).reshape(-1, *times.shape)


def series_from(numbers: Array, periods: int) -> Array:
    """The series of a basis' coefficients in the last axis, by a fast transform; leading axes stack.

    Examples
    --------
    >>> basis = FourierBasis(10, 4)
    >>> numbers = np.arange(7.0)
    >>> bool(np.allclose(series_from(numbers, 10), numbers @ basis.waves))
    True
    """
    size = numbers.shape[-1]
    found = np.zeros((*numbers.shape[:-1], periods // 2 + 1), dtype=np.complex128)
    cosines, sines = numbers[..., 1::2], numbers[..., 2::2]
    found[..., 0] = numbers[..., 0]
    found[..., 1 : 1 + cosines.shape[-1]] = cosines / math.sqrt(2)
    found[..., 1 : 1 + sines.shape[-1]] -= 1j * sines / math.sqrt(2)
    if size == periods and periods % 2 == 0:
        found[..., -1] = numbers[..., -1]
    return np.fft.irfft(found, periods, norm="ortho")
