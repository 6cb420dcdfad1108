"""The private sum of a column."""

from __future__ import annotations

from typing import Any, Unpack, overload

import numpy as np

from discreet.core.budget import Budget
from discreet.core.parameters import checked
from discreet.questions.columns.moments import moments_of
from discreet.questions.columns.total import total_of
from discreet.questions.tables.cells import Edges
from discreet.releases.ask import ColumnOf, Released, asked, column_of
from discreet.releases.estimate import Estimate, estimate_of
from discreet.releases.figure import Figure
from discreet.releases.groups import By, Groups
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Table
from discreet.statistics.moments.column_moments import Moments
from discreet.statistics.moments.mean import Options
from discreet.trust.as_private import Bounds


@overload
def total(data: Any, column: str | None = None, *, by: None = None, **options: Unpack[Options]) -> Estimate: ...
@overload
def total(data: Any, column: str | None = None, *, by: By, **options: Unpack[Options]) -> Table: ...
@checked
def total(
    data: Any,
    column: str | None = None,
    *,
    bounds: Bounds | None = None,
    where: str | None = None,
    by: By | None = None,
    edges: Edges | None = None,
    confidence: float = CONFIDENCE,
    population: bool = False,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate | Table:
    """Release the sum of a column.

    Parameters
    ----------
    data, column, bounds, where, by, edges, confidence, epsilon, delta, key
        Public, except for the data. As for `mean`.
    population : bool
        Public. Whether the interval is for the expected sum of samples like this one, whose records come independently:
        then it holds sampling error and noise. Else it is for these data, and holds the noise alone. The sums that
        show the sampling error add up to an eighth to the noise.

    Returns
    -------
    Estimate, or Table with a row for each group
        The value, its interval and its receipt.

    Guarantee
    ---------
    The event on the receipt, one `Laplace` or `Gaussian` release. Where the number of records is public, values are
    measured from the lower bound, so that a replaced record moves the sum by the width of the bounds only; there a
    missing value counts as the lower bound or, for a population, as the middle of the bounds.

    Examples
    --------
    >>> total(np.full(1000, 3.0), bounds=(0, 10), epsilon=1.0).name
    'sum of value'
    """
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget, where)
    name = f"sum of {of.column}"
    check_confidence(name, confidence)
    groups = Groups.wanted(of.data, by, edges)
    if groups is not None:
        return _grouped(of, groups, name, population, budget, key, confidence)
    figure, released = (_sampled if population else _exact)(of, name, budget, key)
    return estimate_of(name, figure, released, confidence)


def _grouped(
    of: ColumnOf, groups: Groups, name: str, population: bool, budget: Budget, key: str | None, confidence: float
) -> Table:
    """The sum of every group, whose size is never public."""
    schema = of.data.schema

    def estimate(released: Released) -> Estimate:
        if not population:
            return estimate_of(name, Figure(float(released.values[0]), np.ones(1)), released, confidence)
        return estimate_of(
            name, Moments(released.values, schema.number(of.column), None).sampled_sum(), released, confidence
        )

    question = moments_of(schema, of.column, 2, False) if population else total_of(schema, of.column, 0.0)
    return groups.table(name, question, estimate, budget, key)


def _exact(of: ColumnOf, name: str, budget: Budget, key: str | None) -> tuple[Figure, Released]:
    """The sum of these data."""
    size = of.data.public_size
    origin = 0.0 if size is None else of.data.schema.number(of.column).lower
    released = asked(of.data, total_of(of.data.schema, of.column, origin), budget, name, key)
    return Figure(float(released.values[0]) + origin * (size or 0), np.ones(1)), released


def _sampled(of: ColumnOf, name: str, budget: Budget, key: str | None) -> tuple[Figure, Released]:
    """The expected sum of samples like this one, from moments that show their variance, too."""
    size, schema = of.data.public_size, of.data.schema
    question = moments_of(schema, of.column, 2, size is not None)
    released = asked(of.data, question, budget, name, key)
    return Moments(released.values, schema.number(of.column), size).sampled_sum(), released
