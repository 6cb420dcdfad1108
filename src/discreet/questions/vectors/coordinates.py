"""Records as coordinates in whole steps of a grid, so that lengths and products are exact."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from numbers import Real
from typing import ClassVar

import numpy as np

from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid, Steps
from discreet.questions.vectors.row_steps import RowSteps, StepRows
from discreet.schema.schema import Number, Schema

RECENT = 16  # boxes that are kept
CELLS = 15  # bits between the largest coordinate and the step of its grid
SHORTEST, MOST_COLUMNS = 2.0**-6, 2**12  # so that squared lengths stay below 2**53 squared steps
MOST_CENTERED = 2**10  # columns: coordinates around a center are up to twice as long


@dataclass(frozen=True)
class Coordinates:
    """What makes coordinates u = (w, z) of records: a constant, and their values between -1 and 1. All of it public.

    For n columns w^2 is radius^2 / sqrt(3 n). The noise that a sum of products u u' leaves in a covariance matrix has a
    square proportional to (1 + w^2 / radius^2)^2 (n / 2 + |mean|^2 / w^2), except for smaller terms.
    This w nearly minimises it where |mean|^2 is radius^2 / 3, as for a mean that is uniform in the box.

    Parameters
    ----------
    middle, half : arrays of shape (n, 1)
        The middle of each column's bounds, and half their distance.
    grid : Grid
        Of the coordinates.
    constant : int
        The coordinate w, in steps.
    longest : int
        The most that the squares of the others, in steps, add up to.
    scaled : RowSteps
        Makes z of records, in steps, before it is shrunk.

    Examples
    --------
    >>> people = Coordinates.of(Schema.numeric(0.0, 100.0, 2), ("x0", "x1"), radius=0.5)
    >>> z = people.grid.values(people.rows(np.array([[50.0, 75.0], [0.0, 100.0], [np.nan, 1.0]])))
    >>> z[:, 1:].round(3) + 0.0
    array([[ 0.   ,  0.5  ],
           [-0.354,  0.354],
           [ 0.   ,  0.   ]])
    """

    middle: Array
    half: Array
    grid: Grid
    constant: int
    longest: int
    scaled: RowSteps = field(repr=False, compare=False)

    raw: ClassVar[bool] = True  # records may be as they are found

    @classmethod
    def of(cls, schema: Schema, columns: Sequence[str], radius: float, center: Array | None = None) -> Coordinates:
        """The coordinates of these columns; none is longer than sqrt(n), as far as the corners of the box.

        Parameters
        ----------
        radius : float
            Public. The length that z is shrunk to.
        center : array of shape (n,), optional
            Public. The z that is moved to zero: from -1 to 1.
        """
        bounds = schema.numbers(columns)
        return _boxed(bounds, radius) if center is None else cls._of(bounds, radius, center)

    @classmethod
    def _of(cls, bounds: tuple[Number, ...], radius: float, center: Array | None) -> Coordinates:
        middle = np.array([[0.5 * column.lower + 0.5 * column.upper] for column in bounds])
        half = np.array([[0.5 * column.upper - 0.5 * column.lower] for column in bounds])
        _check(half, radius)
        away = np.zeros(len(half)) if center is None else _checked_center(center, len(half))
        middle = middle + half * away[:, None]
        radius = min(radius, math.sqrt(float(np.square(1 + np.abs(away)).sum())))
        weight = radius / math.sqrt(math.sqrt(3 * len(half)))
        grid = Grid(math.frexp(max(weight, min(radius, 1.0)))[1] - CELLS)
        longest = math.floor(math.ldexp(radius * radius, -2 * grid.exponent) * (1 + 2.0**-50))
        scaled = RowSteps(bounds, middle[:, 0], math.ldexp(1.0, -grid.exponent) / half[:, 0])
        return cls(middle, half, grid, round(math.ldexp(weight, -grid.exponent)), longest, scaled)

    @cached_property
    def size(self) -> int:
        return 1 + len(self.half)

    @property
    def weight(self) -> float:
        return math.ldexp(self.constant, self.grid.exponent)

    @property
    def bound(self) -> Bound:
        """Of the length of u u', which is |u|^2; the margin is for the rounding of whoever measures it."""
        most = (self.constant**2 + self.longest) * (1 + 2.0**-30)
        return Bound("l2", math.ldexp(most, 2 * self.grid.exponent))

    def steps(self, records: Array, out: Array) -> Array:
        """Put the coordinates of each record in a column of `out`: zeros where a value is missing.

        A source hands over values inside their bounds; others are shrunk with their record, and infinite ones count as
        missing.
        """
        coordinates, reach = out[1:], math.ldexp(1.0, -self.grid.exponent)
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(records.T, self.middle, out=coordinates)
            np.rint(np.multiply(coordinates, reach / self.half, out=coordinates), out=coordinates)
            squares = shrink(coordinates, self.longest)
        out[0] = self.constant
        out[:, ~np.isfinite(squares)] = 0.0
        return out

    def rows(self, records: Array) -> Array:
        """The coordinates of each record in a row, from numbers as they are found: zeros where one is missing."""
        found = self._shrunk(self.scaled.of(records))
        return np.column_stack([self.constant * found.present, found.steps])

    def slices(self, records: Array) -> Iterator[StepRows]:
        """The coordinates but the constant, a few records at a time; see `RowSteps.slices`."""
        return map(self._shrunk, self.scaled.slices(records))

    def products(self, records: Array) -> Steps:
        """The sum of u u', in squared steps, from numbers as they are found.

        Coordinates are whole numbers of steps, and the products of a slice add up to less than 2**49 of their squares,
        which float64 holds: so products of matrices add them without error, in any order, and int64 carries the total.
        """
        return added_products(self.slices(records), self.constant, len(self.half))

    def _shrunk(self, rows: StepRows) -> StepRows:
        """As `shrink` does, in place."""
        rows.multiply(factors(rows.squares(), self.longest, len(self.half)))
        return rows

    def back(self, moments: Array) -> Array:
        """The moments of (1, x), in the records' own units, from those of (1, z)."""
        own = np.block([[np.ones((1, 1)), np.zeros((1, len(self.half)))], [self.middle, np.diag(self.half[:, 0])]])
        return own @ moments @ own.T


