"""Where a target lies, from a noisy distribution of it: post-processing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from discreet.core.grid import Array
from discreet.learners.anova.smooth_bases import distribution, quantile_of

# By judgement, on data as those of `tests/learners/linear/test_generalized_linear.py`, of 300 to 50,000 records.
TAIL = 4.0  # standard deviations of the noisy number of records, beyond which records of a tail are taken for records
QUARTER = 0.25  # levels on either side of a quantile that say how wide the target is there; more are in no tail
OUTERMOST = 0.05  # the least level, and one less the greatest


@dataclass(frozen=True)
class TargetDistribution:
    """Noisy counts of the values of a target, in cells of equal width.

    Beyond some cell on either side noise could feign what records there are: there, the target is taken to have the
    tail of an exponential law.

    Parameters
    ----------
    function : array of shape (cells,)
        The share of records up to the upper end of each cell; it ascends to 1.
    first, last : int
        The cells between which it is known; the quartiles are between them.
    lower, width : float
        Public. Where the first cell starts, and how wide each is.

    Examples
    --------
    >>> found = TargetDistribution.of(np.full(100, 1000.0), 1.0, 0.0, 50.0)
    >>> round(found.mean, 1), round(found.quantile(0.9), 1), round(found.quantile(0.1), 1)
    (25.0, 45.0, 5.0)
    """

    function: Array
    first: int
    last: int
    lower: float
    width: float

    @classmethod
    def of(cls, counts: Array, stddev: float, lower: float, upper: float) -> TargetDistribution:
        """From noisy counts, whose sum has noise of this standard deviation."""
        function = distribution(counts)
        feigned = min(TAIL * stddev / max(float(counts.sum()), 1.0), QUARTER)
        first, last = np.minimum(np.searchsorted(function, [feigned, 1 - feigned]), len(counts) - 1)
        return cls(function, int(first), int(last), lower, (upper - lower) / len(counts))

    @cached_property
    def values(self) -> Array:
        """The middle of each cell, of the upper tail that of its first."""
        return self.lower + self.width * (np.minimum(np.arange(len(self.function)), self.last) + 0.5)

    @cached_property
    def shares(self) -> Array:
        """Of the records in each cell."""
        return np.diff(self.function, prepend=0.0)

    @cached_property
    def mean(self) -> float:
        """Of a target from 0 on."""
        left = float(np.clip(1 - self.function[self.last], 1e-9, QUARTER))
        beyond = left * float(self.values[-1]) / -math.log(left)
        return max(float(self.values @ self.shares) + beyond, self.width)

    @cached_property
    def variance(self) -> float:
        """Without what is beyond the first cells of the tails."""
        values = np.maximum(self.values, self.values[self.first])
        return float(self.shares @ (values - self.shares @ values) ** 2)

    def quantile(self, level: float) -> float:
        """The number that this share of the records is below."""
        low, high = (float(self.function[place]) for place in (self.first, self.last))
        if level > high and high < 1:
            return self._beyond(high, math.log(2 * (1 - level)) / math.log(2 * (1 - high)))
        if level < low:
            return self._beyond(low, math.log(2 * level) / math.log(2 * low))
        return self._known(level)

    def spread(self, level: float) -> float:
        """The standard deviation of a normal law that is as wide around this quantile."""
        ends = np.clip([level - QUARTER, level + QUARTER], OUTERMOST, 1 - OUTERMOST)
        low, high = (self.quantile(float(end)) for end in ends)
        return max((high - low) / float(np.diff(ndtri(ends))[0]), self.width)

    def _known(self, level: float) -> float:
        return self.lower + self.width * quantile_of(self.function, level)

    def _beyond(self, known: float, times: float) -> float:
        """So many times as far from the median as this quantile."""
        middle = self._known(0.5)
        ends = self.lower, self.lower + self.width * len(self.function)
        return float(np.clip(middle + times * (self._known(known) - middle), *ends))
