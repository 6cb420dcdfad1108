"""Private quantiles of a column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.receipt import Receipt
from discreet.mechanisms.ranks.flipped_quantile import FlippedQuantile
from discreet.mechanisms.ranks.quantile import Quantile
from discreet.releases.ask import ColumnOf, column_of
from discreet.releases.columns import Series
from discreet.releases.estimate import Estimate
from discreet.releases.joint_plan import Together
from discreet.releases.least_noise import pure
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Table
from discreet.statistics.ranks.quantiles_by_records import ByRecords
from discreet.statistics.ranks.quantiles_by_tree import ByTree
from discreet.statistics.ranks.rank_width import Found
from discreet.trust.as_private import Bounds

CELLS = 2**40  # between the bounds, if no step is given
COARSE = 2**20  # cells up to which visiting them one by one is better than the exponential mechanism
Method = Literal["records", "tree"]


@dataclass(frozen=True)
class Paid:
    """Quantiles that were found, and the receipt."""

    found: Found
    receipt: Receipt


@dataclass(frozen=True)
class Wanted:
    """Quantiles of a column, with a budget to pay for them.

    Parameters
    ----------
    of : ColumnOf
        The column.
    levels : tuple of float
        Public. Of the quantiles: in [0, 1], ascending.
    confidence : float or None
        Public. Of each interval; None for no intervals.
    population : bool
        Public. Whether intervals are for the population.
    step : float or None
        Public. What values are multiples of.
    budget : Budget
        Public. What all of it may cost.
    method : {"records", "tree"}, optional
        Public. How they are found.
    """

    of: ColumnOf
    levels: tuple[float, ...]
    confidence: float | None
    population: bool
    step: float | None
    budget: Budget
    method: Method | None = None

    def __post_init__(self) -> None:
        asked = f"quantile of {self.of.column}"
        if not self.levels or not all(0 <= q <= 1 for q in self.levels):
            raise ParameterError(asked, f"q is {self.levels}", "Give levels in [0, 1].", q=self.levels)
        if self.confidence is not None:
            check_confidence(asked, self.confidence)
        if self.method not in (None, "records", "tree"):
            raise ParameterError(asked, f"there is no method {self.method!r}", 'Give "records", "tree" or None.')
        if self.method == "records" and not self.by_records:
            self.of.data.check_curated(asked)

    @property
    def by_records(self) -> bool:
        """Whether the exponential mechanism can be asked, and no tree is wanted."""
        return self.of.data.curated and self.method != "tree"

    @property
    def way(self) -> ByRecords | ByTree:
        """The way to find them: what decides is public."""
        cells, size = cells_between(self.of, self.step), self.of.data.public_size
        flips = cells <= COARSE and pure(self.of.data, self.budget)
        records = ByRecords(
            self.of, self.levels, self.confidence, self.population, cells, FlippedQuantile if flips else Quantile
        )
        blurred = self.method is None and size is not None and records.blurred(size, self.budget.epsilon)
        if self.by_records and not blurred:
            return records
        return ByTree(self.of, self.levels, self.confidence, self.population, cells, self.budget)

    def paid(self, purpose: str, key: str | None) -> Paid:
        """Pay and find them."""
        way = self.way
        plan = calibrate(Together(way.parts), self.budget)
        with self.of.data.permit(plan.event, purpose, key=key) as permit:
            found = way.found(permit, plan.mechanisms)
        return Paid(found, permit.receipt)

    def estimate(self, name: str, key: str | None) -> Estimate:
        """The first of them, as a number with an interval."""
        paid = self.paid(name, key)
        low, high = (None, None) if paid.found.ends is None else paid.found.ends[:, 0].tolist()
        return Estimate(
            name=name,
            value=float(paid.found.values[0]),
            low=low,
            high=high,
            confidence=self.confidence,
            population=self.population,
            receipt=paid.receipt,
        )


def cells_between(of: ColumnOf, step: float | None) -> int:
    """How many steps there are between a column's bounds: those of a fine grid, if no step is known."""
    number = of.data.schema.number(of.column)
    step = number.step if step is None else step
    if step is None:
        return CELLS
    steps = (number.upper - number.lower) / step if step > 0 else math.nan
    if not 1 <= steps <= 2**50 or abs(steps - round(steps)) > 1e-9 * steps:
        raise ParameterError(
            f"quantile of {of.column}",
            f"step is {step}, and the bounds {number.lower} and {number.upper} are not a whole number of steps apart",
            "Give what values are multiples of, counted from the lower bound, such as 1 for whole numbers.",
            step=step,
        )
    return round(steps)


def quantile(
    data: Any,
    column: str | None = None,
    q: float | Sequence[float] = 0.5,
    *,
    bounds: Bounds | None = None,
    where: str | None = None,
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
    Estimate, or Table for a sequence of levels
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
    wanted = Wanted(of, tuple(sorted(levels)), confidence, population, step, budget, method)
    if np.ndim(q) == 0:
        return wanted.estimate(f"{levels[0]:.4g} quantile of {of.column}", key)
    paid, name = wanted.paid(f"quantiles of {of.column}", key), f"quantiles of {of.column}"
    place = np.argsort(np.argsort(levels, kind="stable"))
    low, high = (None, None) if paid.found.ends is None else paid.found.ends[:, place]
    return Table(
        name=name,
        labels={"q": np.array(levels)},
        series=(Series("value", paid.found.values[place], None, low, high),),
        confidence=confidence,
        population=population,
        receipt=paid.receipt,
    )


def median(
    data: Any,
    column: str | None = None,
    *,
    bounds: Bounds | None = None,
    where: str | None = None,
    step: float | None = None,
    confidence: float | None = CONFIDENCE,
    population: bool = False,
    method: Method | None = None,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate:
    """Release the median of a column: the quantile of level one half.

    Parameters
    ----------
    data, where, column, bounds, step, confidence, population, method, epsilon, delta, key
        Public, except for the data. As for `quantile`.

    Returns
    -------
    Estimate
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
    return Wanted(of, (0.5,), confidence, population, step, budget, method).estimate(f"median of {of.column}", key)
