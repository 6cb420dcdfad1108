"""Quantiles that are wanted, and the way to find them that their data and budget allow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.receipt import Receipt
from discreet.mechanisms.ranks.quantile import FlippedQuantile, Quantile
from discreet.releases.ask import ColumnOf
from discreet.releases.estimate import Estimate
from discreet.releases.groups import Groups
from discreet.releases.joint_plan import JointPlan
from discreet.releases.least_noise import pure
from discreet.releases.release import check_confidence
from discreet.releases.table import Table
from discreet.statistics.ranks.grouped_quantiles import grouped_quantiles
from discreet.statistics.ranks.quantiles_by_records import ByRecords
from discreet.statistics.ranks.quantiles_by_tree import ByTree
from discreet.statistics.ranks.rank_width import Found

CELLS = 2**40  # between the bounds, if no step is given
COARSE = 2**20  # cells up to which visiting them one by one is better than the exponential mechanism
Method = Literal["records", "tree"]


@dataclass(frozen=True)
class Paid:
    """Quantiles that were found, and the receipt."""

    found: Found
    receipt: Receipt


@dataclass(frozen=True)
class QuantileRequest:
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
        return self._tree

    @property
    def _tree(self) -> ByTree:
        cells = cells_between(self.of, self.step)
        return ByTree(self.of, self.levels, self.confidence, self.population, cells, self.budget)

    def paid(self, purpose: str, key: str | None) -> Paid:
        """Pay and find them."""
        way = self.way
        plan = calibrate(JointPlan(way.parts), self.budget)
        with self.of.data.permit(plan.event, purpose, key=key) as permit:
            found = way.found(permit, plan.mechanisms)
        return Paid(found, permit.receipt)

    def grouped(self, groups: Groups, name: str, levels: Sequence[float], key: str | None) -> Table:
        """All of them, in every group."""
        if self.method == "records":
            raise ParameterError(name, "groups are found by trees of counts", 'Give method "tree" or None.')
        return grouped_quantiles(self._tree, groups, name, levels, key)

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
            kind=self.of.time,
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
