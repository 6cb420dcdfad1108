"""The better of one bit and a cell, at random: the hybrid mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.local.means.duchi_report import DuchiReport
from discreet.local.means.number_report import NumberReport
from discreet.local.means.piecewise import CELLS, PiecewiseReport
from discreet.local.randomizer import Reports, refused
from discreet.noise.bernoulli import bernoulli

TURN = 0.61  # epsilon below which one bit alone is best


@dataclass(frozen=True)
class HybridReport(NumberReport):
    """Report by the piecewise mechanism with a known probability, and else by one bit: the default for means.

    Its greatest variance is below those of both from epsilon 0.61 on; below, it is that of one bit.

    Parameters
    ----------
    epsilon : float
        Public. What one report may cost.
    lower, upper : float
        Public. The bounds.

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
        """The greater of the two."""
        return max(self.bit.reach, self.cell.reach)

    def reports(self, values: Any, bits: Bits) -> Reports:
        """A cell or a bit for each number; both are drawn, whichever is sent."""
        cells, ones = self.cell.reports(values, bits), self.bit.reports(values, bits)
        return np.where(bernoulli(bits, cells.shape, self.cells), cells, CELLS + ones.astype(np.int64)).astype(
            self.form
        )

    def unbiased(self, reports: Reports) -> Array:
        """That of the mechanism that was used."""
        bit = reports >= CELLS
        return np.where(bit, self.bit.unbiased(reports == CELLS + 1), self.cell.unbiased(np.where(bit, 0, reports)))

    def variance(self, square: float) -> float:
        """Of the mixture: both have the same mean."""
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
