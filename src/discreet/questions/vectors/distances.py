"""One mark for each record, by its distance from the nearest of several centers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound
from discreet.core.checks import check_positive, check_whole
from discreet.core.grid import Array, Grid, Steps
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.clusters import FINE, Scaling, check_centers, marks
from discreet.questions.vectors.row_steps import StepRows
from discreet.schema.schema import Schema

MOST_BINS = 2**12


@recipe("distances")
def distances_of(schema: Schema, columns: tuple[str, ...], centers: Array, farthest: float, bins: int) -> BoundedSum:
    """Counts of records in equal bins of their distance; a record with a missing value is in none.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the records lie.
    columns : tuple of str
        Public. Numeric columns.
    centers : array of shape (n_clusters, n_features)
        Public. Scaled to [-1, 1], on the fine grid.
    farthest : float
        Public. The end of the last bin, which also counts what is farther away.
    bins : int
        Public. How many bins.
    """
    scaling = Scaling(schema, schema.values(columns))
    check_centers(centers, scaling.n_features)
    check_positive("distances", "farthest", farthest)
    check_whole("distances", "bins", bins, most=MOST_BINS)
    per_step, twice = FINE.step * bins / farthest, 2 * FINE.cut(centers).T
    squared = np.square(FINE.cut(centers)).sum(axis=1)

    def places(rows: StepRows) -> NDArray[np.intp]:
        """The bin of each record; one more than there are bins for a record that counts for nothing.

        Squared distances are whole numbers below 2**53: the same in any order.
        """
        squares = rows.squares()
        squares += (squared - rows.steps @ twice).min(axis=1)
        lengths = np.sqrt(squares, out=squares)
        lengths *= per_step
        return np.where(rows.present, np.fmin(lengths, bins - 1), bins).astype(np.intp)

    def total(records: Array) -> Steps:
        slices = map(places, scaling.rows.slices(records))
        return sum((np.bincount(some, minlength=bins + 1)[:bins] for some in slices), np.zeros(bins, dtype=np.int64))

    return BoundedSum(
        of=lambda records: marks(places(scaling.rows.of(records)), bins).T,
        bound=Bound("l1", 1.0, nonnegative=True),
        columns=columns,
        grid=Grid(0),
        total=total,
        raw=True,
    )


def radius_of(counts: Array, farthest: float, share: float) -> float:
    """The distance within which this share of the records lies, from noisy counts: post-processing.

    Examples
    --------
    >>> radius_of(np.array([40.0, 50.0, 8.0, 2.0]), farthest=4.0, share=0.9)
    2.0
    """
    below = np.cumsum(counts)
    reached = below >= share * max(float(below[-1]), 1.0)
    place = int(np.argmax(reached)) if reached.any() else len(counts) - 1
    return farthest * (1 + place) / len(counts)
