"""A released function of one number, with a band."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.grid import Array
from discreet.releases.columns import Columns, ConfidenceInterval, Series
from discreet.releases.drawing import draw_band
from discreet.releases.release import Release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 24  # points that are printed


@dataclass(frozen=True, kw_only=True)
class Curve(Release):
    """A released function: call it with points. Its band holds all of it at once."""

    stepped: ClassVar[bool] = False
    y: ClassVar[str] = "value"

    @property
    @abstractmethod
    def x(self) -> str:
        """What it is a function of: the name of a column."""

    @property
    @abstractmethod
    def points(self) -> Array:
        """Public points that show all of it, ascending."""

    @abstractmethod
    def __call__(self, points: ArrayLike) -> Array:
        """The function at points."""

    @abstractmethod
    def band(self, points: ArrayLike) -> ConfidenceInterval[Array]:
        """The ends of the band at points."""

    def standard_errors(self, points: ArrayLike) -> Array | None:
        """The standard deviations of its errors at points, where they are known."""
        return None

    @property
    def values(self) -> Array:
        """The function at its `points`."""
        return self(self.points)

    @property
    def standard_error(self) -> Array | None:
        """The standard deviations of its errors at its `points`, where they are known."""
        return self.standard_errors(self.points)

    @property
    def interval(self) -> ConfidenceInterval[Array]:
        """The ends of its band at its `points`."""
        return self.band(self.points)

    def tabulated(self) -> Columns:
        """The function and its band at its `points`."""
        return self._at(self.points)

    def shown(self) -> Columns:
        """The same at a few of them."""
        return self._at(self.points[np.unique(np.linspace(0, len(self.points) - 1, SHOWN).astype(np.intp))])

    def _at(self, points: Array) -> Columns:
        return Columns(
            {self.x: points}, (Series(self.y, self(points), self.standard_errors(points), *self.band(points)),)
        )

    def draw(self, ax: Axes) -> None:
        """A line in its band."""
        draw_band(ax, self.points, self.values, self.interval, self.stepped)
        ax.set_xlabel(self.x)
        ax.set_ylabel(self.y)
