"""Quantiles that are wanted, and the way to find them that their data and budget allow."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from discreet.accounting.calibration import calibrate
from discreet.core.errors import ParameterError
from discreet.core.receipt import Receipt
from discreet.mechanisms.ranks.quantile import FlippedQuantile, Quantile
from discreet.questions.tables.cells import Edges
from discreet.releases.ask import ColumnOf, OneSum, Released, Result
from discreet.releases.estimate import Estimate
from discreet.releases.joint_plan import JointPlan
from discreet.releases.least_noise import pure
from discreet.releases.statistic import SharedOptions
from discreet.schema.schema import Number
from discreet.statistics.ranks.cumulative_counts import CumulativeCounts
from discreet.statistics.ranks.quantiles_by_records import ByRecords
from discreet.statistics.ranks.quantiles_by_tree import ByTree
from discreet.statistics.ranks.rank_width import Found

CELLS = 2**40  # between the bounds, if no step is given
COARSE = 2**20  # cells up to which visiting them one by one is better than the exponential mechanism
Method = Literal["records", "tree"]


class RankOptions(SharedOptions, total=False):
    """What statistics of ranks take by name; without a confidence they have no interval."""

    edges: Edges | None
    confidence: float | None
    population: bool


@dataclass(frozen=True)
class Paid:
    """Quantiles that were found, by what, and the receipt."""

    found: Found
    way: ByRecords | ByTree
    mechanisms: tuple[Any, ...]
    receipt: Receipt


@dataclass(frozen=True)
class QuantileRequest:
    """Quantiles of a column, and the way to find them.

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
    method : {"records", "tree"}, optional
        Public. How they are found.
    """

    of: ColumnOf
    levels: tuple[float, ...]
    confidence: float | None
    population: bool
    step: float | None
    method: Method | None = None

    def __post_init__(self) -> None:
        asked = f"quantile of {self.of.column}"
        if not self.levels or not all(0 <= q <= 1 for q in self.levels):
            raise ParameterError(asked, f"q is {self.levels}", "Give levels in [0, 1].", q=self.levels)
        if self.method == "records" and self.of.groups is not None:
            raise ParameterError(asked, "groups are found by trees of counts", 'Give method "tree" or None.')
        if self.method == "records":
            self.of.data.check_curated(asked)

    @property
    def by_records(self) -> bool:
        """Whether the exponential mechanism can be asked, and no tree is wanted or needed."""
        return self.of.data.curated and self.method != "tree" and self.of.groups is None

    @property
    def way(self) -> ByRecords | ByTree:
        """The way to find them: what decides is public."""
        cells, size, budget = (
            cells_between(self.of.column, self.of.schema.number(self.of.column), self.step),
            self.of.size,
            self.of.budget,
        )
        flips = cells <= COARSE and pure(self.of.data, budget)
        records = ByRecords(
            self.of, self.levels, self.confidence, self.population, cells, FlippedQuantile if flips else Quantile
        )
        blurred = self.method is None and size is not None and records.blurred(size, budget.epsilon)
        if self.by_records and not blurred:
            return records
        return ByTree(self.of, self.levels, self.confidence, self.population, cells)

    def asked(self, name: str, read: Callable[[Paid], Result]) -> OneSum[Result] | Result:
        """What is read off the quantiles: of one sum, or of what is paid for and found at once."""
        way, of = self.way, self.of
        if isinstance(way, ByTree):
            return way.asked(name, lambda one, counts: read(_paid(way, one, counts)))
        plan = calibrate(JointPlan(way.parts), of.budget)
        with of.data.permit(plan.event, name, key=of.key) as permit:
            found = way.found(permit, plan.mechanisms)
        return read(Paid(found, way, plan.mechanisms, permit.receipt))

    def estimate(self, name: str, paid: Paid) -> Estimate:
        """The first of them, as a number with an interval."""
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


def _paid(way: ByTree, released: Released, counts: CumulativeCounts) -> Paid:
    """The quantiles in the counts of a tree: post-processing."""
    return Paid(way.read(counts, released.spread), way, (released.spread.noise,), released.receipt)


def cells_between(column: str, number: Number, step: float | None = None) -> int:
    """How many steps there are between a column's bounds: those of a fine grid, if no step is known."""
    step = number.step if step is None else step
    if step is None:
        return CELLS
    steps = (number.upper - number.lower) / step if step > 0 else math.nan
    if not 1 <= steps <= 2**50 or abs(steps - round(steps)) > 1e-9 * steps:
        raise ParameterError(
            f"quantile of {column}",
            f"step is {step}, and the bounds {number.lower} and {number.upper} are not a whole number of steps apart",
            "Give what values are multiples of, counted from the lower bound, such as 1 for whole numbers.",
            step=step,
        )
    return round(steps)
