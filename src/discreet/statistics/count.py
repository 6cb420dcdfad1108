"""The private number of records."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.recipe import recipe
from discreet.core.grid import Array, Grid
from discreet.core.question import BoundedSum
from discreet.core.schema import Schema
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.statistics.ask import asked, column_of
from discreet.statistics.estimate import Estimate
from discreet.statistics.noise import CONFIDENCE, Spread
from discreet.trust.as_private import Bounds


@recipe("count")
def count_of(schema: Schema, column: str) -> BoundedSum:
    """One for each record whose value is not missing."""
    columns = schema.values((column,))

    def of(records: Array) -> Array:
        return (~np.isnan(records[:, :1])).astype(np.float64)

    return BoundedSum(of, Bound("l1", 1.0, nonnegative=True), columns, Grid(0), lambda records: of(records).sum(axis=0))


def whole_half_width(spread: Spread, weights: Array, confidence: float) -> float:
    """How far the noise moves a sum of whole counts, at this confidence: the least whole number that will do.

    A curator's noise on a whole number is whole, or a variable that is rounded: then k holds it if k + 1/2 holds the
    variable. So an interval covers more than it says, and much more where it is a few steps wide.

    Examples
    --------
    >>> import math
    >>> from discreet.mechanisms.laplace import Laplace
    >>> whole_half_width(Spread(Laplace(2.0), 2 * math.sqrt(2)), np.ones(1), 0.95)  # 2 ln 20 is 5.99
    6.0
    """
    rounded = spread.reports == 1 and not isinstance(spread.noise, DiscreteLaplace)
    return float(max(np.ceil(spread.half_width(weights, confidence) - 0.5 * rounded), 0.0))


def count(
    data: Any,
    column: str | None = None,
    *,
    bounds: Bounds | None = None,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate:
    """Release how many records have a value in a column.

    Parameters
    ----------
    data : PrivateData, array of shape (n,), or data frame
        The records.
    column : str, optional
        Public. A numeric column, or one with public categories; an array has one only.
    bounds : (lower, upper) or Schema, optional
        Public. For an array or data frame: numbers outside count as the nearer one; or a schema.
    epsilon, delta : float
        Public. What this may cost.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    Estimate
        A whole number, its error bar and its receipt. The bar is a whole number, too: so it holds the exact one a
        little more often than it says.

    Guarantee
    ---------
    The event on the receipt, one `Laplace`, `DiscreteLaplace` or `Gaussian` release, for the data set's own neighbors.

    Examples
    --------
    >>> count(np.zeros(500), bounds=(0, 1), epsilon=1.0).value.is_integer()
    True
    """
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget)
    released = asked(of.data, count_of(of.data.schema, of.column), 1, budget, f"count of {of.column}", key)
    error = whole_half_width(released.spread, np.ones(1), CONFIDENCE)
    return Estimate(f"count of {column}", float(released.values[0]), error, CONFIDENCE, released.receipt)
