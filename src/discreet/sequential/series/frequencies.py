"""How many frequencies of a series are released, and with which noise: fixed in public, or chosen and paid for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.events import Composed
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.mechanisms.selection.exponential import PermuteAndFlip
from discreet.questions.question import BoundedSum
from discreet.questions.series.fourier import FourierBasis, SpectrumTails, fourier_basis
from discreet.releases.least_noise import least_noise
from discreet.releases.simulation import Simulation
from discreet.releases.spread import Spread, spread
from discreet.sequential.series.fourier_series import series_from
from discreet.trust.private_data import PrivateData

CHOICE = 0.25  # of epsilon, for a choice by a curator
FIRST = 0.5  # of the budget, for a whole spectrum that the choice is made from
LEVEL = 1.05  # of its least: noise that does not grow with the number of frequencies, but for rounding
DRAWS, AT_A_TIME = 2000, 2**21

Asks = Callable[[int], Sequence[BoundedSum]]
"""The questions that would release so many frequencies, bounded in different norms; the last one in l2."""


@dataclass(frozen=True)
class NoisyCoefficients:
    """What was released.

    Parameters
    ----------
    basis : FourierBasis
        Which frequencies.
    numbers : array of shape (basis.size,)
        The noisy coefficients.
    stddev : float
        The standard deviation of the noise on each.
    half_width : float
        How far the noise moves the series, at all periods at once.
    receipt : Receipt
        What it cost.
    """

    basis: FourierBasis
    numbers: Array
    stddev: float
    half_width: float
    receipt: Receipt


@dataclass(frozen=True)
class _MeasuredNoise:
    """A question, and how the noise on it spreads."""

    question: BoundedSum
    spread: Spread

    @classmethod
    def least(cls, data: PrivateData, budget: Budget, questions: Sequence[BoundedSum]) -> _MeasuredNoise:
        """With the least noise that the budget allows."""
        each = [cls(one, least_noise(data, one, budget)) for one in questions]
        return min(each, key=lambda one: one.spread.stddev)

    @classmethod
    def of(cls, data: PrivateData, noise: Any, questions: Sequence[BoundedSum]) -> _MeasuredNoise:
        """With this noise."""
        return min((cls(one, spread(data, one, noise)) for one in questions), key=lambda one: one.spread.stddev)

    def drawn(self, simulation: Simulation, draws: int, size: int) -> Array:
        """Noise as the first numbers could have it."""
        return simulation.noise(self.spread, (draws, size), self.question.grid)


@dataclass(frozen=True)
class LowFrequencies:
    """A series whose lowest frequencies are asked for.

    Parameters
    ----------
    data : PrivateData
        The records.
    periods : int
        Public. Of the series.
    asks : callable
        Public. The questions, by the number of frequencies.
    budget : Budget
        Public. For all releases.
    confidence : float
        Public. Of the band.
    purpose : str
        Public. What it is for, in words.
    key : str, optional
        Public. Makes a retry safe.
    """

    data: PrivateData
    periods: int
    asks: Asks
    budget: Budget
    confidence: float
    purpose: str
    key: str | None

    def fixed(self, coefficients: int) -> NoisyCoefficients:
        """So many frequencies, with all of the budget."""
        one = _MeasuredNoise.least(self.data, self.budget, self.asks(coefficients))
        with self.data.permit(one.spread.noise.event, self.purpose, key=self.key) as permit:
            numbers = permit.ask(one.question, one.spread.noise)
        critical = self._critical([((one, 1.0),)], [len(numbers)])
        return self._made(coefficients, numbers, one.spread.stddev, critical, permit.receipt)

    def chosen(self) -> NoisyCoefficients:
        """As many as are worth their noise. What finds this out is paid for, unless noise does not grow with them."""
        whole = _MeasuredNoise.least(self.data, self.budget, self.asks(self.candidates[-1]))
        if whole.spread.stddev <= LEVEL * _MeasuredNoise.of(self.data, whole.spread.noise, self.asks(1)).spread.stddev:
            return self._afterwards(whole)
        return self._by_tails() if self.data.curated else self._by_spectrum()

    @property
    def candidates(self) -> list[int]:
        """Public. The numbers of frequencies that are compared: each about half as large again as the one before."""
        most = self.periods // 2 + 1
        found = {min(most, math.ceil(1.5**i)) for i in range(math.ceil(math.log(most, 1.5)) + 1)} | {most}
        return sorted(found)

    def _afterwards(self, whole: _MeasuredNoise) -> NoisyCoefficients:
        """All frequencies are released with all of the budget; those that are mostly noise are left out afterwards."""
        with self.data.permit(whole.spread.noise.event, self.purpose, key=self.key) as permit:
            numbers = permit.ask(whole.question, whole.spread.noise)
        deviations = [whole.spread.stddev] * len(self.candidates)
        best = self._least_error(numbers, whole.spread.stddev, deviations)
        critical = self._critical([((whole, 1.0),)] * len(self.candidates), self._sizes)
        return self._made(self.candidates[best], numbers, whole.spread.stddev, critical, permit.receipt)

    def _by_tails(self) -> NoisyCoefficients:
        """A curator chooses by what each number of frequencies leaves out and the noise on the rest."""
        choice = PermuteAndFlip(CHOICE * self.budget.epsilon)
        rest = Budget((1 - CHOICE) * self.budget.epsilon * (1 - 2.0**-40), self.budget.delta)
        each = self._each(rest)
        noises = [math.sqrt(size) * one.spread.stddev for size, one in zip(self._sizes, each, strict=True)]
        tails = SpectrumTails(self.asks(self.candidates[-1])[-1], tuple(self._sizes), tuple(noises))
        plan = Composed((choice.event, each[0].spread.noise.event))
        with self.data.permit(plan, self.purpose, key=self.key) as permit:
            best = int(permit.ask(tails, choice))
            numbers = permit.ask(each[best].question, each[best].spread.noise)
        critical = self._critical([((each[best], 1.0),)], [len(numbers)])
        return self._made(self.candidates[best], numbers, each[best].spread.stddev, critical, permit.receipt)

    def _by_spectrum(self) -> NoisyCoefficients:
        """Half of the budget for a whole spectrum, which shows how many are worth asking for again with the rest."""
        half = Budget(FIRST * self.budget.epsilon * (1 - 2.0**-40), FIRST * self.budget.delta)
        first, each = _MeasuredNoise.least(self.data, half, self.asks(self.candidates[-1])), self._each(half)
        shares = [one.spread.stddev**-2 / (one.spread.stddev**-2 + first.spread.stddev**-2) for one in each]
        deviations = [math.sqrt(share) * one.spread.stddev for share, one in zip(shares, each, strict=True)]
        plan = Composed((first.spread.noise.event, each[0].spread.noise.event))
        with self.data.permit(plan, self.purpose, key=self.key) as permit:
            spectrum = permit.ask(first.question, first.spread.noise)
            best = self._least_error(spectrum, first.spread.stddev, deviations)
            again = permit.ask(each[best].question, each[best].spread.noise)
        numbers = shares[best] * again + (1 - shares[best]) * spectrum[: len(again)]
        parts = [((one, share), (first, 1 - share)) for one, share in zip(each, shares, strict=True)]
        critical = self._critical(parts, self._sizes)
        return self._made(self.candidates[best], numbers, deviations[best], critical, permit.receipt)

    def _each(self, budget: Budget) -> list[_MeasuredNoise]:
        """Every candidate with one and the same noise, so that the price does not tell which is chosen."""
        middle = _MeasuredNoise.least(self.data, budget, self.asks(self.candidates[len(self.candidates) // 2]))
        return [_MeasuredNoise.of(self.data, middle.spread.noise, self.asks(k)) for k in self.candidates]

    @property
    def _sizes(self) -> list[int]:
        return [fourier_basis(self.periods, k).size for k in self.candidates]

    def _least_error(self, spectrum: Array, stddev: float, deviations: list[float]) -> int:
        """The candidate whose expected squared error is least, as far as a noisy spectrum shows: post-processing."""
        beyond = np.append(np.cumsum((np.square(spectrum) - stddev**2)[::-1])[::-1], 0.0)
        errors = [beyond[size] + size * own**2 for size, own in zip(self._sizes, deviations, strict=True)]
        return int(np.argmin(errors))

    def _critical(self, parts: Sequence[Sequence[tuple[_MeasuredNoise, float]]], sizes: list[int]) -> float:
        """How many deviations noise moves a series by, at all periods of all candidates, with this confidence."""
        simulation, farthest = Simulation(), []
        draws = max(1, min(DRAWS, AT_A_TIME // self.periods))
        for _ in range(math.ceil(DRAWS / draws)):
            most = np.zeros(draws)
            own = {id(one): one.drawn(simulation, draws, max(sizes)) for part in parts for one, _ in part}
            for part, size in zip(parts, sizes, strict=True):
                noise = sum(weight * own[id(one)][:, :size] for one, weight in part)
                stddev = math.hypot(*(weight * one.spread.stddev for one, weight in part))
                series = series_from(np.asarray(noise), self.periods) / (stddev * math.sqrt(size / self.periods))
                most = np.maximum(most, np.abs(series).max(axis=1))
            farthest.append(most)
        ascending = np.sort(np.concatenate(farthest))
        return float(ascending[min(math.ceil(self.confidence * (len(ascending) + 1)), len(ascending)) - 1])

    def _made(
        self, coefficients: int, numbers: Array, stddev: float, critical: float, receipt: Receipt
    ) -> NoisyCoefficients:
        basis = fourier_basis(self.periods, coefficients)
        half_width = critical * stddev * math.sqrt(basis.size / self.periods)
        return NoisyCoefficients(basis, numbers[: basis.size], stddev, half_width, receipt)
