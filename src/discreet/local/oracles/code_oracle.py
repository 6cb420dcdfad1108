"""Oracles that report one of a fixed number of codes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.grid import Array, Steps
from discreet.local.miss_chance import miss_chance
from discreet.local.oracle import Oracle
from discreet.local.randomizer import Reports


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
        """Codes that exist."""
        return self._whole_below(reports, self.codes)

    def tallied(self, reports: Reports) -> Steps:
        """How often each code was reported."""
        return np.bincount(reports, minlength=self.codes)

    def tally_misfit(self, tally: Steps, n: int) -> str:
        """Each report has one code."""
        return super().tally_misfit(tally, n) or ("" if tally.sum() == n else f"the codes are not {n} in all")
