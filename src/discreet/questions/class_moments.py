"""Count, sums and sums of squares of numeric columns, class by class: what Gaussian naive Bayes is made from."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.bound import Bound, Norm
from discreet.core.grid import Array, Grid
from discreet.core.knob import check_knob, check_one_of
from discreet.core.question import BoundedSum
from discreet.core.recipe import recipe
from discreet.core.schema import Schema
from discreet.questions.coordinates import Coordinates

ASKED = "moments by class"


@recipe("class_moments")
def class_moments_of(
    schema: Schema, columns: tuple[str, ...], target: str, radius: float, square: float, norm: Norm
) -> BoundedSum:
    """Each record writes (w, z, square (z^2 - 1/3)) in the block of its class.

    z is between -1 and 1 and shrunk to the length `radius`, and w a constant, as in `Coordinates`; `_most` bounds the
    row. A record without a class, or with a missing value, adds nothing.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the values lie.
    columns : tuple of str
        Public. Numeric columns.
    target : str
        Public. The column of classes.
    radius : float
        Public. The length that a record is shrunk to where the bounds of every column are [-1, 1].
    square : float
        Public. The weight of the squares; that of the values is one.
    norm : {"l1", "l2"}
        Public. In which a record's row is bounded.
    """
    *features, classes = schema.values((*columns, target))
    coordinates, cells = Coordinates.of(schema, features, radius), len(schema.category(classes).values)
    check_one_of(ASKED, "norm", norm, ("l1", "l2"))
    check_knob(ASKED, "square", square, least=2.0**-10, most=2.0**10)
    d, step = len(features), coordinates.grid.step
    bound = Bound(norm, _most(coordinates, square, norm) * (1 + 2.0**-30))
    grid, size = Grid.of_radius(bound.radius), cells * (1 + 2 * d)
    lower, upper = coordinates.middle[:, 0] - coordinates.half[:, 0], coordinates.middle[:, 0] + coordinates.half[:, 0]

    def entries(records: Array) -> Array:
        inside = np.clip(records[:, :-1], lower, upper)
        steps = coordinates.steps(inside, np.empty((1 + d, len(records))))
        out = np.empty((1 + 2 * d, len(records)))
        np.multiply(steps, step, out=out[: 1 + d])
        np.square(out[1 : 1 + d], out=out[1 + d :])
        out[1 + d :] -= 1 / 3
        out[1 + d :] *= square
        out[1 + d :, steps[0] == 0] = 0.0
        return out

    def marks(records: Array) -> Array:
        return (records[:, -1:] == np.arange(cells)).astype(np.float64)

    return BoundedSum(
        of=lambda records: (marks(records)[:, :, None] * entries(records).T[:, None, :]).reshape(-1, size),
        bound=bound,
        columns=(*columns, target),
        grid=grid,
        total=lambda records: (grid.cut(entries(records)) @ marks(records)).T.ravel(),
    )


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
