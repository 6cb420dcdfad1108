"""Count, sums and sums of squares of numeric columns, class by class: what Gaussian naive Bayes is made from."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_positive, check_size
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid, Steps
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.contingency import ONE_CELL
from discreet.questions.vectors.coordinates import MOST_COLUMNS, SHORTEST, Coordinates
from discreet.questions.vectors.row_steps import StepRows
from discreet.schema.schema import Schema

CLASSES, LENGTHS = "moments by class", "lengths of records"
MOST_RADII, LONGEST = 2**10, math.sqrt(MOST_COLUMNS)


@recipe("class_moments")
def class_moments_of(
    schema: Schema, columns: tuple[str, ...], target: str, radius: float, square: float, norm: Norm
) -> BoundedSum:
    """Each record writes (w, z, square (z^2 - 1/3)) in the block of its class.

    z is between -1 and 1 and shrunk to the length `radius`, and w a constant, as in `Coordinates`; `_most` bounds the
    row. A record without a class, or with a missing value, adds nothing.

    Parameters
    ----------
    radius : float
        Public. The length that a record is shrunk to where the bounds of every column are [-1, 1].
    square : float
        Public. The weight of the squares; that of the values is one.
    norm : {"l1", "l2"}
        Public. In which a record's row is bounded.
    """
    *features, classes = schema.values((*columns, target))
    coordinates, cells = Coordinates.of(schema, features, radius), len(schema.category(classes).values)
    check_one_of(CLASSES, "norm", norm, ("l1", "l2"))
    check_positive(CLASSES, "square", square, least=2.0**-10, most=2.0**10)
    d, step = len(features), coordinates.grid.step
    bound = Bound(norm, _most(coordinates, square, norm) * (1 + 2.0**-30))
    grid, size = Grid.of_radius(bound.radius), cells * (1 + 2 * d)

    def squares(values: Array) -> Array:
        return (values * values - 1 / 3) * square

    def marks(labels: Array) -> Array:
        return (labels[:, None] == np.arange(cells)).astype(np.float64)

    def of(records: Array) -> Array:
        values = coordinates.rows(records[:, :-1]) * step
        own = marks(records[:, -1]) * (values[:, :1] > 0)
        beside = np.concatenate([values, squares(values[:, 1:])], axis=1)
        return (own[:, :, None] * beside[:, None, :]).reshape(-1, size)

    def total(records: Array) -> Steps:
        """The steps of a slice add up to less than 2**52, which float64 holds; int64 carries the total."""
        sums, start = np.zeros((cells, 1 + 2 * d), dtype=np.int64), 0
        for some in coordinates.slices(records[:, :-1]):
            own = (marks(records[start : start + len(some.steps), -1]) * some.present[:, None]).T
            start += len(some.steps)
            values = some.steps * step
            sums[:, 0] += own.sum(axis=1).astype(np.int64) * int(grid.cut(np.array(coordinates.weight)))
            sums[:, 1 : 1 + d] += (own @ grid.cut(values)).astype(np.int64)
            sums[:, 1 + d :] += (own @ grid.cut(squares(values))).astype(np.int64)
        return sums.ravel()

    return BoundedSum(of, bound, (*columns, target), grid, total, raw=True)


def _most(coordinates: Coordinates, square: float, norm: Norm) -> float:
    """The length of a record's row, where t = z^2 is at most 1 and all t add up to radius^2 at most.

    In l2, the convex t + square^2 (t - 1/3)^2 lies below the line through its values at 0 and 1. In l1, the function
    f(t) = sqrt(t) + square |t - 1/3| is concave on either side of 1/3, and at most height + slope t, where the height
    is the greater maximum of f(t) - slope t on the two sides: the slope makes the two alike. A coordinate is at most
    half a step beyond 1, which the last factor counts.
    """
    d, longest = len(coordinates.half), math.ldexp(coordinates.longest, 2 * coordinates.grid.exponent)
    more = 1 + 8 * coordinates.grid.step
    if norm == "l2":
        squares = longest / 3 + d / 9
        return math.sqrt(coordinates.weight**2 + longest + square * square * squares) * more
    right = 1 + square / 3
    slope = min((right - square + math.sqrt((right + square) ** 2 - 1)) / 2, square + 0.5)
    height = max(1 / (4 * (square + slope)) + square / 3, 1 - slope + 2 * square / 3)
    return (coordinates.weight + d * height + slope * longest) * more


@recipe("record_lengths")
def record_lengths_of(schema: Schema, columns: tuple[str, ...], radii: tuple[float, ...]) -> BoundedSum:
    """One mark in the cell of a record's length, where the bounds of every column are [-1, 1].

    The first cell is for lengths up to the first radius, the next for those up to the next, and the last for all
    others. A record with a missing value adds nothing. Lengths are those of coordinates in whole steps, whose squares
    add up alike in every order.

    Parameters
    ----------
    radii : tuple of float
        Public. Lengths, each greater than the one before.
    """
    coordinates = Coordinates.of(schema, columns, math.sqrt(len(columns)) if columns else 1.0)
    check_size(LENGTHS, len(radii), MOST_RADII)
    for radius in radii:
        check_positive(LENGTHS, "radius", radius, least=SHORTEST, most=LONGEST)
    if not radii or not np.all(np.diff(radii) > 0):
        raise ParameterError(LENGTHS, "the radii do not increase, or there are none", "Give each once, in order.")
    ends, cells = np.square(np.array(radii) * math.ldexp(1.0, -coordinates.grid.exponent)), len(radii) + 1

    def places(rows: StepRows) -> NDArray[np.intp]:
        """The cell of each record; one more for records without a length."""
        return np.where(rows.present, np.searchsorted(ends, rows.squares()), cells)

    def of(records: Array) -> Array:
        return (places(coordinates.scaled.of(records))[:, None] == np.arange(cells)).astype(np.float64)

    def total(records: Array) -> Steps:
        slices = map(places, coordinates.scaled.slices(records))
        return sum((np.bincount(some, minlength=cells)[:cells] for some in slices), np.zeros(cells, dtype=np.int64))

    return BoundedSum(of, ONE_CELL, columns, Grid(0), total, raw=True)
