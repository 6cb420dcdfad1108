"""Private minimum, maximum and range of a column: as far out as there are enough records to hide any one of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Unpack, overload

from scipy.special import ndtri

from discreet.accounting.calibration import calibrate
from discreet.core.receipt import Receipt
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.ranks.quantile import Quantile
from discreet.questions.columns.total import count_of
from discreet.questions.question import AllRecords
from discreet.releases.ask import ColumnOf, OneSum
from discreet.releases.declaration import Refusal
from discreet.releases.estimate import Estimate
from discreet.releases.groups import By
from discreet.releases.joint_plan import JointPlan
from discreet.releases.spread import CONFIDENCE, spread
from discreet.releases.statistic import Options, statistic
from discreet.releases.table import Table
from discreet.schema.schema import Number
from discreet.statistics.ranks.cumulative_counts import CumulativeCounts
from discreet.statistics.ranks.quantile_request import QuantileRequest
from discreet.statistics.ranks.quantiles_by_tree import ByTree
from discreet.trust.permit import Permit

COUNT = 0.1  # what the number of values gets of the price
MISSED, MISCOUNTED = 0.8, 0.2  # of the risk: that the value is beyond the records, and that there are fewer of them
NOISIEST = 7 / 15  # of the line: half a cell on every level, the farthest from counts of whole cells
CELLS = 2**21  # a line on which values are moved to cells, and one with records is found rather than all without


NO_SAMPLE = Refusal(
    "no sample determines the extremes of its population",
    "Ask for a quantile of a level near 0 or 1, with population=True.",
)


@dataclass(frozen=True)
class _Tail:
    """A value near an end of the records, and how far inside that end may be: mostly the same."""

    value: float
    inside: float


@dataclass(frozen=True)
class _Tails:
    """The ends of a column's values; `sides` has -1 for the low one and 1 for the high one.

    By records: the quantile of a rank so high that all cells without a record at or below them are together chosen with
    probability below a part of the risk: they are `CELLS` at most, each exp(-rank / scale) times as likely as the cell
    of that rank. If there are too few records for such a rank, nothing is known. By a tree: a rank that noise alone
    seldom passes.
    """

    of: ColumnOf
    sides: tuple[int, ...]
    risk: float

    def asked(self, name: str, read: Callable[[Sequence[_Tail], Receipt], Estimate]) -> OneSum[Estimate] | Estimate:
        """What is read off the ends: of one sum, or of what is paid for and found at once."""
        way, of = QuantileRequest(self.of, (0.5,), None, False, None).way, self.of
        if isinstance(way, ByTree):
            return way.asked(name, lambda one, counts: read(self._in_tree(counts, one.spread.stddev), one.receipt))
        plan = calibrate(JointPlan(self._parts), of.budget)
        with of.data.permit(plan.event, name, key=of.key) as permit:
            found = self._by_records(permit, *plan.mechanisms)
        return read(found, permit.receipt)

    @property
    def ends(self) -> Number:
        return self.of.data.schema.number(self.of.column)

    @property
    def _parts(self) -> tuple[Any, ...]:
        each = Quantile((1 - COUNT) / len(self.sides), 0.5, self.ends.lower, self.ends.upper, CELLS)
        return (Laplace(1 / COUNT), *len(self.sides) * (each,))

    def _by_records(self, permit: Permit, count: Laplace, *ends: Quantile) -> list[_Tail]:
        question = count_of(self.of.data.schema, self.of.column)
        off = spread(self.of.data, question, count).half_width([1.0], 1 - 2 * MISCOUNTED * self.risk)
        surely = max(float(permit.ask(question, count)[0]) - off, 1.0)
        found = []
        for side, end in zip(self.sides, ends, strict=True):
            outermost = dataclasses.replace(end, q=0.5 + 0.49 * side)
            scale = outermost.target(self.of.data.unit.rows, self.of.data.neighbors).ranks
            share = scale * math.log(CELLS * len(self.sides) / (MISSED * self.risk)) / surely
            asked = dataclasses.replace(end, q=0.5 + side * (0.5 - min(share, 0.5)))
            value = float(permit.ask(AllRecords((self.of.column,)), asked))
            found.append(_Tail(value, self._beyond(value, side) if share <= 0.5 else self._farther(side)))
        return found

    def _beyond(self, value: float, side: int) -> float:
        """Half a cell farther inside, since values are moved to the nearest cell."""
        half = 0.5 * (self.ends.upper - self.ends.lower) / CELLS
        return min(max(value - side * half, self.ends.lower), self.ends.upper)

    def _in_tree(self, tree: CumulativeCounts, deviation: float) -> list[_Tail]:
        ends = self.ends
        number, noisiest = max(tree.number, 0.0), ends.lower + (ends.upper - ends.lower) * NOISIEST
        rank = farthest(self.risk / len(self.sides)) * deviation * tree.deviation(noisiest, 0.0)
        few = 2 * rank > number - farthest(self.risk) * deviation * tree.deviation(ends.upper, 0.0)
        found = []
        for side in self.sides:
            place = tree.place(min(rank, number / 2) if side < 0 else number - min(rank, number / 2))
            inside = self._farther(side) if few else place.high if side < 0 else place.low
            found.append(_Tail(place.inside, inside))
        return found

    def _farther(self, side: int) -> float:
        return self.ends.upper if side < 0 else self.ends.lower


def farthest(risk: float) -> float:
    """The deviations that sums of noise on a tree pass somewhere with this probability, from simulation.

    Examples
    --------
    >>> round(farthest(0.05), 2), round(farthest(0.025), 2)
    (2.6, 2.9)
    """
    return float(-ndtri(risk / (10.7 * (0.05 / risk) ** 0.33)))


@overload
def minimum(data: Any, column: str | None = None, *, by: None = None, **options: Unpack[Options]) -> Estimate: ...
@overload
def minimum(data: Any, column: str | None = None, *, by: By, **options: Unpack[Options]) -> Table: ...
@statistic(no_population=NO_SAMPLE)
def minimum(of: ColumnOf, *, confidence: float = CONFIDENCE) -> OneSum[Estimate] | Estimate:
    """Release a value that hardly any values of a column are below.

    The least value belongs to one record, so it cannot be released. What is released is a quantile of a low level: some
    40 / epsilon records lie below, few enough where there are many, and enough that no one matters.

    Returns
    -------
    Estimate
        The value. The least value of these records is between the lower bound and it, with the given confidence, or
        more: that holds for the worst of data, and for ordinary ones it is nearly certain. If there are too few records
        for any of them to be hidden, the interval is from bound to bound.

    Guarantee
    ---------
    The event on the receipt: `Quantile` and `Laplace` noise on the number of values, or one tree of counts; see
    `quantile`.

    Examples
    --------
    >>> import numpy as np
    >>> bool(minimum(np.arange(100_000) % 1000, bounds=(-1000, 1000), epsilon=1.0).value < 10)
    True
    """
    return _extreme("minimum", of, -1, confidence)


@overload
def maximum(data: Any, column: str | None = None, *, by: None = None, **options: Unpack[Options]) -> Estimate: ...
@overload
def maximum(data: Any, column: str | None = None, *, by: By, **options: Unpack[Options]) -> Table: ...
@statistic(no_population=NO_SAMPLE)
def maximum(of: ColumnOf, *, confidence: float = CONFIDENCE) -> OneSum[Estimate] | Estimate:
    """Release a value that hardly any values of a column are above.

    Returns
    -------
    Estimate
        The value. The greatest value of these records is between it and the upper bound, with the given confidence or
        more; see `minimum`.

    Guarantee
    ---------
    The event on the receipt; see `minimum`.

    Examples
    --------
    >>> import numpy as np
    >>> bool(maximum(np.arange(100_000) % 1000, bounds=(-1000, 2000), epsilon=1.0).value > 990)
    True
    """
    return _extreme("maximum", of, 1, confidence)


@overload
def value_range(data: Any, column: str | None = None, *, by: None = None, **options: Unpack[Options]) -> Estimate: ...
@overload
def value_range(data: Any, column: str | None = None, *, by: By, **options: Unpack[Options]) -> Table: ...
@statistic(no_population=NO_SAMPLE)
def value_range(of: ColumnOf, *, confidence: float = CONFIDENCE) -> OneSum[Estimate] | Estimate:
    """Release how far the values of a column are apart, except for the outermost.

    Returns
    -------
    Estimate
        The difference of a `maximum` and a `minimum`. The range of these records is between it and the distance of the
        bounds, with the given confidence or more; see `minimum`.

    Guarantee
    ---------
    The event on the receipt; see `minimum`.

    Examples
    --------
    >>> import numpy as np
    >>> bool(value_range(np.arange(100_000) % 1000, bounds=(-1000, 2000), epsilon=1.0).value > 900)
    True
    """
    name, tails = f"range of {of.column}", _Tails(of, (-1, 1), 1 - confidence)

    def read(found: Sequence[_Tail], receipt: Receipt) -> Estimate:
        low, high = found
        value, least = (max(apart, 0.0) for apart in (high.value - low.value, high.inside - low.inside))
        most = tails.ends.upper - tails.ends.lower
        return Estimate(name=name, value=value, low=least, high=most, confidence=confidence, receipt=receipt)

    return tails.asked(name, read)


def _extreme(what: str, of: ColumnOf, side: int, confidence: float) -> OneSum[Estimate] | Estimate:
    """One end of the values: its interval reaches from as far inside as it may be to the bound."""
    name, tails = f"{what} of {of.column}", _Tails(of, (side,), 1 - confidence)

    def read(found: Sequence[_Tail], receipt: Receipt) -> Estimate:
        (one,) = found
        low, high = (tails.ends.lower, one.inside) if side < 0 else (one.inside, tails.ends.upper)
        return Estimate(name=name, value=one.value, low=low, high=high, confidence=confidence, receipt=receipt)

    return tails.asked(name, read)
