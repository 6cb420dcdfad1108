"""Reports of one number from an interval, and their mixture with two points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.local.means.number_report import DuchiReport, NumberReport
from discreet.local.miss_chance import miss_chance
from discreet.local.randomizer import Reports, refused
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform_integers

CELLS = 2**20
TURN = 0.61  # epsilon below which one bit alone is best


@dataclass(frozen=True)
class PiecewiseReport(NumberReport):
    """Report a cell of a window around the own number, or with a known probability one outside.

    The reports are 2**20 cells. A window is a part 1 / (e**(epsilon / 2) + 1) of them, and its place is that of the
    number, rounded up or down at random to a whole cell so that the estimate stays unbiased. Better than one bit from
    epsilon 1.29 on, about.

    Guarantee
    ---------
    Pure, epsilon, where one number is replaced by any other: a cell of the window is at most e**epsilon times as likely
    as one outside, with all probabilities exact (`miss_chance`). Wang, Xiao, Yang, Zhao, Hui, Shin, Shin and Yu 2019,
    section III-B, on cells in place of reals.

    Examples
    --------
    >>> round(PiecewiseReport(epsilon=2.0).variance(1.0), 2)
    1.23
    """

    kind: ClassVar[str] = "piecewise"

    @cached_property
    def window(self) -> int:
        """How many cells it has."""
        return max(1, round(CELLS / (math.exp(self.epsilon / 2) + 1)))

    @cached_property
    def miss(self) -> float:
        """The probability of a cell outside the window."""
        return miss_chance(self.epsilon, self.window, CELLS - self.window)

    @property
    def form(self) -> np.dtype[Any]:
        return np.dtype("<u4")

    @property
    def slope(self) -> float:
        """How much the mean report moves with the window."""
        return 1 - self.miss - self.miss * self.window / (CELLS - self.window)

    @property
    def reach(self) -> float:
        """The size of the estimate from the first or the last cell."""
        return float((CELLS - 1) / (CELLS - self.window) / self.slope)

    def reports(self, values: Any, bits: Bits) -> Reports:
        places = (1 + self.scaled(values)) / 2 * (CELLS - self.window)
        whole = np.floor(places)
        starts = whole.astype(np.int64) + bernoulli(bits, places.shape, places - whole)
        inside = starts + uniform_integers(bits, places.shape, self.window)
        outside = uniform_integers(bits, places.shape, CELLS - self.window)
        outside += self.window * (outside >= starts)
        return np.where(bernoulli(bits, places.shape, self.miss), outside, inside).astype(self.form)

    def unbiased(self, reports: Reports) -> Array:
        """The distance from the middle cell, in units in which the mean is the number."""
        middle = (CELLS - 1) / 2
        return np.asarray((reports - middle) * (2 / (CELLS - self.window) / self.slope))

    def variance(self, square: float) -> float:
        """The variance of the continuous form; the relative difference is less than 2**-18."""
        less = math.expm1(self.epsilon / 2)
        return square / less + (less + 4) / (3 * less**2)

    def score(self, reports: Reports) -> Steps:
        """Whether the cell is in the window of the upper bound, in that of the lower bound, or in neither."""
        return (reports >= CELLS - self.window).astype(np.int64) - (reports < self.window)

    def accepted(self, reports: Reports) -> Reports:
        if reports.dtype.kind not in "iu" or reports.ndim != 1 or (reports >= CELLS).any() or (reports < 0).any():
            raise refused(self, f"one is not a whole number from 0 to {CELLS - 1}")
        return reports


@dataclass(frozen=True)
class HybridReport(NumberReport):
    """Report by the piecewise mechanism with a known probability, and else by one bit: the default for means.

    Its greatest variance is below those of both from epsilon 0.61 on; below, it is that of one bit.

    Guarantee
    ---------
    Pure, epsilon, where one number is replaced by any other: the choice between two mechanisms, both of that price, is
    made without looking at the number. Wang, Xiao, Yang, Zhao, Hui, Shin, Shin and Yu 2019, section III-C.

    Examples
    --------
    >>> mean = HybridReport(epsilon=1.0)
    >>> [round(one.variance(1.0), 2) for one in (mean, mean.cell, mean.bit)]
    [4.29, 5.22, 3.68]
    """

    kind: ClassVar[str] = "hybrid"

    @cached_property
    def bit(self) -> DuchiReport:
        """The mechanism of one bit."""
        return DuchiReport(self.epsilon, self.lower, self.upper)

    @cached_property
    def cell(self) -> PiecewiseReport:
        """The piecewise mechanism."""
        return PiecewiseReport(self.epsilon, self.lower, self.upper)

    @property
    def cells(self) -> float:
        """The probability of a cell."""
        return -math.expm1(-self.epsilon / 2) if self.epsilon > TURN else 0.0

    @property
    def form(self) -> np.dtype[Any]:
        """The number of a cell, or 2**20 and 2**20 + 1 for the two bits."""
        return np.dtype("<u4")

    @property
    def reach(self) -> float:
        return max(self.bit.reach, self.cell.reach)

    def reports(self, values: Any, bits: Bits) -> Reports:
        """A cell or a bit for each number; both are drawn, whichever is sent."""
        cells, ones = self.cell.reports(values, bits), self.bit.reports(values, bits)
        return np.where(bernoulli(bits, cells.shape, self.cells), cells, CELLS + ones.astype(np.int64)).astype(
            self.form
        )

    def unbiased(self, reports: Reports) -> Array:
        bit = reports >= CELLS
        return np.where(bit, self.bit.unbiased(reports == CELLS + 1), self.cell.unbiased(np.where(bit, 0, reports)))

    def variance(self, square: float) -> float:
        """The variance of the mixture; both parts have the same mean."""
        return self.cells * self.cell.variance(square) + (1 - self.cells) * self.bit.variance(square)

    def score(self, reports: Reports) -> Steps:
        """Which bound the report speaks for, if any."""
        bit = reports >= CELLS
        return np.where(bit, np.where(reports > CELLS, 1, -1), self.cell.score(np.where(bit, CELLS // 2, reports)))

    def accepted(self, reports: Reports) -> Reports:
        """Numbers of cells, if any are sent, and two more."""
        least = 0 if self.cells else CELLS
        whole = reports.dtype.kind in "iu" and reports.ndim == 1
        if not whole or (reports >= CELLS + 2).any() or (reports < least).any():
            raise refused(self, f"one is not a whole number from {least} to {CELLS + 1}")
        return reports
