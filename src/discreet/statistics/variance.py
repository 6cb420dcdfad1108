"""The private variance of a column."""

from __future__ import annotations

from typing import Any

from discreet.core.budget import Budget
from discreet.statistics.ask import column_of
from discreet.statistics.estimate import Estimate
from discreet.statistics.moments import Moments, moment


def variance(
    data: Any,
    column: str | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate:
    """Release the variance of a column, divided by the number of values.

    Parameters
    ----------
    data : PrivateData, or array of shape (n,)
        The records.
    column : str, optional
        Public. The column, for private data.
    bounds : (float, float), optional
        Public. For an array: values outside are moved to the nearer one. Private data have them in their schema.
    epsilon, delta : float
        Public. What this may cost. With delta 0 the noise is Laplace; else whichever of Laplace and Gaussian is less.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    Estimate
        The value, its error bar and its receipt.

    Guarantee
    ---------
    The event on the receipt, one `Laplace` or `Gaussian` release, for the data set's own neighbors: the number of
    values is secret under add/remove and public under replace.

    Examples
    --------
    >>> import numpy as np
    >>> variance(np.full(100_000, 3.0), bounds=(0, 10), epsilon=1.0).name
    'variance of value'
    """
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget)
    return moment(of, 2, Moments.variance, "variance", budget, key)
