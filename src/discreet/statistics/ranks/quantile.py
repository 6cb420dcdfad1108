"""Private quantiles of a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack, overload

import numpy as np

from discreet.releases.ask import ColumnOf, OneSum
from discreet.releases.columns import Series
from discreet.releases.estimate import Estimate
from discreet.releases.groups import By, GroupedResults, Groups
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import statistic
from discreet.releases.table import Table
from discreet.statistics.ranks.quantile_request import Method, Paid, QuantileRequest, RankOptions


@overload
def quantile(
    data: Any,
    column: str | None = None,
    q: float = 0.5,
    *,
    by: None = None,
    step: float | None = None,
    method: Method | None = None,
    **options: Unpack[RankOptions],
) -> Estimate: ...
@overload
def quantile(
    data: Any,
    column: str | None = None,
    q: float | Sequence[float] = 0.5,
    *,
    by: By | None = None,
    step: float | None = None,
    method: Method | None = None,
    **options: Unpack[RankOptions],
) -> Table: ...
@statistic()
def quantile(
    of: ColumnOf,
    q: float | Sequence[float] = 0.5,
    *,
    step: float | None = None,
    method: Method | None = None,
    confidence: float | None = CONFIDENCE,
    population: bool = False,
) -> OneSum[Estimate] | OneSum[Table] | Estimate | Table:
    """Release quantiles of a column.

    Parameters
    ----------
    q : float, or sequence of float
        Public. The level, in [0, 1]: 0.5 for the median.
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
    by : str or sequence of str, optional
        Public. The columns that make groups: with listed values, with a step, or with `edges`. All groups together cost
        what one does, and records without a group are in none. The quantiles of groups are found by trees of counts.

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
    wanted = QuantileRequest(of, tuple(sorted(levels)), confidence, population, step, method)
    if np.ndim(q) == 0:
        name = f"{levels[0]:.4g} quantile of {of.column}"
        single: OneSum[Estimate] | Estimate = wanted.asked(name, lambda paid: wanted.estimate(name, paid))
        return single
    name = f"quantiles of {of.column}"
    if of.groups is not None:
        return _in_groups(wanted, of.groups, name, levels)
    several: OneSum[Table] | Table = wanted.asked(name, lambda paid: _table(wanted, name, levels, paid))
    return several


@overload
def median(
    data: Any,
    column: str | None = None,
    *,
    by: None = None,
    step: float | None = None,
    method: Method | None = None,
    **options: Unpack[RankOptions],
) -> Estimate: ...
@overload
def median(
    data: Any,
    column: str | None = None,
    *,
    by: By,
    step: float | None = None,
    method: Method | None = None,
    **options: Unpack[RankOptions],
) -> Table: ...
@statistic(like=quantile)
def median(
    of: ColumnOf,
    *,
    step: float | None = None,
    method: Method | None = None,
    confidence: float | None = CONFIDENCE,
    population: bool = False,
) -> OneSum[Estimate] | Estimate:
    """Release the median of a column: the quantile of level one half.

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
    wanted, name = QuantileRequest(of, (0.5,), confidence, population, step, method), f"median of {of.column}"
    return wanted.asked(name, lambda paid: wanted.estimate(name, paid))


def _table(wanted: QuantileRequest, name: str, levels: Sequence[float], paid: Paid) -> Table:
    """Quantiles in the order in which they were asked for."""
    place = np.argsort(np.argsort(levels, kind="stable"))
    low, high = (None, None) if paid.found.ends is None else paid.found.ends[:, place]
    return Table(
        name=name,
        labels={"q": np.array(levels)},
        series=(Series("value", paid.found.values[place], None, low, high, kind=wanted.of.time),),
        confidence=wanted.confidence,
        population=wanted.population,
        receipt=paid.receipt,
    )


def _in_groups(wanted: QuantileRequest, groups: Groups, name: str, levels: Sequence[float]) -> Table:
    """A row for each group, a column for each level."""
    one = wanted.asked(name, lambda paid: _table(wanted, name, levels, paid))
    assert isinstance(one, OneSum)
    found = groups.released(one)
    assert isinstance(found, GroupedResults)
    columns = [
        Series(
            f"{level:.4g} quantile",
            *(_across(found.results, field, place) for field in ("values", "standard_error", "low", "high")),
            kind=wanted.of.time,
        )
        for place, level in enumerate(levels)
    ]
    return Table(
        name=found.name,
        labels=found.labels,
        series=tuple(columns),
        confidence=wanted.confidence,
        population=wanted.population,
        receipt=found.receipt,
    )


def _across(tables: Sequence[Table], field: str, place: int) -> Any:
    """One number of every group's table; None where tables have none."""
    each = [getattr(table.series[0], field) for table in tables]
    return None if each[0] is None else np.array([one[place] for one in each])
