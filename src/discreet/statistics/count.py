"""The private number of records."""

from __future__ import annotations

import numpy as np

from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.cookbook import recipe
from discreet.core.grid import Array, Grid
from discreet.core.question import BoundedSum
from discreet.core.schema import Schema
from discreet.statistics.ask import asked
from discreet.statistics.estimate import Estimate
from discreet.statistics.noise import CONFIDENCE
from discreet.trust.private_data import PrivateData


@recipe
def count_of(schema: Schema, column: str) -> BoundedSum:
    """One for each record whose value is not missing."""
    columns = schema.values((column,))

    def of(records: Array) -> Array:
        return (~np.isnan(records[:, :1])).astype(np.float64)

    return BoundedSum(of, Bound("l1", 1.0, nonnegative=True), columns, Grid(0), lambda records: of(records).sum(axis=0))


def count(
    data: PrivateData, column: str, *, epsilon: float = 1.0, delta: float = 0.0, key: str | None = None
) -> Estimate:
    """Release how many records have a value in a column.

    Parameters
    ----------
    data : PrivateData
        The records.
    column : str
        Public. A numeric column, or one with public categories.
    epsilon, delta : float
        Public. What this may cost.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    Estimate
        A whole number, its error bar and its receipt.

    Guarantee
    ---------
    The event on the receipt, one `Laplace` or `Gaussian` release, for the data set's own neighbors.

    Examples
    --------
    >>> from discreet.core.schema import Schema
    >>> people = PrivateData.of(np.zeros((500, 1)), Schema.numeric(0.0, 1.0, 1), Budget(1.0))
    >>> count(people, "x0", epsilon=1.0).value.is_integer()
    True
    """
    released = asked(data, count_of(data.schema, column), 1, Budget(epsilon, delta), f"count of {column}", key)
    error = float(np.ceil(released.spread.half_width([1.0])))
    return Estimate(f"count of {column}", float(released.values[0]), error, CONFIDENCE, released.receipt)
