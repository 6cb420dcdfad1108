"""Randomised response over d values: the truth, or one of the others."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.local.miss_chance import miss_chance
from discreet.local.oracle import Oracle, PureOracle
from discreet.local.randomizer import Reports
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform_integers


@dataclass(frozen=True)
class CodeOracle(Oracle):
    """An oracle that reports a code: each of the codes of the value with a high probability, each other with a low one.

    How often each code was reported is all that reports say, so that the tally is enough for the likelihood.
    """

    @property
    @abstractmethod
    def codes(self) -> int:
        """How many codes there are."""

    @property
    @abstractmethod
    def inside(self) -> int:
        """How many of them are those of one value."""

    @abstractmethod
    def gathered(self, weights: Array) -> Array:
        """For each value, the sum of the weights of its codes."""

    @abstractmethod
    def scattered(self, shares: Array) -> Array:
        """For each code, the sum of the shares of the values that it is of."""

    @cached_property
    def miss(self) -> float:
        """The probability of a code that is not one of the value."""
        return miss_chance(self.epsilon, self.inside, self.codes - self.inside)

    @property
    def high(self) -> float:
        """The probability of each code of the value."""
        return (1 - self.miss) / self.inside

    @property
    def low(self) -> float:
        """The probability of each other code."""
        return self.miss / (self.codes - self.inside)

    @cached_property
    def form(self) -> np.dtype[Any]:
        """One whole number of 1, 2, 4 or 8 bytes, in little-endian order."""
        return np.min_scalar_type(self.codes - 1).newbyteorder("<")

    def accepted(self, reports: Reports) -> Reports:
        return self._whole_below(reports, self.codes)

    def tallied(self, reports: Reports) -> Steps:
        return np.bincount(reports, minlength=self.codes)

    def tally_misfit(self, tally: Steps, n: int) -> str:
        return super().tally_misfit(tally, n) or ("" if tally.sum() == n else f"the codes are not {n} in all")


@dataclass(frozen=True)
class GeneralizedRandomizedResponse(CodeOracle, PureOracle):
    """Report the value or, with a known probability, one of the others: best for small domains.

    A report is one whole number of 1, 2 or 4 bytes. The variance is below that of optimised unary encoding while
    d < 3 exp(epsilon) + 2.

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
        return self.size

    @property
    def inside(self) -> int:
        return 1

    @property
    def own(self) -> float:
        return self.high

    @property
    def other(self) -> float:
        return self.low

    def gathered(self, weights: Array) -> Array:
        return weights

    def scattered(self, shares: Array) -> Array:
        return shares

    def reports(self, values: Any, bits: Bits) -> Reports:
        """The number of the value, or of another."""
        truth = self.places(values)
        others = uniform_integers(bits, len(truth), self.size - 1)
        others += others >= truth
        return np.where(bernoulli(bits, len(truth), self.miss), others, truth).astype(self.form)

    def supports(self, reports: Reports, place: int) -> NDArray[np.bool_]:
        return np.equal(reports, place)
