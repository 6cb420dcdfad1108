"""One bit for a number: Duchi, Jordan and Wainwright's response."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.local.means.number_report import NumberReport
from discreet.local.miss_chance import miss_chance
from discreet.local.randomizer import Reports, refused
from discreet.noise.bernoulli import bernoulli


@dataclass(frozen=True)
class DuchiReport(NumberReport):
    """Round a number to one of its bounds at random, and report that by randomised response.

    One bit. Of all pure reports it has the least greatest variance while epsilon is below 0.61, about.

    Parameters
    ----------
    epsilon : float
        Public. What one report may cost.
    lower, upper : float
        Public. The bounds.

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
        """One byte: 1 for the upper bound."""
        return np.dtype(np.uint8)

    @property
    def reach(self) -> float:
        """(e**epsilon + 1) / (e**epsilon - 1)."""
        return 1 / (1 - 2 * self.lie)

    def reports(self, values: Any, bits: Bits) -> Reports:
        """A bit for each number."""
        numbers = self.scaled(values)
        upper = bernoulli(bits, numbers.shape, (1 + numbers) / 2)
        return (upper ^ bernoulli(bits, numbers.shape, self.lie)).astype(np.uint8)

    def unbiased(self, reports: Reports) -> Array:
        """Plus or minus the reach."""
        return np.where(reports == 1, self.reach, -self.reach)

    def variance(self, square: float) -> float:
        """The squared reach, less the mean square."""
        return self.reach**2 - square

    def score(self, reports: Reports) -> Steps:
        """The bit."""
        return reports.astype(np.int64)

    def accepted(self, reports: Reports) -> Reports:
        """Bits alone."""
        if reports.dtype != np.uint8 or reports.ndim != 1 or (reports > 1).any():
            raise refused(self, "one is neither 0 nor 1")
        return reports
