"""Moments of a column, group by group."""

from __future__ import annotations

import numpy as np

from discreet.core.checks import check_one_of
from discreet.core.formula import Formula, Tally
from discreet.core.grid import Array, Grid
from discreet.questions.columns.moments import MASS, bernstein
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.schema.schema import Schema


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
