"""The private number of records."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.questions.count import count_of
from discreet.releases.ask import asked, column_of
from discreet.releases.estimate import Estimate
from discreet.releases.spread import CONFIDENCE, whole_half_width
from discreet.trust.as_private import Bounds


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
    released = asked(of.data, count_of(of.data.schema, of.column), budget, f"count of {of.column}", key)
    error = whole_half_width(released.spread, np.ones(1), CONFIDENCE)
    return Estimate(f"count of {column}", float(released.values[0]), error, CONFIDENCE, released.receipt)
