"""Randomised response over d values: the truth, or one of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.grid import Array
from discreet.local.oracle import PureOracle
from discreet.local.oracles.code_oracle import CodeOracle
from discreet.local.randomizer import Reports
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform_integers


@dataclass(frozen=True)
class GeneralizedRandomizedResponse(CodeOracle, PureOracle):
    """Report the value or, with a known probability, one of the others: best for small domains.

    A report is one whole number of 1, 2 or 4 bytes. The variance is below that of optimised unary encoding while
    d < 3 exp(epsilon) + 2.

    Parameters
    ----------
    epsilon : float
        Public. What one report may cost.
    domain : int or tuple of str
        Public. The values: a number d for the integers from 0 to d - 1, or labels. At least two.

    Guarantee
    ---------
    Pure, epsilon, where one value is replaced by any other: the truth is at most exp(epsilon) times as likely as any
    other value, with the probability of a lie rounded up and tossed exactly (`miss_chance`).
    Warner 1965; Kairouz, Bonawitz and Ramage 2016, section 2.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> survey = GeneralizedRandomizedResponse(epsilon=1.0, domain=("red", "green", "blue"))
    >>> survey.reports(["red", "blue", "blue"], DeterministicBits(1))
    array([1, 0, 2], dtype=uint8)
    """

    kind: ClassVar[str] = "grr"

    @property
    def codes(self) -> int:
        """One for each value."""
        return self.size

    @property
    def inside(self) -> int:
        """One."""
        return 1

    @property
    def own(self) -> float:
        """The probability of the truth."""
        return self.high

    @property
    def other(self) -> float:
        """The probability of any one lie."""
        return self.low

    def gathered(self, weights: Array) -> Array:
        """The weights themselves."""
        return weights

    def scattered(self, shares: Array) -> Array:
        """The shares themselves."""
        return shares

    def reports(self, values: Any, bits: Bits) -> Reports:
        """The number of the value, or of another."""
        truth = self.places(values)
        others = uniform_integers(bits, len(truth), self.size - 1)
        others += others >= truth
        return np.where(bernoulli(bits, len(truth), self.miss), others, truth).astype(self.form)

    def supports(self, reports: Reports, place: int) -> NDArray[np.bool_]:
        """Whether the report is this value."""
        return np.equal(reports, place)
