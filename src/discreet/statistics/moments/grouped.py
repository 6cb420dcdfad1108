"""Private count, sum and mean of a column in every group, from one bounded sum.

A record adds the Bernstein mass of its value (see `moments`) to the numbers of its group. The mass is one, whatever the
number of groups, so all groups together cost what one of them would; and count, sum and mean of a group come from
the same numbers.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Unpack

import numpy as np

from discreet.core.grid import Array
from discreet.questions.columns.moments import moments_of
from discreet.questions.tables.cells import Edges
from discreet.releases.ask import asked
from discreet.releases.columns import Series
from discreet.releases.groups import By, Groups
from discreet.releases.records_of import RecordsOf
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.releases.statistic import SharedOptions, statistic
from discreet.releases.table import Table
from discreet.schema.dates import Temporal
from discreet.schema.schema import Number
from discreet.statistics.moments.column_moments import Moments

SHARES = 64  # places between the bounds at which the error of a mean is tabulated


@statistic(no_by="it is asked of groups alone")
def grouped(
    records: RecordsOf,
    column: str,
    *,
    by: By,
    edges: Edges | None = None,
    confidence: float = CONFIDENCE,
    population: bool = False,
    **_: Unpack[SharedOptions],
) -> Table:
    """Release count, sum and mean of a column in every group.

    Parameters
    ----------
    data : PrivateData, or data frame
        The records.
    column : str
        Public. A numeric column.
    bounds : Schema, optional
        Public. For a data frame: its bounds and categories.
    population : bool
        Public. Whether the intervals are for what samples like this one are expected to have, whose records come
        independently: count and sum, and the mean of the population. Else they are for these data. The sums that show
        the sampling error add up to an eighth to the noise.
    confidence : float
        Public. Of each interval.

    Returns
    -------
    Table
        The columns "count", "sum" and "mean", each with intervals, and a row for every listed group, the empty ones
        too; records without group or value are in none. The mean of a small group has a wide interval: where noise
        hides it, all between the bounds.

    Guarantee
    ---------
    The event on the receipt, one `Laplace` or `Gaussian` release of all groups together, for the data set's own
    neighbors: a record is in one group only, and its mass there is one.

    Examples
    --------
    >>> from discreet.schema.schema import Category, Schema
    >>> schema = Schema({"ward": Category(("a", "b", "c")), "age": Number(0, 100)})
    >>> visits = {"ward": ["a"] * 600 + ["b"] * 400, "age": [30.0] * 600 + [70.0] * 400}
    >>> found = grouped(visits, "age", by="ward", bounds=schema, epsilon=1.0)
    >>> found.labels["ward"]
    ('a', 'b', 'c')
    >>> bool(found["mean"].values[0] < 50 < found["mean"].values[1])
    True
    """
    of, degree = records.opened(), 2 if population else 1
    number, groups = of.schema.number(column), Groups.of(of.data, by, edges)
    title = f"{column} by {groups.title}"
    question = groups.question(moments_of(of.schema, column, degree, False))
    released = asked(of.data, question, of.budget, title, of.key)
    masses = released.values.reshape(groups.domain.size, degree + 1)
    count, total, mean = (_sampled if population else _exact)(masses, number, released.spread, confidence)
    kind = number if isinstance(number, Temporal) else None
    return Table(
        name=title,
        labels=groups.labels,
        series=(count, total, dataclasses.replace(mean, kind=kind)),
        confidence=confidence,
        population=population,
        receipt=released.receipt,
    )


def _exact(masses: Array, number: Number, spread: Spread, confidence: float) -> tuple[Series, ...]:
    """Count, sum and mean of these data, from the noisy mass at both ends of the bounds: post-processing."""
    ends = np.array([number.lower, number.upper], dtype=np.float64)
    counts, width = masses.sum(axis=1), number.upper - number.lower
    sizes = np.maximum(counts, 1.0)
    shares = np.clip(masses[:, 1] / sizes, 0.0, 1.0)
    off = np.minimum(width * _share_errors(shares, spread, confidence) / sizes, width)
    deviations = width * spread.stddev * np.hypot(shares, 1 - shares) / sizes
    return (
        Series.around("count", counts, spread.half_width([1.0, 1.0], confidence), spread.stddev * math.sqrt(2)),
        Series.around("sum", masses @ ends, spread.half_width(ends, confidence), spread.stddev * math.hypot(*ends)),
        Series.around("mean", np.clip(ends[0] + width * shares, *ends), off, deviations),
    )


def _sampled(masses: Array, number: Number, spread: Spread, confidence: float) -> tuple[Series, ...]:
    """What samples like this one are expected to have, from moments of the second degree: post-processing."""
    width, groups = number.upper - number.lower, [Moments(one, number, None) for one in masses]
    figures = {
        "count": [one.sampled_count() for one in groups],
        "sum": [one.sampled_sum() for one in groups],
        "mean": [one.sampled_mean() for one in groups],
    }
    series = []
    for name, each in figures.items():
        most = width if name == "mean" else math.inf
        halves = np.array([min(one.half_width(spread, confidence), most) for one in each])
        errors = np.array([one.standard_error(spread) for one in each])
        series.append(Series.around(name, np.array([one.value for one in each]), halves, errors))
    return tuple(series)


def _share_errors(shares: Array, spread: Spread, confidence: float) -> Array:
    """How far noise moves (1 - a) times the upper mass less a times the lower one, at each share a.

    That is the error of a mean times its count (Fieller 1954). It grows from the middle to the ends, so the next place
    towards the nearer end is never too small.
    """
    at = [spread.half_width([place / SHARES, 1 - place / SHARES], confidence) for place in range(SHARES // 2 + 1)]
    return np.array(at)[np.floor(SHARES * np.minimum(shares, 1 - shares)).astype(np.intp)]
