"""Quantiles by the exponential mechanism, where a curator has the records."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.grid import Array
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.ranks.quantile import Quantile
from discreet.mechanisms.ranks.quantiles import Quantiles
from discreet.mechanisms.ranks.rank_grid import Target
from discreet.questions.columns.total import count_of
from discreet.questions.question import AllRecords
from discreet.releases.ask import ColumnOf
from discreet.releases.spread import Spread
from discreet.schema.schema import Number
from discreet.statistics.ranks.rank_width import Found, RankWidth
from discreet.trust.permit import Permit

COUNT, ENDS = 0.03, 0.05  # what a count and the ends of one interval get of the price; the value gets the rest
COUNTED, APART = 0.05, 0.35  # the same for several quantiles
ITERATIONS = 4
FEW = 10.0  # noise scales between a quantile and the last rank: below, empty stretches may outweigh it
SEVERAL, CLOSE = 5, 5.0  # quantiles, and noise scales from one to the next: below, a tree of counts is closer


@dataclass(frozen=True)
class ByRecords:
    """By the exponential mechanism on all records.

    For intervals, quantiles of levels at a distance on both sides are found, too: see `RankWidth`. That needs the
    number of values, with noise. Where they are so `FEW` that the mechanism may well end up in a long stretch without
    values, an interval is from bound to bound.

    Parameters
    ----------
    of, levels, confidence, population
        As for `quantile_request.QuantileRequest`.
    cells : int
        Public. Steps of the grid between the column's bounds.
    single : type of mechanism
        Public. What finds a single quantile.
    """

    of: ColumnOf
    levels: tuple[float, ...]
    confidence: float | None
    population: bool
    cells: int
    single: type[Quantile] = Quantile

    @property
    def parts(self) -> tuple[Any, ...]:
        """What is paid for, at a price of 1 in all: the values; or a count, the values and the ends."""
        if self.confidence is None:
            return (self._mechanism(self.levels, 1.0),)
        if len(self.levels) == 1:
            value = self._mechanism(self.levels, 1 - COUNT - ENDS)
            return (Laplace(1 / COUNT), value, *2 * (self._mechanism(self.levels, ENDS / 2),))
        values = self._mechanism(self.levels, 1 - COUNTED - APART)
        return (Laplace(1 / COUNTED), values, self._mechanism(2 * len(self.levels) * (0.0,), APART))

    def blurred(self, number: int, epsilon: float) -> bool:
        """Whether noise, for all of this budget, moves several quantiles of n values about as far as the next."""
        if len(self.levels) < SEVERAL:
            return False
        scales = self._scales([self._mechanism(self.levels, epsilon)], np.array(self.levels))
        return CLOSE * max(float(each.max()) for each in scales) > number / (len(self.levels) + 1)

    def found(self, permit: Permit, mechanisms: tuple[Any, ...]) -> Found:
        """The quantiles, for a permit that pays for these mechanisms."""
        if self.confidence is None:
            return Found(np.atleast_1d(permit.ask(self._records, mechanisms[0])))
        count, value, *ends = mechanisms
        number = max(1.0, float(permit.ask(count_of(self.of.data.schema, self.of.column), count)[0]))
        values = np.atleast_1d(permit.ask(self._records, value))
        widths = self._widths(number, ends)
        if len(ends) == 2:
            widths = self._narrower(widths, value, ends)
        away = np.array([[-width.away for width in widths[0]], [width.away for width in widths[1]]])
        surely = number - Spread(Laplace(), math.sqrt(2)).half_width([self.of.data.unit.rows * count.multiplier])
        shares = np.array(self.levels) + np.where(self._few(value, surely), [[-1.0], [1.0]], away)
        found = self._apart(permit, ends[0], shares) if len(ends) == 1 else self._beside(permit, ends, values, shares)
        found = np.where(shares <= 0, self._number.lower, np.where(shares >= 1, self._number.upper, found))
        within = np.stack([np.minimum(found[0], values), np.maximum(found[1], values)])
        return Found(values, within, np.array([width.sampling for width in widths[0]]))

    @property
    def _records(self) -> AllRecords:
        return AllRecords((self.of.column,))

    @property
    def _number(self) -> Number:
        return self.of.data.schema.number(self.of.column)

    def _mechanism(self, shares: tuple[float, ...], price: float) -> Quantile | Quantiles:
        if len(shares) == 1:
            return self.single(price, shares[0], self._number.lower, self._number.upper, self.cells)
        return Quantiles(price, shares, self._number.lower, self._number.upper, self.cells)

    def _scales(self, mechanisms: list[Any], shares: Array) -> list[Array]:
        """For each of these shares, the scales in ranks of the noise in what the mechanisms find."""
        rows, neighbors = self.of.data.unit.rows, self.of.data.neighbors
        flat = np.clip(shares.ravel(), 0.0, 1.0)
        if isinstance(mechanisms[0], Quantile):
            targets = [Target.priced(float(share), mechanisms[0].epsilon, rows, neighbors) for share in flat]
            return [np.array([target.ranks]) for target in targets]
        order = np.argsort(flat, kind="stable")
        sorted_scales = dataclasses.replace(mechanisms[0], q=tuple(flat[order].tolist())).scales(rows, neighbors)
        return [sorted_scales[place] for place in np.argsort(order)]

    def _few(self, value: Quantile | Quantiles, number: float) -> list[bool]:
        shares = np.array(self.levels)
        farthest = number * np.minimum(shares, 1 - shares)
        return [
            FEW * scales.max() > ranks for scales, ranks in zip(self._scales([value], shares), farthest, strict=True)
        ]

    def _widths(self, number: float, ends: list[Any]) -> list[list[RankWidth]]:
        """Of the lower halves and the upper ones. Noise depends on where the ends are: a few iterations settle it."""
        noise, confidence = np.zeros((2, len(self.levels))), 0.5 if self.confidence is None else self.confidence
        unit = Spread(Laplace(), math.sqrt(2))
        for _ in range(ITERATIONS):
            widths = [
                [
                    RankWidth(q, number, off, confidence, self.population)
                    for q, off in zip(self.levels, side, strict=True)
                ]
                for side in noise.tolist()
            ]
            away = np.array([[width.away for width in side] for side in widths])
            scales = self._scales(ends, np.array(self.levels) + [[-1.0], [1.0]] * away)
            noise = np.array([unit.half_width(each, confidence) for each in scales]).reshape(noise.shape)
        return widths

    def _narrower(self, widths: list[list[RankWidth]], value: Quantile, ends: list[Any]) -> list[list[RankWidth]]:
        """The same for ends that are searched for on their own side of a single value; see `RankWidth.beside`."""
        (own,) = self._scales([value], np.array(self.levels))
        away = np.array([[-widths[0][0].away], [widths[1][0].away]])
        scales = self._scales(ends, np.array(self.levels) + away)
        return [[side[0].beside(float(own.max()), float(one.max()))] for side, one in zip(widths, scales, strict=True)]

    def _apart(self, permit: Permit, ends: Quantiles, shares: Array) -> Array:
        """The ends of several intervals, which may overlap, by halves."""
        flat = np.clip(shares.ravel(), 0.0, 1.0)
        order, found = np.argsort(flat, kind="stable"), np.empty(flat.size)
        found[order] = permit.ask(self._records, dataclasses.replace(ends, q=tuple(flat[order].tolist())))
        return found.reshape(shares.shape)

    def _beside(self, permit: Permit, ends: list[Quantile], values: Array, shares: Array) -> Array:
        """The ends of a single interval: one is searched for below the value alone, one above it."""
        lower, upper, value = self._number.lower, self._number.upper, float(values[0])
        cell = round((value - lower) / (upper - lower) * self.cells)
        low = dataclasses.replace(ends[0], upper=value, cells=cell) if cell > 0 else None
        high = dataclasses.replace(ends[1], lower=value, cells=self.cells - cell) if cell < self.cells else None
        found = [
            value
            if side is None or not 0 <= share <= 1
            else permit.ask(self._records, dataclasses.replace(side, q=float(share)))
            for side, share in zip((low, high), shares[:, 0], strict=True)
        ]
        return np.array(found)[:, None]
