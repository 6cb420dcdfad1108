"""What small blocks of records say about the slopes of a regression: one vote for each block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array
from discreet.schema.schema import Schema

FARTHEST = 2.0**20  # of a slope, where all columns are scaled to [-1, 1]
NEAREST = -40.0  # of the binary logarithm of a distance
RIDGE, LEAST, BLURRED = 2.0**-40, 2.0**-30, 2.0**-12  # see `slopes_of`


@dataclass(frozen=True)
class ScaledColumns:
    """Columns scaled to [-1, 1] by their public bounds, the target last.

    Parameters
    ----------
    columns : tuple of str
        Public. What explains.
    target : str
        Public. What is explained.
    middles, halves : tuple of float
        Public. The middle between the bounds of each column and of the target, and half their distance.

    Examples
    --------
    >>> from discreet.schema.schema import Number
    >>> frame = ScaledColumns.of(Schema({"age": Number(0, 100), "pay": Number(0, 5000)}), ("age",), "pay")
    >>> frame.scaled(np.array([[75.0, 0.0]]))
    array([[ 0.5, -1. ]])
    >>> frame.own_slopes(np.array([0.5])), frame.own_intercept(np.array([0.5]), 0.25)
    (array([25.]), 1875.0)
    """

    columns: tuple[str, ...]
    target: str
    middles: tuple[float, ...]
    halves: tuple[float, ...]

    @classmethod
    def of(cls, schema: Schema, columns: tuple[str, ...], target: str) -> ScaledColumns:
        """The frame of these columns, between the schema's bounds."""
        numbers = [schema.number(name) for name in (*columns, target)]
        middles = tuple(0.5 * one.lower + 0.5 * one.upper for one in numbers)
        return cls(columns, target, middles, tuple(0.5 * one.upper - 0.5 * one.lower for one in numbers))

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, the target last."""
        return (*self.columns, self.target)

    def scaled(self, rows: Array) -> Array:
        """Records between -1 and 1."""
        return (rows - np.array(self.middles)) / np.array(self.halves)

    @property
    def units(self) -> Array:
        """What a slope of one is worth in the columns' own units."""
        return self.halves[-1] / np.array(self.halves[:-1])

    def own_slopes(self, slopes: Array) -> Array:
        """Slopes in the columns' own units."""
        return slopes * self.units

    def own_intercept(self, slopes: Array, intercept: float) -> float:
        """The target's value where all columns are 0, from that in the middle of their bounds."""
        return float(self.middles[-1] + self.halves[-1] * intercept - self.own_slopes(slopes) @ self.middles[:-1])


@dataclass(frozen=True)
class Band:
    """Records near a plane: those whose residual is at most `half` away from `middle`. All of it was released."""

    slopes: tuple[float, ...]
    middle: float
    half: float

    def only(self, rows: Array) -> Array:
        """The same rows, with nan in those outside."""
        inside = np.abs(residuals(rows, self.slopes) - self.middle) <= self.half
        return np.where(inside[..., None], rows, np.nan)


@dataclass(frozen=True)
class BlockSlopes:
    """The slopes of each block by least squares, squeezed into (-1, 1).

    Parameters
    ----------
    frame : ScaledColumns
        Public. The columns.
    band : Band, optional
        Public. Records outside have no part.
    """

    frame: ScaledColumns
    band: Band | None = None

    def __call__(self, blocks: Array) -> Array:
        """One row for each block."""
        return squeezed(self.slopes(blocks))

    def slopes(self, blocks: Array) -> Array:
        """One row of scaled slopes for each block."""
        rows = self.frame.scaled(blocks)
        return slopes_of(rows if self.band is None else self.band.only(rows))


