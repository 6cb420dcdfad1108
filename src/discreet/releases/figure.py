"""A number computed from noisy sums, and how far noise and sampling move it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from discreet.core.grid import Array
from discreet.releases.law import Law
from discreet.releases.spread import Spread

FEWEST, SURER = 3.0, 8.0  # what noise leaves of the degrees of freedom of a sampling error: see `Figure.degrees`
SMALLEST = 1e-7  # smaller probabilities are not distinguished
FEW = 3  # coordinates whose noise adds up by partial fractions, without cancelling digits


@dataclass(frozen=True)
class Sampling:
    """How far a sample moves a figure from its value in the population, as the same noisy sums show.

    Parameters
    ----------
    variance : float
        Of the sampling error; infinite where there are too few records to estimate it.
    weights : array
        How this variance changes with each of the sums.
    wobble : float
        The variance of this variance that is due to the sample.
    records : float
        How many records there are, in the smallest sample.
    """

    variance: float
    weights: Array
    wobble: float
    records: float


@dataclass(frozen=True)
class Figure:
    """A number computed from noisy sums, and how it changes with each of them.

    Parameters
    ----------
    value : float
        The number.
    weights : array
        Its derivatives.
    sampling : Sampling, optional
        How far the sample may be off; for the exact value of these data, nothing.
    bend : float
        How much its derivatives fall as the number rises: one over the number of values, where sums are divided by it
        and it is as noisy as they are.
    """

    value: float
    weights: Array
    sampling: Sampling | None = None
    bend: float = 0.0

    def supposed(self, value: float) -> Figure:
        """The same, off by what noise makes of it if its exact value is supposed to be this one (Fieller 1954)."""
        if not self.bend:
            return self
        return Figure(self.value, self.weights + self.bend * (self.value - value), self.sampling, self.bend)

    def __sub__(self, other: Figure) -> Figure:
        """The difference of two figures, each from sums and records of its own."""
        weights = np.concatenate([self.weights, -other.weights])
        if self.sampling is None or other.sampling is None:
            return Figure(self.value - other.value, weights)
        sampling = Sampling(
            self.sampling.variance + other.sampling.variance,
            np.concatenate([self.sampling.weights, other.sampling.weights]),
            self.sampling.wobble + other.sampling.wobble,
            min(self.sampling.records, other.sampling.records),
        )
        return Figure(self.value - other.value, weights, sampling)

    def times(self, factor: float) -> Figure:
        """The same, multiplied by a constant."""
        sampling = self.sampling and Sampling(
            factor**2 * self.sampling.variance,
            factor**2 * self.sampling.weights,
            factor**4 * self.sampling.wobble,
            self.sampling.records,
        )
        return Figure(factor * self.value, factor * self.weights, sampling, self.bend)

    def standard_error(self, spread: Spread) -> float:
        """The standard deviation of what it is off by: of the noise, and of the sample where that counts."""
        noise = spread.stddev * math.hypot(*self.weights.tolist())
        return noise if self.sampling is None else math.hypot(noise, math.sqrt(self.sampling.variance))

    def degrees(self, spread: Spread) -> float:
        """The degrees of freedom of the squared standard error V (Satterthwaite 1946; Welch 1947).

        They are 2 V^2 / var(V) where V varies with the sample. Noise in V is not chi-squared, and a sampling variance
        that it would make negative is raised to zero, so that V is never below what the noise on the figure accounts
        for. Of this noise, of variance W, it leaves 3 + 8 V^2 / W, or 3 at worst: of such rules, this one makes
        simulated intervals cover between 0.94 and 0.98 if 0.95 are meant, while W is below the squared variance of the
        noise on the figure. Beyond, values hardly vary and hardly anything hides it; then it may be all.
        """
        if self.sampling is None or not math.isfinite(self.sampling.variance):
            return math.inf
        square = self.standard_error(spread) ** 2
        noise = (spread.stddev * float(np.linalg.norm(self.sampling.weights))) ** 2
        lost = self.sampling.wobble / (2 * square**2) if self.sampling.wobble > 0 else 0.0
        if noise > 0:
            lost += 1 / (max(min(FEWEST, self.sampling.records - 1), 1.0) + SURER * square**2 / noise)
        return max(1 / lost, 1.0) if lost > 0 else math.inf

    def half_width(self, spread: Spread, confidence: float) -> float:
        """Half the width of an interval that holds the exact value with this confidence.

        Examples
        --------
        >>> from discreet.mechanisms.additive.laplace import Laplace
        >>> noisy, laplace = Figure(0.0, np.array([1.0])), Spread(Laplace(), math.sqrt(2))
        >>> round(noisy.half_width(laplace, 0.95), 3)
        2.996
        >>> sampled = Figure(0.0, np.array([1.0]), Sampling(100.0, np.zeros(1), 0.0, 1000.0))
        >>> round(sampled.half_width(laplace, 0.95), 1)
        19.8
        """
        if self.sampling is None and len(self.weights) <= FEW:
            return spread.half_width(self.weights, confidence)
        if self.sampling is not None and not math.isfinite(self.sampling.variance):
            return math.inf
        return self.reach(self.law(spread), spread, confidence)

    def reach(self, law: Law, spread: Spread, confidence: float) -> float:
        """How far from zero a law is with this confidence, if its scale is known to so few degrees of freedom.

        As far as it is where a normal variable is beyond Student's quantile; proportionally farther beyond chances that
        are not distinguished.
        """
        student = float(stdtrit(self.degrees(spread), 0.5 + confidence / 2))
        normal = min(student, float(-ndtri(SMALLEST / 2)))
        return law.half_width(2 * float(ndtr(-normal))) * student / normal

    def p_value(self, spread: Spread, distance: float) -> float:
        """The probability that noise and sample together move it this far or farther, either way."""
        if self.sampling is not None and not math.isfinite(self.sampling.variance):
            return 1.0
        normal = float(ndtri(0.5 * max(self.law(spread).outside(distance), SMALLEST)))
        return min(1.0, 2 * float(stdtr(self.degrees(spread), normal)))

    def law(self, spread: Spread) -> Law:
        """How it is off, as noise and sample are distributed together."""
        variance = 0.0 if self.sampling is None else self.sampling.variance
        if spread.law.laplace:
            return Law(math.sqrt(variance), spread.stddev / math.sqrt(2) * np.abs(self.weights))
        return Law(self.standard_error(spread), np.zeros(0))
