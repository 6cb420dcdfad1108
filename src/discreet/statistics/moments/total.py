"""The private sum of a column."""

from __future__ import annotations

from typing import Any

from discreet.core.budget import Budget
from discreet.questions.total import total_of
from discreet.releases.ask import asked, column_of
from discreet.releases.estimate import Estimate
from discreet.releases.spread import CONFIDENCE
from discreet.trust.as_private import Bounds


def total(
    data: Any,
    column: str | None = None,
    *,
    bounds: Bounds | None = None,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate:
    """Release the sum of a column.

    Parameters
    ----------
    data : PrivateData, array of shape (n,), or data frame
        The records.
    column : str, optional
        Public. The column; an array has one only.
    bounds : (float, float) or Schema, optional
        Public. For an array or data frame: values outside are moved to the nearer one. Private data have them in their
        schema.
    epsilon, delta : float
        Public. What this may cost.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    Estimate
        The value, its error bar and its receipt.

    Guarantee
    ---------
    The event on the receipt, one `Laplace` or `Gaussian` release. Where the number of records is public, values are
    measured from the lower bound, so that a replaced record moves the sum by the width of the bounds only; there a
    missing value counts as the lower bound.

    Examples
    --------
    >>> total(np.full(1000, 3.0), bounds=(0, 10), epsilon=1.0).name
    'sum of value'
    """
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget)
    number, size = of.data.schema.number(of.column), of.data.public_size
    origin = 0.0 if size is None else number.lower
    released = asked(of.data, total_of(of.data.schema, of.column, origin), budget, f"sum of {of.column}", key)
    value = float(released.values[0]) + origin * (size or 0)
    error = released.spread.half_width([1.0])
    return Estimate(f"sum of {of.column}", value, error, CONFIDENCE, released.receipt)
