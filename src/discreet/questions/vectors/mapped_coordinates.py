"""Linear combinations of columns as coordinates in whole steps of a grid, so that lengths and products are exact."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from discreet.core.bound import Bound, Norm
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid, Steps, upwards
from discreet.core.neighbors import Neighbors
from discreet.questions.vectors.coordinates import CELLS, MOST_COLUMNS, Coordinates, added_products, factors, shrink
from discreet.questions.vectors.row_steps import StepRows
from discreet.schema.schema import Schema

ROUNDING = 2.0**-16  # relative: grids turn vectors by less


@dataclass(frozen=True)
class AcuteBound(Bound):
    """Contributions a, b with a'b >= 0, such as matrices x x' and z z', whose product is (x'z)^2.

    Then |a - b|^2 <= |a|^2 + |b|^2, so that the l2 sensitivity under replace is sqrt(2) radii, not 2. Shrinking and
    adding such vectors keeps all angles acute. Only a question whose own contributions are so may have this bound.

    Examples
    --------
    >>> round(AcuteBound("l2", 1.0).sensitivity("l2", 10, Neighbors.REPLACE), 3)
    1.414
    """

    def times(self, rows: int) -> AcuteBound:
        return AcuteBound(self.norm, upwards(Fraction(self.radius) * rows), self.nonnegative)

    def sensitivity(self, norm: Norm, size: int, neighbors: Neighbors) -> float:
        general = super().sensitivity(norm, size, neighbors)
        if neighbors is not Neighbors.REPLACE or self.norm != "l2" or norm == "linf":
            return general
        stretch = math.sqrt(size) if norm == "l1" else 1.0
        one = super().sensitivity("l2", size, Neighbors.ADD_REMOVE)
        return min(general, one * math.sqrt(2) * stretch * (1 + ROUNDING))


MAPS = Grid(-14)  # of the entries of a public matrix
STEEPEST = 2.0**16  # what the sizes of the entries of a row add up to: products stay below 2**46 steps
ONE = 1 << 2 * CELLS  # the squared length that coordinates are shrunk to, in squared steps
FARTHEST = 2.0**19  # steps of a coordinate before it is shrunk, so that squared lengths stay below 2**51


@dataclass(frozen=True)
class MappedCoordinates:
    """What makes coordinates (w, z) of records, where z = M (1, x), x is scaled to [-1, 1], and |z| is at most 1.

    The same noun as `Coordinates`, which has z = x, and all of it public. A record whose z is longer than 1 is shrunk;
    w stays. For k rows of M, w^2 is 1 / sqrt(3 k).

    Parameters
    ----------
    columns : Coordinates
        Of the columns.
    matrix : array of shape (k, 1 + n)
        M, in whole steps.

    Examples
    --------
    >>> schema = Schema.numeric(0.0, 100.0, 2)
    >>> halves = MappedCoordinates.of(schema, ("x0", "x1"), np.array([[0.25, 0.5, 0.0], [0.0, 0.0, 0.5]]))
    >>> halves.grid.values(halves.steps(np.array([[50.0, 75.0], [100.0, 100.0]]), np.empty((3, 2))))[1:].T.round(3)
    array([[0.25, 0.25],
           [0.75, 0.5 ]])
    """

    columns: Coordinates
    matrix: Array

    grid = Grid(-CELLS)
    raw: ClassVar[bool] = True

    @classmethod
    def of(cls, schema: Schema, columns: Sequence[str], matrix: Array) -> MappedCoordinates:
        """The coordinates of these columns by this matrix, whose entries are on the grid `MAPS`."""
        inner = Coordinates.of(schema, columns, math.sqrt(len(columns)))
        return cls(inner, checked_map("mapped columns", "matrix", matrix, 1 + len(columns)))

    @property
    def map(self) -> Array:
        return MAPS.values(self.matrix)

    @cached_property
    def size(self) -> int:
        return 1 + len(self.matrix)

    @cached_property
    def constant(self) -> int:
        """The coordinate w, in steps."""
        return round(math.ldexp(1 / math.sqrt(math.sqrt(3 * len(self.matrix))), CELLS))

    @property
    def weight(self) -> float:
        return math.ldexp(self.constant, -CELLS)

    @property
    def bound(self) -> AcuteBound:
        """Of the length of u u', where u = (w, z), which is |u|^2; with a margin for the rounding of lengths."""
        return AcuteBound("l2", (self.weight**2 + 1) * (1 + 2.0**-30))

    @cached_property
    def _exponent(self) -> int:
        """From products of steps to steps."""
        return MAPS.exponent + self.columns.grid.exponent - self.grid.exponent

    def rows(self, records: Array) -> Array:
        """The coordinates of each record in a row; see `Coordinates.rows`."""
        found = self._mapped(self.columns.scaled.of(records))
        return np.column_stack([self.constant * found.present, found.steps])

    def products(self, records: Array) -> Steps:
        """The sum of u u', in squared steps; see `Coordinates.products`."""
        return added_products(map(self._mapped, self.columns.scaled.slices(records)), self.constant, len(self.matrix))

    def _mapped(self, rows: StepRows) -> StepRows:
        """M (1, x) of each record in whole steps, shrunk: every term is exact, and so the order makes no difference."""
        own = self.matrix * math.ldexp(1.0, self._exponent)
        z = rows.steps @ own[:, 1:].T
        z += own[:, 0] * math.ldexp(1.0, -self.columns.grid.exponent)
        np.clip(np.rint(z, out=z), -FARTHEST, FARTHEST, out=z)
        z[~rows.present] = 0.0
        found = StepRows(z, rows.present)
        found.multiply(factors(found.squares(), ONE, len(self.matrix)))
        return found

    def steps(self, records: Array, out: Array) -> Array:
        """Put the coordinates of each record in a column of `out`: zeros where a value is missing."""
        shrink(self.unshrunk(records, out)[1:], ONE)
        return out

    def unshrunk(self, records: Array, out: Array) -> Array:
        """The same before they are shrunk: none is beyond `FARTHEST`, whatever a record holds."""
        inner, mapped = np.empty((self.columns.size, len(records))), out[1:]
        end = inner[0] = math.ldexp(1.0, -self.columns.grid.exponent)
        with np.errstate(invalid="ignore", over="ignore"):
            x = np.subtract(records.T, self.columns.middle, out=inner[1:])
            np.rint(np.multiply(x, end / self.columns.half, out=x), out=x)
            np.clip(x, -end, end, out=x)
            missing = np.isnan(x.sum(axis=0))
            np.matmul(self.matrix * math.ldexp(1.0, self._exponent), inner, out=mapped)
            np.clip(np.rint(mapped, out=mapped), -FARTHEST, FARTHEST, out=mapped)
        out[0] = self.constant
        out[:, missing] = 0.0
        return out


def on_maps(matrix: Array) -> Array:
    """A public matrix, computed elsewhere, as one that `checked_map` accepts: rounded, and no steeper than allowed."""
    steep = np.abs(matrix).sum(axis=1, keepdims=True)
    return MAPS.values(MAPS.cut(matrix * np.minimum(1.0, STEEPEST / np.maximum(steep, STEEPEST))))


def checked_map(asked: str, name: str, matrix: Array, width: int) -> Array:
    """A matrix in whole steps; refused if it has not so many columns, or float64 could not hold its products."""
    fits = matrix.ndim == 2 and 1 <= len(matrix) <= MOST_COLUMNS and matrix.shape[1] == width
    fits = fits and np.abs(matrix).sum(axis=1).max() <= STEEPEST
    steps = MAPS.cut(matrix) if fits else matrix
    if not fits or not np.array_equal(MAPS.values(steps), matrix):
        obstacle = f"the {name} of shape {matrix.shape} is not one of {width} columns in whole steps of {MAPS.step:.2g}"
        remedy = f"Give 1 to {MOST_COLUMNS} rows of entries whose sizes add up to {STEEPEST:g} at most."
        raise ParameterError(asked, obstacle, remedy)
    return steps
