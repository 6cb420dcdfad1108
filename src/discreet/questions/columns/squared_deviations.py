"""Squared distances from a centre that was released before."""

from __future__ import annotations

from discreet.core.checks import check_one_of, check_positive
from discreet.core.formula import Numbers
from discreet.questions.columns.moments import COUNTED, MASS, column_sum, parts
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.schema.schema import Number, Schema


@recipe("squared_deviations")
def squared_deviations_of(schema: Schema, column: str, centre: float, degree: int) -> BoundedSum:
    """The sum over counted records of squared distances from a centre, and for degree 2 of what shows how these vary.

    A missing value stands for the middle of its bounds.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the values lie.
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
        values *= values
        return parts(values, squares, degree, True, unit)

    return column_sum(column, number, COUNTED if degree == 2 else MASS, added, True)


def squares_between(number: Number, centre: float) -> Number:
    """The bounds of squared distances from a centre."""
    far = max(centre - number.lower, number.upper - centre)
    return Number(0.0, far * far)
