"""What a report asks about one column, and what it makes of the releases."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from discreet.core.grid import Array
from discreet.core.mechanism import Mechanism
from discreet.core.receipt import Receipt
from discreet.mechanisms.additive.laplace import Laplace
from discreet.query.column_profile import ColumnProfile
from discreet.query.plan import Plan
from discreet.query.quantile_interval import Enclosure, quantile_interval
from discreet.questions.columns.moments import moments_of
from discreet.questions.grouped import counted
from discreet.questions.question import AllRecords, BoundedSum, Question
from discreet.questions.tables.cells import cut
from discreet.questions.tables.key_counts import KeyCounts
from discreet.releases.ask import Released
from discreet.releases.estimate import Estimate
from discreet.releases.spread import CONFIDENCE, Spread, spread
from discreet.schema.dates import Temporal
from discreet.schema.schema import Category, Number, Text
from discreet.statistics.moments.column_moments import Figure, Moments
from discreet.statistics.ranks.bracketed_quantiles import BracketedQuantiles
from discreet.statistics.ranks.quantile_request import cells_between
from discreet.statistics.ranks.rank_width import Found
from discreet.statistics.tables.histogram import Histogram, quantile_of
from discreet.statistics.tables.key_counts import NamedCounts
from discreet.trust.private_data import PrivateData


class Ask(Protocol):
    """Asks one question, whose release is called so while it is waited for."""

    def __call__(self, what: str, question: Question, mechanism: Mechanism[Any]) -> Any: ...


EITHER = (1 + CONFIDENCE) / 2  # of each of two intervals of which one is shown


@dataclass(frozen=True)
class Setting:
    """What all columns of a report share; everything in it is public except the data."""

    data: PrivateData
    plan: Plan
    bins: int
    quantiles: tuple[float, ...]
    public_size: int | None


class ColumnAsk(Protocol):
    """The part of a report that is about one column."""

    @property
    def number(self) -> int: ...

    def released(self, ask: Ask) -> list[Any]:
        """The releases, in order."""
        ...

    def profile(self, releases: Sequence[Any], receipt: Receipt) -> ColumnProfile:
        """What the releases say: post-processing."""
        ...


def column_ask(setting: Setting, name: str) -> ColumnAsk:
    """What a report asks about a column."""
    match setting.data.schema.columns[name]:
        case Number() as kind:
            return NumberAsk(setting, name, kind)
        case Category() as kind:
            return CategoryAsk(setting, name, kind)
        case Text() as kind:
            return TextAsk(setting, name, kind)


@dataclass(frozen=True)
class NumberAsk:
    """Count, mean and standard deviation from one sum, a histogram from another; and quantiles.

    Where a curator can be asked, quantiles are searched for among the records. One whose interval is wider than a cell
    of the histogram, since there are few records or none near it, is read off the histogram instead, as all are
    elsewhere. Of either kind of interval half as many fail as may in all, so that the choice is harmless.
    """

    setting: Setting
    name: str
    kind: Number

    @property
    def number(self) -> int:
        return 3 if self.setting.plan.searches else 2

    def released(self, ask: Ask) -> list[Any]:
        """Bernstein sums of degree 2, a histogram, and the quantiles around levels that depend on the count."""
        noise, cells = self.setting.plan.noise, ColumnCells(self.setting, self.name)
        sums = ask(f"moments of {self.name}", self._sums, noise)
        counts = ask(f"histogram of {self.name}", cells.question, noise)
        if not self.setting.plan.searches:
            return [sums, counts]
        wanted = self._brackets(sums)
        found = ask(f"quantiles of {self.name}", AllRecords((self.name,)), wanted.mechanism)
        return [sums, counts, wanted.read(found)]

    def profile(self, releases: Sequence[Any], receipt: Receipt) -> ColumnProfile:
        """Figures and bars."""
        sums, counts, *found = releases
        cells = ColumnCells(self.setting, self.name)
        read = [_read_off(cells, counts, q) for q in self.setting.quantiles]
        if found:
            read = _narrower(found[0], read, cells)
        pairs = zip(self.setting.quantiles, read, strict=True)
        quantiles = [_estimate(quantile_name(q), one.value, one.error, receipt, self._time) for q, one in pairs]
        return ColumnProfile(
            self.name, self.kind, (*self._moments(sums, receipt), *quantiles), cells.histogram(counts, receipt)
        )

    @property
    def _time(self) -> Temporal | None:
        return self.kind if isinstance(self.kind, Temporal) else None

    @property
    def _sums(self) -> BoundedSum:
        return moments_of(self.setting.data.schema, self.name, 2, self.setting.public_size is not None)

    def _brackets(self, sums: Array) -> BracketedQuantiles:
        data, kind = self.setting.data, self.kind
        count = Moments(sums, kind, self.setting.public_size).count().value
        cells = cells_between(self.name, kind)
        search = dataclasses.replace(self.setting.plan.search, lower=kind.lower, upper=kind.upper, cells=cells)
        return BracketedQuantiles(
            self.setting.quantiles, EITHER, False, max(1.0, count), search, data.unit.rows, data.neighbors
        )

    def _moments(self, sums: Array, receipt: Receipt) -> list[Estimate]:
        size, width = self.setting.public_size, self.kind.upper - self.kind.lower
        noise = spread(self.setting.data, self._sums, self.setting.plan.noise)
        moments = Moments(sums, self.kind, size)
        count, mean, variance = moments.count(), moments.mean(), moments.variance()
        off = _square_root_error(variance, noise.half_width(variance.weights))
        return [
            _estimate("count", count.value, noise.half_width(count.weights), receipt),
            _estimate("mean", mean.value, min(noise.half_width(mean.weights), width), receipt, self._time),
            _estimate("standard deviation", math.sqrt(variance.value), min(off, width / 2), receipt),
        ]


@dataclass(frozen=True)
class _ReadOff:
    """A quantile, and the interval that holds it."""

    value: float
    held: Enclosure

    @property
    def error(self) -> float:
        return self.held.error(self.value)


def _read_off(cells: ColumnCells, counts: Array, q: float) -> _ReadOff:
    """A quantile of a histogram."""
    edges = np.asarray(cells.edges)
    return _ReadOff(quantile_of(counts, edges, q), quantile_interval(counts, edges, q, cells.spread, cells.confidence))


def _narrower(found: Found, read: Sequence[_ReadOff], cells: ColumnCells) -> list[_ReadOff]:
    """Each quantile as it was found, if to within a cell and where the histogram has it; else as it was read off."""
    edges, ends = np.asarray(cells.edges), np.zeros((2, len(read))) if found.ends is None else found.ends
    chosen = []
    for value, low, high, other in zip(found.values.tolist(), *ends.tolist(), read, strict=True):
        sure = high - low <= edges[1] - edges[0] and other.held.low <= high and low <= other.held.high
        chosen.append(_ReadOff(value, Enclosure(low, high)) if sure else other)
    return chosen


@dataclass(frozen=True)
class CategoryAsk:
    """Records per listed value."""

    setting: Setting
    name: str
    kind: Category

    number: ClassVar[int] = 1

    def released(self, ask: Ask) -> list[Any]:
        """A histogram."""
        question = ColumnCells(self.setting, self.name).question
        return [ask(f"histogram of {self.name}", question, self.setting.plan.noise)]

    def profile(self, releases: Sequence[Any], receipt: Receipt) -> ColumnProfile:
        """Bars."""
        return ColumnProfile(
            self.name, self.kind, (), ColumnCells(self.setting, self.name).histogram(releases[0], receipt)
        )


@dataclass(frozen=True)
class TextAsk:
    """Records per value, for the values that may be named."""

    setting: Setting
    name: str
    kind: Text

    number: ClassVar[int] = 1

    def released(self, ask: Ask) -> list[Any]:
        """A key selection."""
        return [ask(f"values of {self.name}", KeyCounts(self.name), self.setting.plan.selection)]

    def profile(self, releases: Sequence[Any], receipt: Receipt) -> ColumnProfile:
        """Named values, the most frequent first."""
        selection, data = self.setting.plan.selection, self.setting.data
        scale = selection.scale(data.unit.rows, data.neighbors)
        noise = Spread(Laplace(selection.multiplier), math.sqrt(2) * scale)
        ranked = dict(sorted(releases[0].items(), key=lambda item: (-item[1], item[0])))
        counts = NamedCounts(
            name=self.name,
            receipt=receipt,
            confidence=CONFIDENCE,
            counts=ranked,
            stddev=noise.stddev,
            half_width=math.ceil(noise.half_width([1.0])),
            threshold=selection.threshold(data.unit.rows, data.neighbors),
        )
        return ColumnProfile(self.name, self.kind, (), counts)


class ColumnCells:
    """The cells of a column's histogram, from the schema alone."""

    def __init__(self, setting: Setting, name: str) -> None:
        self.name = name
        self.domain = cut(setting.data.schema, (name,), setting.bins)
        self.edges = self.domain.edges[0]
        self.question = counted(self.domain, setting.data.schema)
        self.spread = spread(setting.data, self.question, setting.plan.noise)
        self.confidence = EITHER if setting.plan.searches else CONFIDENCE

    def histogram(self, counts: Array, receipt: Receipt) -> Histogram:
        """The released counts with their intervals."""
        return Histogram.of(self.domain, Released(counts, self.spread, receipt))


def quantile_name(share: float) -> str:
    """What a quantile is called.

    Examples
    --------
    >>> quantile_name(0.5), quantile_name(0.05)
    ('median', '5 % quantile')
    """
    return "median" if share == 0.5 else f"{100 * share:g} % quantile"


def _estimate(name: str, value: float, error: float, receipt: Receipt, kind: Temporal | None = None) -> Estimate:
    return Estimate.around(name, value, error, confidence=CONFIDENCE, receipt=receipt, kind=kind)


def _square_root_error(variance: Figure, error: float) -> float:
    """How far the square root of a variance may be off."""
    ends = Enclosure(math.sqrt(max(0.0, variance.value - error)), math.sqrt(variance.value + error))
    return ends.error(math.sqrt(variance.value))
