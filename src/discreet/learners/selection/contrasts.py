"""Intervals of figures that follow from noisy sums: all values that the sums do not contradict.

A contrast is a function of the sums, as a rule linear, whose exact value is zero if a figure has the value that is
supposed, above zero if the figure is higher. What noise, and the sample, make of it is known for every supposed value;
so an interval is right also where a class has so few records that noise hides them, and then it holds everything
(Fieller 1954).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.special import ndtri, stdtrit

from discreet.core.grid import Array
from discreet.releases.columns import ConfidenceInterval
from discreet.releases.spread import Spread
from discreet.schema.schema import Number

GRID, HALVINGS = 32, 24  # supposed values that are tried, and how often the way to the next one is halved
KURTOSIS = 3.0  # of Laplace noise, beyond that of a normal variable


@dataclass(frozen=True)
class FigureContrast:
    """What counts say about one supposed value.

    Parameters
    ----------
    value : float
        Above zero if the figure is higher than supposed.
    weights : array
        How it changes with each count.
    variance : float
        What a sample moves it by, squared.
    fourth : float
        The same to the power of four, added up over records.
    step : float
        Of the noise on each of the sums: 1 for counts.
    """

    value: float
    weights: Array
    variance: float = 0.0
    fourth: float = 0.0
    step: float = 1.0

    def deviation(self, spread: Spread, population: bool) -> float:
        """The standard deviation of what it is off by."""
        noise = spread.stddev**2 * float(np.square(self.weights).sum())
        return math.sqrt(noise + (max(self.variance, 0.0) if population else 0.0))

    def reach(self, spread: Spread, population: bool, confidence: float) -> float:
        """How far noise and sample move it, with this confidence to both sides together.

        A sum of Laplace variables is farther out by its kurtosis (Cornish and Fisher 1938), whole noise by half a step;
        a variance that few records determine makes it as far as Student's law (Satterthwaite 1946).
        """
        deviation = self.deviation(spread, population)
        if deviation == 0:
            return 0.0
        normal = float(ndtri(0.5 + confidence / 2))
        sizes = np.abs(self.weights)
        if population and self.variance > 0 and self.fourth > 0:
            normal = float(stdtrit(max(deviation**4 / self.fourth - 1, 1.0), 0.5 + confidence / 2))
        if spread.law.laplace:
            fourth = (spread.stddev / deviation) ** 4 * float((sizes**4).sum())
            normal += max(normal**3 - 3 * normal, 0.0) * KURTOSIS * fourth / 24
        return normal * deviation + 0.5 * self.step * float(sizes.max(initial=0.0))


class Supposable(Protocol):
    """A figure, by its contrast for each supposed value."""

    @property
    def value(self) -> float: ...

    def supposed(self, value: float) -> FigureContrast: ...


@dataclass(frozen=True)
class CellShare:
    """Some counts over these and others: worth * hits / (worth * hits + misses).

    Sums of counts below zero count as zero: that moves no contrast away from zero.
    """

    counts: Array
    hits: Array  # 1 for each count that is a hit
    misses: Array
    worth: float = 1.0

    @cached_property
    def _sums(self) -> Array:
        return np.maximum(np.array([self.hits @ self.counts, self.misses @ self.counts]), 0.0)

    @property
    def value(self) -> float:
        hits, misses = self._sums * (self.worth, 1.0)
        return float(hits / (hits + misses)) if hits + misses > 0 else 0.5

    def supposed(self, value: float) -> FigureContrast:
        """The variance is that which the supposed share has, as in the interval of Wilson 1927."""
        up, down = self.worth * (1 - value), value
        hits, misses = self._sums
        variance = up * down * float(hits + misses)
        return FigureContrast(float(up * hits - down * misses), up * self.hits - down * self.misses, variance)


@dataclass(frozen=True)
class CellMean:
    """The mean of what the records in each cell have."""

    counts: Array
    values: Array

    @property
    def value(self) -> float:
        return float(self.values @ self.counts / max(float(self.counts.sum()), 1.0))

    def supposed(self, value: float) -> FigureContrast:
        apart = self.values - value
        squares = np.square(apart)
        return FigureContrast(
            float(apart @ self.counts), apart, float(squares @ self.counts), float(squares**2 @ self.counts)
        )


@dataclass(frozen=True)
class Pairs:
    """The mean over all pairs of a record of the first class and one of the second, by the cells that they are in.

    Noise on the two classes is independent, so a product of noises has mean zero, and the contrast that of the exact
    counts. Its variance is, but for the product of noises, which is counted twice, that of its linear part; for a
    sample it is that of DeLong, DeLong and Clarke-Pearson 1988 around the supposed value.
    """

    first: Array
    second: Array
    matrix: Array  # what a pair has, by the cell of the second class and that of the first

    @cached_property
    def _rows(self) -> Array:
        return self.matrix @ self.first

    @cached_property
    def _columns(self) -> Array:
        return self.second @ self.matrix

    @property
    def value(self) -> float:
        n, m = np.maximum([self.first.sum(), self.second.sum()], 1.0)
        return float(self.second @ self._rows / (n * m))

    def supposed(self, value: float) -> FigureContrast:
        rows = self._rows - value * self.first.sum()
        columns = self._columns - value * self.second.sum()
        return FigureContrast(
            float(self.second @ rows),
            np.concatenate([columns, rows]),
            float(self.first @ columns**2 + self.second @ rows**2),
            float(self.first @ columns**4 + self.second @ rows**4),
        )


@dataclass(frozen=True)
class PartOfTwo:
    """The first of two numbers over both, each a function of noisy sums. A number below zero counts as zero."""

    sums: Array
    of: Callable[[Array], Array]  # both numbers

    @cached_property
    def both(self) -> Array:
        """The two numbers."""
        return np.maximum(self.of(self.sums), 0.0)

    @cached_property
    def _slopes(self) -> Array:
        """Their derivatives by each sum, found by differences."""
        step = math.sqrt(np.finfo(float).eps) * max(float(np.abs(self.sums).max()), 1.0)
        moved = step * np.eye(len(self.sums))
        return np.array([(self.of(self.sums + d) - self.of(self.sums - d)) / (2 * step) for d in moved])

    @property
    def value(self) -> float:
        return float(self.both[0] / self.both.sum()) if self.both.sum() > 0 else 0.5

    def supposed(self, value: float) -> FigureContrast:
        apart = np.array([1 - value, -value])
        return FigureContrast(float(self.both @ apart), self._slopes @ apart, step=0.0)


def not_contradicted(
    low: Supposable, high: Supposable, spread: Spread, population: bool, confidence: float, ends: Number
) -> ConfidenceInterval[float]:
    """The interval from the least value that `low` allows to the greatest that `high` does.

    Parameters
    ----------
    low, high : Supposable
        One that is at most the figure, and one that is at least the figure; or twice the figure itself.
    spread : Spread
        Public. Of the noise on each count.
    population : bool
        Public. Whether the sample counts as well.
    confidence : float
        Public. Of the interval, half of the rest on each side.
    ends : Number
        Public. Between which the figure lies.

    Examples
    --------
    >>> from discreet.mechanisms.additive.gaussian import Gaussian
    >>> right = CellShare(np.array([90.0, 10.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    >>> ends = not_contradicted(right, right, Spread(Gaussian(1.0), 2.0), False, 0.95, Number(0, 1))
    >>> [round(end, 2) for end in ends]
    [0.86, 0.94]
    """

    def below(value: float) -> bool:
        contrast = low.supposed(value)
        return contrast.value <= contrast.reach(spread, population, confidence)

    def above(value: float) -> bool:
        contrast = high.supposed(value)
        return -contrast.value <= contrast.reach(spread, population, confidence)

    found = [min(max(one.value, ends.lower), ends.upper) for one in (low, high)]
    least = _first(below, ends.lower, ends.upper, found[0])
    return ConfidenceInterval(least, _first(above, ends.upper, ends.lower, found[1]))


def _first(allowed: Callable[[float], bool], start: float, end: float, found: float) -> float:
    """The first value on the way from start to end that is allowed, nearly; what was found, if none is."""
    tried = np.linspace(start, end, GRID + 1)
    way = [*tried[np.abs(tried - start) < abs(found - start)].tolist(), found]
    way += tried[np.abs(tried - start) > abs(found - start)].tolist()
    place = next((i for i, value in enumerate(way) if allowed(value)), None)
    if place is None or place == 0:
        return found if place is None else way[0]
    outside, inside = way[place - 1], way[place]
    for _ in range(HALVINGS):
        middle = (outside + inside) / 2
        outside, inside = (outside, middle) if allowed(middle) else (middle, inside)
    return inside
