"""Measurements of a table in which a missing value is a value of its own: contrasts of counts, in one sum."""

from __future__ import annotations

from discreet.core.bound import Norm
from discreet.core.grid import Array
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.coded_tables import TableCodes
from discreet.questions.tables.measurements import measured_of
from discreet.schema.schema import Schema


@recipe("coded_measurements")
def coded_measurements_of(
    schema: Schema,
    columns: tuple[str, ...],
    edges: tuple[tuple[float, ...], ...],
    whole: tuple[tuple[int, ...], ...],
    contrasts: tuple[tuple[int, ...], ...],
    steps: tuple[int, ...],
    exponent: int,
    norm: Norm,
) -> BoundedSum:
    """The measurements of a table as one sum; a missing value has a cell of its own.

    Parameters
    ----------
    columns, edges : tuple
        Public. The columns, and the edges of the cells of each number; none for a category.
    whole, contrasts : tuple of tuples
        Public. The columns that each measurement counts by cells, and by contrasts of cells, by their places.
    steps : tuple of int
        Public. The weight of each, in steps of 2**`exponent`.
    norm : {"l1", "l2"}
        Public. In which what a record adds is bounded.
    """
    coding = TableCodes.of(schema, columns, edges)
    measured = measured_of(coding.sizes, whole, contrasts, steps, exponent, norm)

    def of(records: Array) -> Array:
        return measured.grid.values(measured.contributions(coding.places(records)))

    def total(records: Array) -> Array:
        return measured.counted(coding.places(records))

    return BoundedSum(of, measured.bound, coding.columns, measured.grid, total)
