"""Count, mean and variance of a column from one bounded sum.

Scaled to a in [0, 1], a value splits one unit of mass over the Bernstein polynomials of a:

    degree 1    (1 - a, a)                        count and mean
    degree 2    ((1 - a)^2, 2 a (1 - a), a^2)     count, mean and variance
    degree 4    ((1 - a)^4, ..., a^4)             the same, and the fourth moment

They are nonnegative and add up to one, so the l1 sensitivity is 1 whatever the degree, and nothing is spent on the
count: it is the sum of the coordinates.

Where the number of records is public, that sum is known, and for a mean `a` alone will do. For mean and variance two
numbers do, (a - 1/2, 2 a (1 - a) - 1/16). Their absolute values add up to 9/16 at most: as much where a is 0, 1/4, 3/4
or 1, and less elsewhere. So a replaced record moves them by 9/8, little more than it moves `a` alone, where it would
move three Bernstein polynomials by 2. Of higher degrees all are taken; the known sum takes part of the noise back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.core.bound import Bound
from discreet.core.checks import check_one_of, check_positive
from discreet.core.formula import Formula, Numbers, Tally, for_squares, never_tiny
from discreet.core.grid import Array, Grid, Steps
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.schema.schema import Number, Schema

MASS = Bound("l1", 1.0, nonnegative=True)
COUNTED = Bound("l1", 9 / 16)  # of (a - 1/2, 2 a (1 - a) - 1/16)
AT_HAND = 2**17
"""Values that are worked on together, so that they stay in the cache: halved for each coordinate."""
INSIDE = 1 - 2.0**-40  # keeps rounded polynomials inside their bound, so that clipping never acts
Parts = Callable[[Any, float], list[Any]]
"""Numbers inside their bounds in, and overwritten; what they add to each coordinate, times a power of two, out."""


def moments_size(degree: int, counted: bool) -> int:
    """The number of coordinates of the sum: the degree, if it is 1 or 2 and the number of records is public."""
    return degree if degree <= 2 and counted else degree + 1


@recipe("moments")
def moments_of(schema: Schema, column: str, degree: int, counted: bool) -> BoundedSum:
    """The sum of the Bernstein polynomials of a column.

    A missing value adds nothing; where the records are counted, in public, it stands for the middle of its bounds.
    """
    check_one_of("moments", "degree", degree, (1, 2, 4))
    number, bound = schema.number(column), COUNTED if degree == 2 and counted else MASS

    def added(values: Numbers, unit: float) -> list[Numbers]:
        return parts(values, number, degree, counted, unit)

    return column_sum(column, number, bound, added, counted)


def column_sum(column: str, number: Number, bound: Bound, added: Parts, counted: bool) -> BoundedSum:
    """The sum of what the values of one column add: a missing one nothing, or as much as the middle of its bounds."""
    grid, middle, there = Grid.of_radius(bound.radius), 0.5 * number.lower + 0.5 * number.upper, Formula.column(0)

    def of(records: Array) -> Array:
        missing = ~np.isfinite(records[:, 0])
        inside = np.where(missing, middle, np.clip(records[:, 0], number.lower, number.upper))
        found = np.stack(added(inside, 1.0), axis=1)
        return found if counted else np.where(missing[:, None], 0.0, found)

    def cut(inside: Array) -> Steps:
        return np.array([np.trunc(part, out=part).sum() for part in added(inside, 1 / grid.step)]).astype(np.int64)

    absent = cut(np.array([middle]))

    def present(values: Array, inside: Array) -> Steps:
        """The same work whether or not one is missing: it is counted as the middle, and taken back."""
        missing = ~np.isfinite(values)
        values.clip(number.lower, number.upper, inside)
        np.copyto(inside, middle, where=missing)
        return cut(inside) if counted else cut(inside) - np.count_nonzero(missing) * absent

    def total(records: Array) -> Steps:
        """A slice adds less than 2**45 steps, which float64 holds; int64 carries them on."""
        rows, found = AT_HAND >> len(absent), np.zeros_like(absent)
        room = np.empty(min(len(records), rows))
        for start in range(0, len(records), rows):
            values = records[start : start + rows, 0]
            found += present(values, room[: len(values)])
        return found

    tally = Tally(Formula.constant(0), 1, tuple(added(there.otherwise(middle) if counted else there, 1.0)))
    return BoundedSum(of, bound, (column,), grid, total, raw=True, tally=tally)


def parts(values: Numbers, number: Number, degree: int, counted: bool, unit: float = 1.0) -> list[Numbers]:
    """What values inside their bounds add to each coordinate, times a power of two; the values are overwritten."""
    if not counted or degree > 2:
        return bernstein(values, number, degree, unit)
    if degree == 1:
        return [share_of(values, number, INSIDE * unit)]
    first = share_of(values, number)
    second = 1 - first
    second *= first
    second *= 2
    first -= 0.5
    second -= 0.0625
    first *= INSIDE * unit
    second *= INSIDE * unit
    return [first, second]


def bernstein(values: Numbers, number: Number, degree: int, unit: float = 1.0) -> list[Numbers]:
    """The Bernstein polynomials of values inside their bounds, a grain smaller than they are, times a power of two.

    The values are overwritten.
    """
    size = INSIDE * unit
    if degree == 1:
        return [rest_of(values, number, size), share_of(values, number, size)]
    down: list[Numbers] = [rest_of(values, number)]
    up: list[Numbers] = [share_of(values, number)]
    for _ in range(1, degree):
        up.append(up[-1] * up[0])
        down.append(down[-1] * down[0])
    for k in range(1, degree):
        up[k - 1] *= down[degree - k - 1]
    whole: list[Numbers] = down[-1:] + up
    for k in range(degree + 1):
        whole[k] *= math.comb(degree, k) * size
    return whole


def share_of(values: Numbers, number: Number, size: float = 1.0) -> Numbers:
    """The distance of values from their lower bound, as a share of the distance between the bounds, times a size.

    The values are overwritten.
    """
    if number.lower != 0:
        values -= number.lower
    return _parts_of(values, number.upper - number.lower, size)


def rest_of(values: Numbers, number: Number, size: float = 1.0) -> Numbers:
    """The distance of values from their upper bound, as a share of the distance between the bounds, times a size."""
    return _parts_of(number.upper - values, number.upper - number.lower, size)


def _parts_of(distances: Numbers, width: float, size: float) -> Numbers:
    """Distances over the width of the bounds, in one operation unless its inverse could be beyond float64."""
    if isinstance(distances, Formula):
        distances = never_tiny(distances, width)
    if not 2.0**-900 <= width <= 2.0**900:
        return size * (distances / width)
    distances *= size / width
    return distances


@recipe("squared_deviations")
def squared_deviations_of(schema: Schema, column: str, centre: float, degree: int) -> BoundedSum:
    """The sum over counted records of squared distances from a centre, and for degree 2 of what shows how these vary.

    A missing value stands for the middle of its bounds.

    Parameters
    ----------
    column : str
        Public. A numeric column.
    centre : float
        Public, since it was released. Between the column's bounds.
    degree : {1, 2}
        Public. As in `moments_of`, for the squared distances.
    """
    number = schema.number(column)
    check_one_of("squared deviations", "degree", degree, (1, 2))
    check_positive("squared deviations", "centre", centre, number.lower, number.upper)
    squares = squares_between(number, centre)

    def added(values: Numbers, unit: float) -> list[Numbers]:
        values -= centre
        values = for_squares(values, number.upper - number.lower)
        values *= values
        return parts(values, squares, degree, True, unit)

    return column_sum(column, number, COUNTED if degree == 2 else MASS, added, True)


def squares_between(number: Number, centre: float) -> Number:
    """The bounds of squared distances from a centre."""
    far = max(centre - number.lower, number.upper - centre)
    return Number(0.0, far * far)


@recipe("grouped_moments")
def grouped_moments_of(schema: Schema, by: str, column: str, degree: int) -> BoundedSum:
    """The sums of the Bernstein polynomials of a column, group by group; a record without group or value adds nothing.

    Number j of group i is coordinate i * (degree + 1) + j.
    """
    check_one_of("moments by group", "degree", degree, (1, 2))
    groups, limits = len(schema.category(by).values), schema.number(column)
    width, grid = degree + 1, Grid.of_radius(MASS.radius)

    def masses(records: Array) -> Array:
        inside = np.clip(records[:, 1], limits.lower, limits.upper)
        return np.nan_to_num(np.stack(bernstein(inside, limits, degree)))

    def of(records: Array) -> Array:
        own = records[:, :1] == np.arange(groups)
        return (own[:, :, None] * masses(records).T[:, None, :]).reshape(len(records), groups * width)

    def total(records: Array) -> Array:
        found = ~np.isnan(records[:, 0])
        places = records[found, 0].astype(np.intp)
        steps = grid.cut(masses(records[found]))
        sums: list[Array] = [np.bincount(places, one, groups).astype(np.float64) for one in steps]
        return np.stack(sums, axis=1).ravel()

    tally = Tally(Formula.category(0), groups, tuple(bernstein(Formula.column(1), limits, degree)))
    return BoundedSum(of, MASS, (by, column), grid, total, tally=tally)
