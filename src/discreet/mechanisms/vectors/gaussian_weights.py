"""Sums of rows with random Gaussian weights, added without rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.noise.gaussian import rounded_gaussian

FARTHEST = 16.0  # standard deviations: where weights are cut, with a probability of 1e-57 each
BATCH_BITS, EXACT_BITS = 12, 52  # rows at a time, and the bits of sums that float64 holds
BLOCK = 2**20  # weights at a time


@dataclass(frozen=True)
class GaussianWeights:
    """Standard normal weights in steps of 2**-fine, multiplied in parts so short that sums of float64 are exact.

    Parameters
    ----------
    fine : int
        Public. Bits of a weight's fraction.
    cells : int
        Public. Bits of the largest number of a row, which is whole.

    Examples
    --------
    >>> GaussianWeights(fine=31, cells=20).parts(np.array([2**21 - 1]))
    [array([-1]), array([2])]
    """

    fine: int
    cells: int

    @property
    def width(self) -> int:
        """Bits of a part of a weight."""
        return EXACT_BITS - BATCH_BITS - self.cells

    @property
    def count(self) -> int:
        """How many parts a weight has."""
        return math.ceil((self.fine + math.log2(FARTHEST) + 1) / self.width)

    def parts(self, weights: Steps) -> list[Steps]:
        """Digits of weights, the lowest first, from -2**(width - 1) to 2**(width - 1)."""
        most = int(math.ldexp(FARTHEST, self.fine))
        rest, found, half = np.clip(weights, -most, most), [], 1 << (self.width - 1)
        for _ in range(self.count - 1):
            found.append(((rest + half) & (2 * half - 1)) - half)
            rest = (rest - found[-1]) >> self.width
        return [*found, rest]

    def sums(self, rows: Array, count: int, bits: Bits) -> list[Steps]:
        """So many sums of all rows with fresh weights, in parts: each has room for 2**23 rows and more."""
        totals = [np.zeros((count, rows.shape[1]), dtype=np.int64) for _ in range(self.count)]
        batch = 1 << BATCH_BITS
        block = BLOCK // max(1, min(len(rows), batch))
        for start in range(0, count, block):
            part = slice(start, min(start + block, count))
            for first in range(0, max(len(rows), 1), batch):  # the same steps for no row as for one
                some = rows[first : first + batch]
                weights = rounded_gaussian(bits, (part.stop - start, len(some)), math.ldexp(1.0, self.fine))
                for total, digits in zip(totals, self.parts(weights), strict=True):
                    total[part] += (digits @ some).astype(np.int64)
        return totals

    def rounded(self, totals: list[Steps], fewer: int) -> Steps:
        """The integers nearest to such sums over 2**fewer, where `fewer` is from 1 to `fine`."""
        place, bit = divmod(fewer - 1, self.width)
        digits = [total + (1 << bit if here == place else 0) for here, total in enumerate(totals)]
        for lower, upper in pairwise(range(len(digits))):
            digits[upper] = digits[upper] + (digits[lower] >> self.width)
            digits[lower] = digits[lower] & ((1 << self.width) - 1)
        skipped, shift = divmod(fewer, self.width)
        found = digits[-1]
        for lower in reversed(range(skipped, len(digits) - 1)):
            found = (found << self.width) + digits[lower]
        return found >> shift
