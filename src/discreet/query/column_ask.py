"""What a report asks about one column, and what it makes of the releases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet.core.grid import Array
from discreet.core.mechanism import Mechanism
from discreet.core.question import BoundedSum, Question
from discreet.core.receipt import Receipt
from discreet.core.schema import Category, Number, Text
from discreet.mechanisms.additive.laplace import Laplace
from discreet.query.column_profile import ColumnProfile
from discreet.query.plan import Plan
from discreet.query.quantile_interval import Enclosure, quantile_interval
from discreet.questions.contingency import contingency_of
from discreet.questions.domain import Domain
from discreet.questions.key_counts import KeyCounts
from discreet.questions.moments import moments_of
from discreet.releases.estimate import Estimate
from discreet.releases.spread import CONFIDENCE, Spread, spread
from discreet.statistics.moments.column_moments import Figure, Moments
from discreet.statistics.tables.histogram import Histogram, quantile_of
from discreet.statistics.tables.key_counts import NamedCounts
from discreet.trust.private_data import PrivateData


@dataclass(frozen=True)
class Ask:
    """One release: what is asked, and how it is answered."""

    what: str
    question: Question
    mechanism: Mechanism[Any]


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

    def asks(self) -> list[Ask]:
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
    """Count, mean and standard deviation from one sum; quantiles and a histogram from another."""

    setting: Setting
    name: str
    kind: Number

    def asks(self) -> list[Ask]:
        """Bernstein sums of degree 2, and a histogram."""
        noise, cells = self.setting.plan.noise, ColumnCells(self.setting, self.name)
        return [
            Ask(f"moments of {self.name}", self._sums, noise),
            Ask(f"histogram of {self.name}", cells.question, noise),
        ]

    def profile(self, releases: Sequence[Any], receipt: Receipt) -> ColumnProfile:
        """Figures and bars."""
        sums, counts = releases
        cells = ColumnCells(self.setting, self.name)
        figures = [*self._moments(sums, receipt), *self._quantiles(cells, counts, receipt)]
        return ColumnProfile(self.name, self.kind, tuple(figures), cells.histogram(counts, receipt))

    @property
    def _sums(self) -> BoundedSum:
        return moments_of(self.setting.data.schema, self.name, 2, self.setting.public_size is not None)

    def _moments(self, sums: Array, receipt: Receipt) -> list[Estimate]:
        size, width = self.setting.public_size, self.kind.upper - self.kind.lower
        noise = spread(self.setting.data, self._sums, self.setting.plan.noise)
        moments = Moments(sums, self.kind, size)
        count, mean, variance = moments.count(), moments.mean(), moments.variance()
        off = _square_root_error(variance, noise.half_width(variance.weights))
        return [
            _estimate("count", count.value, noise.half_width(count.weights), receipt),
            _estimate("mean", mean.value, min(noise.half_width(mean.weights), width), receipt),
            _estimate("standard deviation", math.sqrt(variance.value), min(off, width / 2), receipt),
        ]

    def _quantiles(self, cells: ColumnCells, counts: Array, receipt: Receipt) -> list[Estimate]:
        edges, estimates = np.asarray(cells.edges), []
        for share in self.setting.quantiles:
            value = quantile_of(counts, edges, share)
            error = quantile_interval(counts, edges, share, cells.spread).error(value)
            estimates.append(_estimate(quantile_name(share), value, error, receipt))
        return estimates


@dataclass(frozen=True)
class CategoryAsk:
    """Records per listed value."""

    setting: Setting
    name: str
    kind: Category

    def asks(self) -> list[Ask]:
        """A histogram."""
        return [
            Ask(f"histogram of {self.name}", ColumnCells(self.setting, self.name).question, self.setting.plan.noise)
        ]

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

    def asks(self) -> list[Ask]:
        """A key selection."""
        return [Ask(f"values of {self.name}", KeyCounts(self.name), self.setting.plan.selection)]

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
        self.domain = Domain.of(setting.data.schema, (name,), setting.bins)
        self.edges = self.domain.edges[0]
        self.question = contingency_of(setting.data.schema, self.domain.columns, self.domain.bins)
        self.spread = spread(setting.data, self.question, setting.plan.noise)

    def histogram(self, counts: Array, receipt: Receipt) -> Histogram:
        """The released counts with their intervals."""
        return Histogram.of(self.domain, counts, self.spread, receipt)


def quantile_name(share: float) -> str:
    """What a quantile is called.

    Examples
    --------
    >>> quantile_name(0.5), quantile_name(0.05)
    ('median', '5 % quantile')
    """
    return "median" if share == 0.5 else f"{100 * share:g} % quantile"


def _estimate(name: str, value: float, error: float, receipt: Receipt) -> Estimate:
    return Estimate.around(name, value, error, confidence=CONFIDENCE, receipt=receipt)


def _square_root_error(variance: Figure, error: float) -> float:
    """How far the square root of a variance may be off."""
    ends = Enclosure(math.sqrt(max(0.0, variance.value - error)), math.sqrt(variance.value + error))
    return ends.error(math.sqrt(variance.value))
