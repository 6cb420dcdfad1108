"""How far reports with Gaussian noise reach: no device sends what lies beyond, and no collector counts it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array, Steps
from discreet.local.randomizer import Reports

FAR = 8.0  # deviations
ROUNDING = 1e-9  # of a length in float64


@dataclass(frozen=True)
class ReportReach:
    """The vectors whose numbers are at most `number` in size, and whose length is at most `length`; in steps.

    Parameters
    ----------
    number, length : float
        Public.
    """

    number: float
    length: float

    @classmethod
    def of_gaussian(cls, deviation: float, size: int, mean: float = 0.0) -> ReportReach:
        """Of a Gaussian vector about one of at most this length, except for one in 10**13.

        A number is farther than t deviations from its mean with probability 2 Phi(-t), and a vector is longer than
        sqrt(size) + t deviations with probability exp(-t^2 / 2) at most (Borell 1975; Cirel'son, Ibragimov and Sudakov
        1976). A law whose density is at most c times Gaussian has c times these probabilities.

        Examples
        --------
        >>> ReportReach.of_gaussian(10.0, 16)
        ReportReach(number=80.0, length=120.0)
        """
        return cls(mean + FAR * deviation, mean + (math.sqrt(size) + FAR) * deviation)

    def pulled(self, rows: Array) -> Array:
        """Rows of whole numbers, moved inside where they lie beyond: what a device does to its report, which depends on
        nothing else, so that the promise stays.
        """
        inside = np.clip(np.asarray(rows, np.float64), -math.floor(self.number), math.floor(self.number))
        shrink = self.length / np.maximum(np.linalg.norm(inside, axis=1, keepdims=True), self.length)
        return np.where(shrink < 1, np.trunc(inside * shrink), inside)

    def misfit(self, reports: Reports) -> str:
        """What no device can have sent; nothing, where this is empty."""
        rows = np.asarray(reports, np.float64)
        if (np.abs(rows) > self.number).any():
            return f"one has a number beyond {self.number:.6g}"
        if (np.linalg.norm(rows, axis=1) > self.length * (1 + ROUNDING)).any():
            return f"one is longer than {self.length:.6g}"
        return ""


def mean_misfit(tally: Steps, n: int, longest: float) -> str:
    """What is wrong with a sum of n reports, none of which is longer than this; nothing, where this is empty."""
    length = float(np.linalg.norm(tally.astype(np.float64)))
    return "" if length <= n * longest * (1 + ROUNDING) else f"the mean is longer than {longest:.6g}"