@dataclass(frozen=True)
class BlockDistances(BlockSlopes):
    """How far the slopes of each block are from given ones, as binary logarithms.

    Parameters
    ----------
    frame, band
        As for `BlockSlopes`.
    center : tuple of float
        Public. The given slopes.
    together : int
        Public. A block is this many smaller ones, of which the nearest slope counts, in each column by itself.
    """

    center: tuple[float, ...] = ()
    together: int = 1

    def __call__(self, blocks: Array) -> Array:
        """One row for each block."""
        apart = blocks.reshape(len(blocks) * self.together, -1, blocks.shape[2])
        distances = np.abs(self.slopes(apart) - np.array(self.center))
        nearest = distances.reshape(len(blocks), self.together, -1).min(axis=1)
        return np.log2(np.maximum(nearest, 2.0**NEAREST))


@dataclass(frozen=True)
class OneSlope(BlockSlopes):
    """A single slope of each block, as it is."""

    column: int = 0

    def __call__(self, blocks: Array) -> Array:
        """One number for each block."""
        return self.slopes(blocks)[:, [self.column]]


@dataclass(frozen=True)
class Residuals:
    """How far each record, a block of its own, is above a plane; or how far from a residual, where one is given."""

    frame: ScaledColumns
    slopes: tuple[float, ...]
    middle: float | None = None

    def __call__(self, blocks: Array) -> Array:
        """One number for each record, nan for an empty place."""
        found = residuals(self.frame.scaled(blocks), self.slopes)
        return found if self.middle is None else np.abs(found - self.middle)


def residuals(rows: Array, slopes: tuple[float, ...]) -> Array:
    """The target less what the slopes make of the columns."""
    return rows[..., -1] - (rows[..., :-1] * np.array(slopes)).sum(axis=-1)


def squeezed(slopes: Array) -> Array:
    """All numbers, in their order, between -1 and 1: half of the room is for those between -1 and 1 themselves."""
    return slopes / (1 + np.abs(slopes))


def stretched(squeezed: Array) -> Array:
    """The slopes that were squeezed."""
    return squeezed / (1 - np.abs(squeezed))


def slopes_of(rows: Array) -> Array:
    """The least squares slopes of each block, with an intercept; shape (blocks, columns).

    Where a block does not determine a slope, since it has too few records or they lie in a plane, its vote is an end of
    the line: the upper one in every other block, the lower one in the rest, so that such votes cancel. It determines
    none if the column is constant to 2**-30 of its bounds, or if it is a combination of the others except for 2**-28 of
    its squares. A ridge of 2**-40 of each column's squares makes every block have an inverse.

    Parameters
    ----------
    rows : array of shape (blocks, size, columns + 1)
        Scaled records, the target last; nan in records that have no part.

    Examples
    --------
    >>> line, point = [[0.0, 0.1], [0.5, 0.2], [1.0, 0.3]], [[0.5, 0.2]] * 3
    >>> slopes_of(np.array([line, line, point, point])).round(6)[:, 0]
    array([ 2.000000e-01,  2.000000e-01,  1.048576e+06, -1.048576e+06])
    """
    there = ~np.isnan(rows).any(axis=2, keepdims=True)
    filled = np.where(there, rows, 0.0)
    means = filled.sum(axis=1, keepdims=True) / np.maximum(there.sum(axis=1, keepdims=True), 1)
    centered = np.where(there, filled - means, 0.0)
    x, y = centered[..., :-1], centered[..., -1]
    sizes = np.sqrt(np.square(x).sum(axis=1, keepdims=True) + LEAST**2)
    x = x / sizes
    inverse = np.linalg.inv(np.einsum("bsi,bsj->bij", x, x) + RIDGE * np.eye(x.shape[2]))
    found = np.einsum("bij,bj->bi", inverse, np.einsum("bsi,bs->bi", x, y)) / sizes[:, 0]
    known = np.einsum("bii->bi", inverse) * RIDGE < BLURRED
    end = np.where(np.arange(len(rows)) % 2 == 0, FARTHEST, -FARTHEST)[:, None]
    return np.where(known, np.clip(found, -FARTHEST, FARTHEST), end)
