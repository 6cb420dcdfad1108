"""One of several attributes reported with noise, and all others with fake values, so that nobody knows which it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.local.attributes.sampled_attribute import AttributesReport
from discreet.local.frequencies import Frequencies
from discreet.local.oracles.generalized_randomized_response import GeneralizedRandomizedResponse
from discreet.local.randomizer import Reports, refused
from discreet.noise.uniform import uniform_integers
from discreet.releases.spread import CONFIDENCE


@dataclass(frozen=True)
class _HiddenAttribute(GeneralizedRandomizedResponse):
    """Randomised response on an attribute that is reported truly by one person in m, and is uniform for the others."""

    among: int = 1
    kind: ClassVar[str] = "hidden attribute"

    @property
    def own(self) -> float:
        """The probability of the truth, drawn or fake."""
        return self.high / self.among + (1 - 1 / self.among) / self.size

    @property
    def other(self) -> float:
        return self.low / self.among + (1 - 1 / self.among) / self.size


@dataclass(frozen=True)
class FakeData(AttributesReport):
    """Report a value for every attribute: randomised response on one that the device draws, uniform ones elsewhere.

    Nobody learns which attribute is the real one, for which errors are larger than those of `SampledAttribute`.

    Guarantee
    ---------
    Pure, epsilon, where all values of a person are replaced by any others: given the attribute that was drawn, which
    does not depend on the values, fake ones have the same law for all, and the real one is randomised response with
    epsilon (`miss_chance`). Where one value of a person is replaced, pure with `attribute_epsilon`, which is less.

    RS+FD of Arcolezi et al. 2021 is the same randomiser, with a larger epsilon for the one attribute, such that
    `attribute_epsilon` is what was asked for. That does not protect whole records: people who differ in all attributes
    are told apart with the larger one, by reports that agree with one of them everywhere. The audit shows it.

    Examples
    --------
    >>> round(FakeData(1.0, (4, 4, 4, 4)).attribute_epsilon, 3)
    0.357
    """

    kind: ClassVar[str] = "rsfd"

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.oracles

    @cached_property
    def oracles(self) -> tuple[_HiddenAttribute, ...]:
        return tuple(_HiddenAttribute(self.epsilon, domain, len(self.domains)) for domain in self.domains)

    @property
    def attribute_epsilon(self) -> float:
        """The loss where one value of a person is replaced: at most ln((m - 1 + exp(epsilon)) / m), for equal domains.

        For domains of d values each, d times the probability of a reported value is between d * low and d * high, and
        the sum of these over all attributes decides. With unequal domains the worst attribute counts.
        """
        floors = [oracle.size * oracle.low for oracle in self.oracles]
        peaks = [oracle.size * oracle.high for oracle in self.oracles]
        total = math.fsum(floors)
        return max(math.log((total - low + high) / total) for low, high in zip(floors, peaks, strict=True))

    @cached_property
    def form(self) -> np.dtype[Any]:
        """A number of four bytes for each attribute."""
        return np.dtype(("<u4", (len(self.domains),)))

    def reports(self, values: Any, bits: Bits) -> Reports:
        """A value for every attribute of each person."""
        columns = self.columns(values)
        real = uniform_integers(bits, len(values), len(self.oracles))
        made = np.empty((len(values), len(self.oracles)), "<u4")
        for number, (oracle, column) in enumerate(zip(self.oracles, columns, strict=True)):
            drawn = oracle.reports(column, bits)
            fake = uniform_integers(bits, len(values), oracle.size)
            made[:, number] = np.where(real == number, drawn, fake)
        return made

    def score(self, reports: Reports) -> Array:
        """The logarithm of the likelihood ratio of the two people."""
        first, second = (
            sum(
                oracle.size * np.where(reports[:, number] == place, oracle.high, oracle.low)
                for number, oracle in enumerate(self.oracles)
            )
            for place in (0, 1)
        )
        return np.log(np.asarray(first) / np.asarray(second)).round(9)

    def accepted(self, reports: Reports) -> Reports:
        if reports.dtype.kind not in "iu" or reports.shape[1:] != self.form.shape:
            raise refused(self, f"they have the type {reports.dtype} and the shape {reports.shape}")
        sizes = [oracle.size for oracle in self.oracles]
        if not ((reports >= 0) & (reports < sizes)).all():
            raise refused(self, "one has a value outside its domain")
        return reports

    def tallied(self, reports: Reports) -> Steps:
        """How often each value of each attribute was reported, one attribute after the other."""
        columns = zip(self.oracles, reports.T, strict=True)
        return np.concatenate([np.bincount(column, minlength=oracle.size) for oracle, column in columns])

    def tally_misfit(self, tally: Steps, n: int) -> str:
        """Each report has one value of each attribute."""
        parts = np.split(tally, np.cumsum([oracle.size for oracle in self.oracles])[:-1])
        whole = all(part.sum() == n for part in parts)
        return super().tally_misfit(tally, n) or ("" if whole else f"an attribute does not have {n} values")

    def estimated(
        self,
        tally: Steps,
        n: int,
        *,
        simulated: bool = False,
        confidence: float = CONFIDENCE,
        population: bool = False,
    ) -> tuple[Frequencies, ...]:
        """The shares of the values of each attribute; see `Oracle.estimated`."""
        parts = np.split(tally, list(accumulate(oracle.size for oracle in self.oracles))[:-1])
        return tuple(
            oracle.estimated(part, n, confidence=confidence, population=population, simulated=simulated)
            for oracle, part in zip(self.oracles, parts, strict=True)
        )
