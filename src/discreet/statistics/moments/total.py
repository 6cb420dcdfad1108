"""The private sum of a column."""

from __future__ import annotations

from typing import Any, Unpack, overload

import numpy as np

from discreet.questions.columns.moments import moments_of
from discreet.questions.columns.total import total_of
from discreet.releases.ask import ColumnOf, OneSum, Released
from discreet.releases.estimate import Estimate, estimate_of
from discreet.releases.figure import Figure
from discreet.releases.groups import By
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import Options, statistic
from discreet.releases.table import Table
from discreet.statistics.moments.column_moments import Moments


@overload
def total(data: Any, column: str | None = None, *, by: None = None, **options: Unpack[Options]) -> Estimate: ...
@overload
def total(data: Any, column: str | None = None, *, by: By, **options: Unpack[Options]) -> Table: ...
@statistic()
def total(of: ColumnOf, *, confidence: float = CONFIDENCE, population: bool = False) -> OneSum[Estimate]:
    """Release the sum of a column.

    Parameters
    ----------
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
    size, number, name = of.size, of.schema.number(of.column), f"sum of {of.column}"
    origin = 0.0 if size is None else number.lower

    def exact(released: Released) -> Estimate:
        figure = Figure(float(released.values[0]) + origin * (size or 0), np.ones(1))
        return estimate_of(name, figure, released, confidence)

    def sampled(released: Released) -> Estimate:
        """From moments that show their variance, too."""
        return estimate_of(name, Moments(released.values, number, size).sampled_sum(), released, confidence)

    if population:
        return OneSum(of, name, moments_of(of.schema, of.column, 2, size is not None), sampled)
    return OneSum(of, name, total_of(of.schema, of.column, origin), exact)
