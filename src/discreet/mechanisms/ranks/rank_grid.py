"""A grid of cells between public bounds, and the distance of a rank on it from a target rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps, upwards
from discreet.core.neighbors import Neighbors

RANK = 2**28  # the unit that ranks are counted in: a share is rounded to a multiple of 1 / RANK
COARSE, FINER = 2**20, 2**6  # up to COARSE cells, there are FINER places from one to the next
AT_HAND = 2**16  # values that are processed together


@dataclass(frozen=True)
class RankGrid:
    """Equal cells between public bounds.

    Parameters
    ----------
    lower, upper : float
        Public. What the first and the last cell stand for.
    cells : int
        Public. The number of steps from the one to the other.

    Examples
    --------
    >>> grid = RankGrid(0.0, 10.0, 20)
    >>> grid.values(grid.nearest(np.array([3.1, np.nan, 99.0])))
    array([ 3., 10.])
    """

    lower: float
    upper: float
    cells: int

    def __post_init__(self) -> None:
        if not (self.lower < self.upper and math.isfinite(self.upper - self.lower)):
            raise ParameterError("bounds", f"they are {self.lower} and {self.upper}", "Give the lower one first.")
        check_whole("bounds", "cells", self.cells, most=2**50)

    @property
    def finer(self) -> int:
        """The number of places from one cell to the next: 1 where cells are fine enough to stand for values."""
        return FINER if self.cells <= COARSE else 1

    def nearest(self, values: Array) -> Steps:
        """The cell of each value; missing ones are left out."""
        return self._rounded(values, self.cells)

    def places(self, values: Array) -> Steps:
        """The place of each value, that of cell i being i * finer; missing ones are left out.

        Examples
        --------
        >>> RankGrid(0.0, 10.0, 20).places(np.array([3.0, 3.1, 3.5])) / FINER
        array([6.      , 6.203125, 7.      ])
        """
        return self._rounded(values, self.cells * self.finer)

    def _rounded(self, values: Array, steps: int) -> Steps:
        known = there(values)
        out = np.empty(len(known), np.int64)
        for start in range(0, len(known), AT_HAND):
            near = self.rounded(known[start : start + AT_HAND], steps)
            out[start : start + AT_HAND] = np.clip(near, 0, steps, out=near)
        return out

    def rounded(self, values: Array, steps: int | None = None) -> Array:
        """The distance of values from the lower bound, rounded to cells, or to other equal steps between the bounds.

        As floats, which may lie beyond the bounds: no value is moved, and a missing one is nan.
        """
        with np.errstate(over="ignore"):
            shares = values - self.lower
            shares /= self.upper - self.lower
            shares *= self.cells if steps is None else steps
        return np.rint(shares, out=shares)

    def values(self, cells: Steps) -> Array:
        """What these cells stand for."""
        return np.minimum(self.lower + cells * ((self.upper - self.lower) / self.cells), self.upper)


def there(values: Array) -> Array:
    """The values that are not missing."""
    missing = np.isnan(values)
    return values[~missing] if missing.any() else values


@dataclass(frozen=True)
class Target:
    """The target rank, and the scale by which places get less likely; both in units of 1 / `RANK`.

    Parameters
    ----------
    q : float
        Public. In [0, 1].
    scale : float
        Public. A place that is this much farther off is e times less likely.
    """

    q: float
    scale: float

    @classmethod
    def priced(cls, q: float, epsilon: float, rows: int, neighbors: Neighbors, *, parted: bool = False) -> Target:
        """With the scale that costs epsilon; rounded up."""
        return cls(q, upwards(reach(q, neighbors, parted=parted) * rows / Fraction(epsilon)))

    @property
    def ranks(self) -> float:
        return self.scale / RANK

    def off(self, below: Steps, records: Steps | int) -> Steps:
        """How far the number of records below is above the target, among all records; negative where it is less."""
        return below * RANK - round(self.q * RANK) * np.asarray(records)


def reach(q: float, neighbors: Neighbors, *, parted: bool = False) -> int:
    """How much one row can change the difference of the scores of two places, in units of 1 / `RANK` (`quantile.md`).

    Parameters
    ----------
    q : float
        Public. In [0, 1].
    neighbors : Neighbors
        Public. The relation.
    parted : bool
        Public. Whether there are several parts of the records, of which a row may leave one and join another.
    """
    part = round(q * RANK)
    joined = RANK if part in (0, RANK) else 2 * max(part, RANK - part)
    if neighbors is Neighbors.ADD_REMOVE:
        return joined
    if parted:
        return 2 * joined
    return RANK if part in (0, RANK) else 2 * RANK
