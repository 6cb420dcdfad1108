"""Reports of one number, for means; the two points of Duchi, Jordan and Wainwright are the simplest."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri

from discreet.core.bits import Bits
from discreet.core.bound import ULP
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.local.device_receipt import device_receipt
from discreet.local.miss_chance import miss_chance
from discreet.local.randomizer import Randomizer, Reports, WorstPair, refused
from discreet.noise.bernoulli import bernoulli
from discreet.releases.estimate import Estimate
from discreet.releases.release import check_confidence
from discreet.trust.sources.columns.raw_values import numbers_each

FINE, COARSE = 20, 10  # bits of the steps in which estimates are added, and in which their squares are


@dataclass(frozen=True)
class NumberReport(Randomizer):
    """Randomises a number between two bounds so that its report is unbiased.

    A number outside is moved to the nearer bound; one that is missing or infinite counts as the middle. Estimates from
    reports are added in steps of 2**-20 of their reach, which rounds each by less than half a millionth of it.

    Parameters
    ----------
    lower, upper : float
        Public. The bounds.
    """

    lower: float = -1.0
    upper: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (math.isfinite(self.lower) and math.isfinite(self.upper) and self.lower < self.upper):
            obstacle = f"the bounds are {self.lower} and {self.upper}"
            raise ParameterError(type(self).__name__, obstacle, "Give two finite numbers, the lower first.")

    @property
    @abstractmethod
    def reach(self) -> float:
        """The greatest size of an estimate from one report, for numbers in [-1, 1]."""

    @abstractmethod
    def unbiased(self, reports: Reports) -> Array:
        """The estimate from each report, for numbers in [-1, 1]."""

    @abstractmethod
    def variance(self, square: float) -> float:
        """The variance of one estimate, for numbers in [-1, 1] with this mean square."""

    @property
    def worst_pair(self) -> WorstPair:
        return WorstPair(self.lower, self.upper)

    def scaled(self, values: Any) -> Array:
        """Numbers in [-1, 1]."""
        given = numbers_each(values)
        if given.ndim != 1:
            obstacle = f"the shape of the numbers is {given.shape}"
            raise ParameterError(type(self).__name__, obstacle, "Give one number of each person.")
        middle, half = (self.lower + self.upper) / 2, (self.upper - self.lower) / 2
        known = np.where(np.isfinite(given), given, np.nan)
        found = (np.clip(known, self.lower, self.upper) - middle) / half
        return np.clip(np.nan_to_num(found, nan=0.0), -1.0, 1.0)

    def content(self, value: Any) -> bytes:
        return (self.scaled([value]) + 0.0).tobytes()

    def stand_in(self, bits: Bits) -> float:
        """A missing number, which counts as the middle."""
        return math.nan

    def tallied(self, reports: Reports) -> Steps:
        """The sum of the estimates in fine steps, and in coarse ones their sum and that of their squares."""
        steps = np.rint(np.ldexp(self.unbiased(reports) / self.reach, FINE)).astype(np.int64)
        coarse = steps >> FINE - COARSE
        return np.array([steps.sum(), coarse.sum(), np.square(coarse).sum()], np.int64)

    def tally_misfit(self, tally: Steps, n: int) -> str:
        """Estimates have a reach; a coarse step is that of a fine one, and squares are those of numbers with a mean."""
        fine, coarse, squares = map(int, tally)
        low, most = coarse << FINE - COARSE, n << COARSE
        if abs(coarse) > most or not low <= fine <= min(low + (n << FINE - COARSE), n << FINE) or fine < -(n << FINE):
            return f"{n} estimates do not add up to it"
        return "" if coarse**2 <= n * squares and squares <= n << 2 * COARSE else "squares do not add up to it"

    def estimated(
        self, tally: Steps, n: int, *, simulated: bool = False, confidence: float = 0.95, **how: Any
    ) -> Estimate:
        """The mean, with an interval from the variance of the estimates.

        It is for the population that people are a sample of, and so a little wide for the mean of these people.
        """
        check_confidence(f"estimate by {type(self).__name__}", confidence)
        middle, half = (self.lower + self.upper) / 2, (self.upper - self.lower) / 2
        unit = half * self.reach
        spread = (tally[2] / n - (tally[1] / n) ** 2) * n / max(n - 1, 1)
        error = unit * math.ldexp(math.sqrt(max(spread, 1.0)), -COARSE) / math.sqrt(n)
        name = f"mean from {n} reports"
        receipt = device_receipt(name, self, simulated=simulated)
        return Estimate.around(
            name,
            middle + unit * math.ldexp(float(tally[0]), -FINE) / n,
            float(ndtri((1 + confidence) / 2)) * error * (1 + ULP),
            confidence=confidence,
            receipt=receipt,
            standard_error=error,
            population=True,
        )


@dataclass(frozen=True)
class DuchiReport(NumberReport):
    """Round a number to one of its bounds at random, and report that by randomised response.

    One bit. Of all pure reports it has the least greatest variance while epsilon is below 0.61, about.

    Guarantee
    ---------
    Pure, epsilon, where one number is replaced by any other: rounding is before the response, and the probability of a
    lie is rounded up and tossed exactly (`miss_chance`). Duchi, Jordan and Wainwright 2018, section 4.1.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> DuchiReport(epsilon=1.0).reports([-1.0, 0.0, 1.0, 1.0], DeterministicBits(1))
    array([0, 0, 1, 1], dtype=uint8)
    """

    kind: ClassVar[str] = "two_point"

    @cached_property
    def lie(self) -> float:
        """The probability that the other bound is reported."""
        return miss_chance(self.epsilon)

    @property
    def form(self) -> np.dtype[Any]:
        return np.dtype(np.uint8)

    @property
    def reach(self) -> float:
        return 1 / (1 - 2 * self.lie)

    def reports(self, values: Any, bits: Bits) -> Reports:
        numbers = self.scaled(values)
        upper = bernoulli(bits, numbers.shape, (1 + numbers) / 2)
        return (upper ^ bernoulli(bits, numbers.shape, self.lie)).astype(np.uint8)

    def unbiased(self, reports: Reports) -> Array:
        return np.where(reports == 1, self.reach, -self.reach)

    def variance(self, square: float) -> float:
        return self.reach**2 - square

    def score(self, reports: Reports) -> Steps:
        """The bit."""
        return reports.astype(np.int64)

    def accepted(self, reports: Reports) -> Reports:
        if reports.dtype != np.uint8 or reports.ndim != 1 or (reports > 1).any():
            raise refused(self, "one is neither 0 nor 1")
        return reports
