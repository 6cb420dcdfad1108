"""Frequency oracles: randomisers from whose reports the share of each value of a domain is estimated."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.local.frequencies import Frequencies, frequencies_of
from discreet.local.randomizer import Randomizer, Reports, WorstPair, refused
from discreet.noise.uniform import uniform_integers
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE

MOST_VALUES = 2**24
Domain = int | tuple[str, ...]


@dataclass(frozen=True)
class Oracle(Randomizer):
    """A randomiser of one value of a known domain.

    Parameters
    ----------
    domain : int or tuple of str
        Public. The values: a number d for the integers from 0 to d - 1, or labels. At least two.
    """

    domain: Domain = 16

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        if isinstance(self.domain, Iterable):
            object.__setattr__(self, "domain", tuple(map(str, self.domain)))
            check_whole(name, "number of values", len(self.labels), least=2, most=MOST_VALUES)
            if len(set(self.labels)) < len(self.labels):
                raise ParameterError(name, "a label occurs twice in the domain", "Give different labels.")
        else:
            check_whole(name, "number of values", self.domain, least=2, most=MOST_VALUES)
            object.__setattr__(self, "domain", int(self.domain))

    @cached_property
    def size(self) -> int:
        """The number of values, d."""
        return self.domain if isinstance(self.domain, int) else len(self.domain)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The values as texts."""
        return tuple(map(str, range(self.size))) if isinstance(self.domain, int) else self.domain

    def places(self, values: Any) -> Steps:
        """The number of each value in the domain.

        Raises
        ------
        ParameterError
            A value is not in the domain.
        """
        if isinstance(self.domain, int):
            found = np.asarray(values)
            whole = found.dtype.kind in "iu" or (found.size == 0)
            if not whole or found.ndim != 1 or not ((found >= 0) & (found < self.size)).all():
                raise self._unknown(f"the integers from 0 to {self.size - 1}")
            return found.astype(np.int64, copy=False)
        try:
            return np.array([self._numbers[value] for value in values], np.int64)
        except (KeyError, TypeError):
            raise self._unknown(f"the {self.size} labels of the domain") from None

    def content(self, value: Any) -> bytes:
        return self.places([value]).tobytes()

    def stand_in(self, bits: Bits) -> Any:
        """A value of the domain, each as likely as any other."""
        return self.at(uniform_integers(bits, 1, self.size))[0]

    def at(self, places: Steps) -> Any:
        """The values with these numbers."""
        return places if isinstance(self.domain, int) else [self.domain[place] for place in places]

    @property
    def worst_pair(self) -> WorstPair:
        """Any two values: all are treated alike."""
        return WorstPair(0, 1) if isinstance(self.domain, int) else WorstPair(*self.domain[:2])

    def score(self, reports: Reports) -> Steps:
        """Which of the two values the report supports."""
        first, second = (self.supports(reports, place).astype(np.int64) for place in (0, 1))
        return 2 * first + second

    @abstractmethod
    def supports(self, reports: Reports, place: int) -> NDArray[np.bool_]:
        """Whether each report is one that the value at this place makes more likely."""

    @abstractmethod
    def frequencies(self, tally: Steps, n: int) -> Array:
        """Unbiased estimates of the share of each value."""

    @abstractmethod
    def variances(self, shares: Array, n: int) -> Array:
        """The variances of those estimates about the true shares, given these; n is the number of reports."""

    def estimated_variances(self, tally: Steps, n: int, found: Array) -> Array:
        """The variances with what was found in place of the true shares."""
        return self.variances(np.clip(found, 0.0, 1.0), n)

    @property
    def noise(self) -> float:
        """The variance of the estimate of a value that nobody has, times the number of reports."""
        return float(self.variances(np.zeros(self.size), 1)[-1])

    def estimated(
        self,
        tally: Steps,
        n: int,
        *,
        confidence: float = CONFIDENCE,
        population: bool = False,
        simulated: bool = False,
    ) -> Frequencies:
        """The shares of all values, unbiased, with standard errors and intervals.

        Parameters
        ----------
        tally, n
            Of the reports.
        confidence : float
            Public. Of each interval: the estimate is a mean over people, taken to be normal.
        population : bool
            Whether intervals are for the population that the n people are a sample of, and not for these people.
        simulated : bool
            Whether the reports were drawn from bits that can be replayed.
        """
        check_confidence(f"estimate by {type(self).__name__}", confidence)
        return frequencies_of(self, tally, n, confidence=confidence, population=population, simulated=simulated)

    def _whole_below(self, reports: Reports, upper: int) -> Reports:
        """The reports, if they are whole numbers from 0 to upper - 1, one for each person."""
        if reports.dtype.kind not in "iu" or reports.shape[1:] != self.form.shape:
            raise refused(self, f"they have the type {reports.dtype} and the shape {reports.shape}")
        if reports.size and not (reports.min() >= 0 and reports.max() < upper):
            raise refused(self, f"one is not a number from 0 to {upper - 1}")
        return reports

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {label: place for place, label in enumerate(self.labels)}

    def _unknown(self, known: str) -> ParameterError:
        return ParameterError(f"report by {type(self).__name__}", f"a value is not one of {known}", "Give one of them.")


@dataclass(frozen=True)
class PureOracle(Oracle):
    """An oracle whose reports support the own value with one probability and every other value with another.

    With c reports out of n that support a value, (c / n - other) / (own - other) is an unbiased estimate of its share.
    Wang, Blocki, Li and Jha 2017, who call such protocols pure.
    """

    @property
    @abstractmethod
    def own(self) -> float:
        """The probability that a report supports the value that it was made of."""

    @property
    @abstractmethod
    def other(self) -> float:
        """The probability that it supports any other value."""

    def support(self, tally: Steps) -> Array | Steps:
        """How many reports support each value; this is the tally itself, unless reports are tallied otherwise."""
        return tally

    def frequencies(self, tally: Steps, n: int) -> Array:
        return (np.asarray(self.support(tally), np.float64) / n - self.other) / (self.own - self.other)

    def variances(self, shares: Array, n: int) -> Array:
        """The variances of coins: `own` for the share that has the value, and `other` for the rest."""
        own, other = self.own, self.other
        return (shares * own * (1 - own) + (1 - shares) * other * (1 - other)) / (n * (own - other) ** 2)
