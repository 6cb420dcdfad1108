"""Private minimum, maximum and range of a column: as far out as enough records are to hide any one of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.core.question import AllRecords
from discreet.core.receipt import Receipt
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.quantile import Quantile
from discreet.statistics.ask import ColumnOf, column_of
from discreet.statistics.count import count_of
from discreet.statistics.interval_estimate import IntervalEstimate
from discreet.statistics.noise import CONFIDENCE
from discreet.statistics.quantile import Wanted
from discreet.statistics.quantiles_by_tree import ByTree
from discreet.statistics.together import Together
from discreet.trust.permit import Permit

COUNT = 0.1  # what the number of values gets of the price
NOISIEST = 7 / 15  # of the line: half a cell on every level, the farthest from counts of whole cells
RISK = 1e-3  # that the end is looked for where no records are
CELLS = 2**20  # a line on which some cell with records is found rather than all without


@dataclass(frozen=True)
class _Tails:
    """The ends of a column's values; `sides` has -1 for the low one and 1 for the high one.

    By records: the quantile of a rank so high that all cells without a record at or below them are together chosen with
    probability below `RISK`: they are `CELLS` at most, each exp(-rank / scale) times as likely as the cell of
    that rank. By a tree: a rank as high as two deviations of the noise in it.
    """

    of: ColumnOf
    sides: tuple[int, ...]
    budget: Budget

    def paid(self, name: str, key: str | None) -> tuple[Array, Receipt]:
        """Pay for the ends, and find them."""
        way = Wanted(self.of, (0.5,), None, None, self.budget).way
        plan = calibrate(Together(way.parts if isinstance(way, ByTree) else self._parts), self.budget)
        request = f"{type(way).__name__} {self.of.column} {self.sides}"
        with self.of.data.permit(plan.event, name, request=request, key=key) as permit:
            if isinstance(way, ByTree):
                found = self._by_tree(way, permit, plan.mechanisms[0])
            else:
                found = self._by_records(permit, *plan.mechanisms)
        return np.array(found), permit.receipt

    @property
    def _parts(self) -> tuple[Any, ...]:
        number = self.of.data.schema.number(self.of.column)
        each = Quantile((1 - COUNT) / len(self.sides), 0.5, number.lower, number.upper, CELLS)
        return (Laplace(1 / COUNT), *len(self.sides) * (each,))

    def _by_records(self, permit: Permit, count: Laplace, *ends: Quantile) -> list[float]:
        number = float(permit.ask(count_of(self.of.data.schema, self.of.column), count)[0])
        found = []
        for side, end in zip(self.sides, ends, strict=True):
            outermost = Quantile(end.epsilon, 0.5 + 0.49 * side, end.lower, end.upper, CELLS)
            scale = outermost.target(self.of.data.unit.rows, self.of.data.neighbors).ranks
            share = min(scale * math.log(CELLS / RISK) / max(number, 1.0), 0.5)
            asked = Quantile(end.epsilon, share if side < 0 else 1 - share, end.lower, end.upper, CELLS)
            found.append(float(permit.ask(AllRecords((self.of.column,)), asked)))
        return found

    def _by_tree(self, way: ByTree, permit: Permit, noise: Any) -> list[float]:
        tree, ends = way.tree(permit, noise), self.of.data.schema.number(self.of.column)
        noisiest = ends.lower + (ends.upper - ends.lower) * NOISIEST
        number = max(tree.number, 0.0)
        rank = min(2 * way.unit(noise).stddev * tree.deviation(noisiest, 0.0), number / 2)
        return [tree.place(rank if side < 0 else number - rank).inside for side in self.sides]


def minimum(
    data: Any,
    column: str | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> IntervalEstimate:
    """Release a value that hardly any values of a column are below.

    The least value belongs to one record, so it cannot be told. What is released is the quantile of a small share: some
    50 / epsilon records lie below, few enough where there are many, and enough that no one matters.

    Parameters
    ----------
    data : PrivateData, or array of shape (n,)
        The records; missing values do not count.
    column : str, optional
        Public. The column, for private data.
    bounds : (float, float), optional
        Public. For an array: values outside are moved to the nearer one. Private data have them in their schema.
    epsilon, delta : float
        Public. What this may cost.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    IntervalEstimate
        The value. The least value of these records is between the lower bound and it, with 95 % confidence.

    Guarantee
    ---------
    The event on the receipt: `Quantile` and `Laplace` noise on the number of values, or one tree of counts; see
    `quantile`.

    Examples
    --------
    >>> bool(minimum(np.arange(100_000) % 1000, bounds=(-1000, 1000), epsilon=1.0).value < 10)
    True
    """
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget)
    name, number = f"minimum of {of.column}", of.data.schema.number(of.column)
    found, receipt = _Tails(of, (-1,), budget).paid(name, key)
    return IntervalEstimate(name, float(found[0]), number.lower, float(found[0]), CONFIDENCE, receipt)


def maximum(
    data: Any,
    column: str | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> IntervalEstimate:
    """Release a value that hardly any values of a column are above.

    Parameters
    ----------
    data : PrivateData, or array of shape (n,)
        The records; missing values do not count.
    column : str, optional
        Public. The column, for private data.
    bounds : (float, float), optional
        Public. For an array: values outside are moved to the nearer one. Private data have them in their schema.
    epsilon, delta : float
        Public. What this may cost.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    IntervalEstimate
        The value. The greatest value of these records is between it and the upper bound, with 95 % confidence.

    Guarantee
    ---------
    The event on the receipt; see `minimum`.

    Examples
    --------
    >>> bool(maximum(np.arange(100_000) % 1000, bounds=(-1000, 2000), epsilon=1.0).value > 990)
    True
    """
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget)
    name, number = f"maximum of {of.column}", of.data.schema.number(of.column)
    found, receipt = _Tails(of, (1,), budget).paid(name, key)
    return IntervalEstimate(name, float(found[0]), float(found[0]), number.upper, CONFIDENCE, receipt)


def value_range(
    data: Any,
    column: str | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> IntervalEstimate:
    """Release how far the values of a column are apart, but for the outermost.

    Parameters
    ----------
    data : PrivateData, or array of shape (n,)
        The records; missing values do not count.
    column : str, optional
        Public. The column, for private data.
    bounds : (float, float), optional
        Public. For an array: values outside are moved to the nearer one. Private data have them in their schema.
    epsilon, delta : float
        Public. What this may cost.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    IntervalEstimate
        The difference of a `maximum` and a `minimum`. The range of these records is between it and the distance of the
        bounds, with 90 % confidence: 95 % at each end.

    Guarantee
    ---------
    The event on the receipt; see `minimum`.

    Examples
    --------
    >>> bool(value_range(np.arange(100_000) % 1000, bounds=(-1000, 2000), epsilon=1.0).value > 900)
    True
    """
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget)
    name, number = f"range of {of.column}", of.data.schema.number(of.column)
    found, receipt = _Tails(of, (-1, 1), budget).paid(name, key)
    value = max(float(found[1] - found[0]), 0.0)
    return IntervalEstimate(name, value, value, number.upper - number.lower, 2 * CONFIDENCE - 1, receipt)
