"""Private quantiles of a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from discreet.core.budget import Budget
from discreet.core.parameters import checked
from discreet.questions.tables.cells import Edges
from discreet.releases.ask import column_of
from discreet.releases.columns import Series
from discreet.releases.estimate import Estimate
from discreet.releases.groups import By, Groups
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Table
from discreet.statistics.ranks.quantile_request import Method, QuantileRequest
from discreet.trust.as_private import Bounds


@checked
def quantile(
    data: Any,
    column: str | None = None,
    q: float | Sequence[float] = 0.5,
    *,
    bounds: Bounds | None = None,
    where: str | None = None,
    by: By | None = None,
    edges: Edges | None = None,
    step: float | None = None,
    confidence: float | None = CONFIDENCE,
    population: bool = False,
    method: Method | None = None,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate | Table:
    """Release quantiles of a column.

    Parameters
    ----------
    data : PrivateData, array of shape (n,), or data frame
        The records; missing values do not count.
    column : str, optional
        Public. The column; an array has one only.
    q : float, or sequence of float
        Public. The level, in [0, 1]: 0.5 for the median.
    bounds : (float, float) or Schema, optional
        Public. For an array or data frame: values outside are moved to the nearer one. Private data have them in their
        schema.
    where : str, optional
        Public. Which records are meant, such as "age >= 18 and sex == 'f'"; see `PrivateData.where`. All by default.
    by, edges
        Public. The columns that make groups, and the ends of the cells of numbers among them; as for `mean`. The
        quantiles of groups are found by trees of counts.
    step : float, optional
        Public. What values are multiples of, counted from the lower bound, such as 1 for whole numbers; the schema's,
        by default. Common values are then found exactly with fewer records.
    confidence : float, optional
        Public. Of each interval. With None there is no interval, and all of the budget goes to the values.
    population : bool
        Public. Whether intervals are for the population that the records are a sample of, drawn independently: then
        they hold sampling error, by the binomial law of ranks, and noise. Else they are for these data, and hold the
        noise alone.
    method : {"records", "tree"}, optional
        Public. By the exponential mechanism, which only a curator can be asked, or by a tree of noisy counts. The
        first works well however wide the bounds are; for several quantiles, and so few records that noise is about as
        large as the distances between them, a tree is closer. By default it is the first, if it can be asked and a
        public number of records does not show that a tree is closer.
    epsilon, delta : float
        Public. What all of this may cost.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    Estimate, or Table for a sequence of levels or for groups
        Values on a grid between the bounds. Without records they are anywhere on it.

    Guarantee
    ---------
    The event on the receipt, for the data set's own neighbors: where a curator has the records, `Quantile` or
    `Quantiles` (and `Laplace` noise on the number of values), and `FlippedQuantile` for a coarse step where neither
    this nor the account has a delta; else one release of a tree of counts.

    Examples
    --------
    >>> ages = np.repeat([20.0, 30.0, 40.0], [3000, 4000, 3000])
    >>> quantile(ages, q=0.5, bounds=(0, 100), step=1, epsilon=1.0).value
    30.0
    >>> quantile(ages, q=[0.1, 0.9], bounds=(0, 100), step=1, epsilon=1.0).values
    array([20., 40.])
    """
    levels = tuple(float(one) for one in np.atleast_1d(np.asarray(q, dtype=np.float64)))
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget, where)
    wanted = QuantileRequest(of, tuple(sorted(levels)), confidence, population, step, budget, method)
    groups = Groups.wanted(of.data, by, edges)
    if groups is not None:
        called = f"{levels[0]:.4g} quantile" if np.ndim(q) == 0 else "quantiles"
        return wanted.grouped(groups, f"{called} of {of.column}", levels, key)
    if np.ndim(q) == 0:
        return wanted.estimate(f"{levels[0]:.4g} quantile of {of.column}", key)
    paid, name = wanted.paid(f"quantiles of {of.column}", key), f"quantiles of {of.column}"
    place = np.argsort(np.argsort(levels, kind="stable"))
    low, high = (None, None) if paid.found.ends is None else paid.found.ends[:, place]
    return Table(
        name=name,
        labels={"q": np.array(levels)},
        series=(Series("value", paid.found.values[place], None, low, high, kind=of.time),),
        confidence=confidence,
        population=population,
        receipt=paid.receipt,
    )


class MedianOptions(TypedDict, total=False):
    """What the median takes by name."""

    bounds: Bounds | None
    where: str | None
    edges: Edges | None
    step: float | None
    confidence: float | None
    population: bool
    method: Method | None
    epsilon: float
    delta: float
    key: str | None


@overload
def median(data: Any, column: str | None = None, *, by: None = None, **options: Unpack[MedianOptions]) -> Estimate: ...
@overload
def median(data: Any, column: str | None = None, *, by: By, **options: Unpack[MedianOptions]) -> Table: ...
@checked
def median(
    data: Any,
    column: str | None = None,
    *,
    bounds: Bounds | None = None,
    where: str | None = None,
    by: By | None = None,
    edges: Edges | None = None,
    step: float | None = None,
    confidence: float | None = CONFIDENCE,
    population: bool = False,
    method: Method | None = None,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate | Table:
    """Release the median of a column: the quantile of level one half.

    Parameters
    ----------
    data, column, bounds, where, by, edges, step, confidence, population, method, epsilon, delta, key
        Public, except for the data. As for `quantile`.

    Returns
    -------
    Estimate, or Table with a row for each group
        The value, its interval and its receipt.

    Guarantee
    ---------
    The event on the receipt; see `quantile`.

    Examples
    --------
    >>> median(np.full(1000, 3.0), bounds=(0, 10), step=1, epsilon=1.0).value
    3.0
    """
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget, where)
    wanted, name = QuantileRequest(of, (0.5,), confidence, population, step, budget, method), f"median of {of.column}"
    groups = Groups.wanted(of.data, by, edges)
    if groups is not None:
        return wanted.grouped(groups, name, (0.5,), key)
    return wanted.estimate(name, key)