@lru_cache(maxsize=RECENT)
def _boxed(bounds: tuple[Number, ...], radius: float) -> Coordinates:
    """The coordinates of a box: the questions of one fit differ in other things, and need them again and again."""
    return Coordinates._of(bounds, radius, None)


def shrink(steps: Array, longest: int) -> Array:
    """Shrink each column of whole steps, in place, until its squares add up to `longest` at most; its squares before.

    Squares of whole numbers add up alike in every order. Rounding to the nearest step moves a coordinate by half a step
    at most: a column that is too long is shrunk by so much more.
    """
    squares = np.einsum("ij,ij->j", steps, steps)
    np.multiply(steps, factors(squares, longest, len(steps)), out=steps)
    np.rint(steps, out=steps)
    return np.asarray(squares)


def added_products(slices: Iterable[StepRows], constant: int, size: int) -> Steps:
    """The sum of u u' over slices of records, where u = (constant, z) and z has so many whole steps: exact."""
    sums = np.zeros((1 + size, 1 + size), dtype=np.int64)
    for some in slices:
        beside = constant * (some.present.astype(np.float64) @ some.steps)
        sums[1:, 1:] += (some.steps.T @ some.steps).astype(np.int64)
        sums[0, 1:] += beside.astype(np.int64)
        sums[0, 0] += constant**2 * np.count_nonzero(some.present)
    sums[1:, 0] = sums[0, 1:]
    return sums


def factors(squares: Array, longest: int, size: int) -> Array:
    """What whole steps are multiplied by, before they are rounded, so that their squares add up to `longest` at most.

    Parameters
    ----------
    squares : array
        What the squares of the steps add up to.
    longest : int
        Public. What they may add up to.
    size : int
        Public. How many steps are squared.
    """
    inside = (math.sqrt(longest) - 0.5 * math.sqrt(size)) * (1 - 2.0**-40)
    return np.where(squares > longest, inside / np.sqrt(np.maximum(squares, longest)), 1.0)


def _check(half: Array, radius: float) -> None:
    if not 1 <= len(half) <= MOST_COLUMNS:
        raise ParameterError("second moments", f"there are {len(half)} columns", f"Name 1 to {MOST_COLUMNS}.")
    if not (isinstance(radius, Real) and SHORTEST <= radius < math.inf):
        raise ParameterError(
            "second moments",
            f"the radius is {radius}",
            f"Give at least {SHORTEST}; if that is too long, narrow the bounds, which are [-1, 1] here.",
            radius=radius,
        )


def _checked_center(center: Array, n: int) -> Array:
    if center.shape != (n,) or n > MOST_CENTERED or np.abs(center).max() > 1:
        obstacle = f"the center of {n} columns has the shape {center.shape}"
        raise ParameterError("central moments", obstacle, f"Give {n} numbers from -1 to 1; {MOST_CENTERED} at most.")
    return center
