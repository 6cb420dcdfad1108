"""Reports of one vector of each person, whose mean is estimated."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.local.device_receipt import device_receipt
from discreet.local.randomizer import Randomizer, Reports, WorstPair, refused
from discreet.releases.columns import Series
from discreet.releases.release import check_confidence
from discreet.releases.table import Table
from discreet.trust.sources.columns.raw_values import numbers_each

FAR = 8.0  # deviations
ROUNDING = 1e-9  # of a length in float64
MOST_NUMBERS = 2**19


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


@dataclass(frozen=True)
class BallReport(Randomizer):
    """Randomises a vector in a ball: a report is whole numbers of four bytes, each worth `unit`, and without bias.

    A vector that is longer than the radius is shrunk to it; one with a missing or infinite number counts as zero.

    Parameters
    ----------
    size : int
        Public. The number of coordinates.
    radius : float
        Public. Of the ball in l2.
    """

    size: int = 2
    radius: float = 1.0

    @property
    @abstractmethod
    def unit(self) -> float:
        """What one step of a report is worth."""

    @property
    @abstractmethod
    def stddev(self) -> float:
        """The standard deviation of the estimate from one report, in each of its numbers, at most."""

    @property
    @abstractmethod
    def longest(self) -> float:
        """The greatest length of a report."""

    @abstractmethod
    def misfit(self, reports: Reports) -> str:
        """What is wrong with reports of the right type, which no device can have made; nothing, where this is empty."""

    @property
    def numbers(self) -> int:
        """How many numbers a report has."""
        return self.size

    @property
    def form(self) -> np.dtype[Any]:
        return np.dtype(("<i4", (self.numbers,)))

    def inside(self, values: Any) -> Array:
        """Vectors, each shrunk to the ball."""
        found = numbers_each(values, (self.size,))
        if found.ndim != 2 or found.shape[1] != self.size:
            obstacle = f"the shape of the vectors is {found.shape}"
            raise ParameterError(type(self).__name__, obstacle, f"Give rows of {self.size} numbers.")
        return Bound("l2", self.radius).clip(found)

    def content(self, value: Any) -> bytes:
        return (self.inside([value]) + 0.0).tobytes()

    def stand_in(self, bits: Bits) -> Array:
        """The zero vector, whose report is noise alone."""
        return np.zeros(self.size)

    def accepted(self, reports: Reports) -> Reports:
        """Whole numbers, as many as there are, that a device can have made."""
        if reports.dtype.kind != "i" or reports.dtype.itemsize != 4 or reports.shape[1:] != (self.numbers,):
            raise refused(self, f"they are {reports.dtype} {reports.shape} and not int32 (n, {self.numbers})")
        if wrong := self.misfit(reports):
            raise refused(self, wrong)
        return reports

    def tallied(self, reports: Reports) -> Steps:
        return np.asarray(reports.sum(axis=0, dtype=np.int64))

    def tally_misfit(self, tally: Steps, n: int) -> str:
        """The mean is no longer than a report can be."""
        return mean_misfit(tally, n, self.longest)


@dataclass(frozen=True)
class VectorReport(BallReport):
    """Randomises a vector in a ball so that its report, times `unit`, is unbiased: a number for each coordinate."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(type(self).__name__, "size", self.size, 1, MOST_NUMBERS)
        check_positive(type(self).__name__, "radius", self.radius)

    @property
    def worst_pair(self) -> WorstPair:
        first = np.zeros(self.size)
        first[0] = self.radius
        return WorstPair(first, -first)

    def unbiased(self, reports: Reports) -> Array:
        """The estimate from each report."""
        return np.asarray(reports * self.unit)

    def score(self, reports: Reports) -> Array:
        """The first coordinate."""
        return np.asarray(reports[:, 0], np.float64)

    def estimated(
        self, tally: Steps, n: int, *, simulated: bool = False, confidence: float = 0.95, **how: Any
    ) -> Table:
        """The mean in each coordinate, with intervals for the mean of these people."""
        check_confidence(f"estimate by {type(self).__name__}", confidence)
        name, error = f"mean vector from {n} reports", self.stddev / math.sqrt(n)
        receipt = device_receipt(name, self, simulated=simulated)
        means = Series.around("mean", tally * self.unit / n, float(ndtri((1 + confidence) / 2)) * error, error)
        labels = {"coordinate": tuple(str(place) for place in range(self.size))}
        return Table(name=name, receipt=receipt, confidence=confidence, labels=labels, series=(means,))
