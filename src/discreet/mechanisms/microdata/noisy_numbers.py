"""Numbers with noise, added or multiplied: NOT PRIVATE."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from discreet.core.answer import Records
from discreet.core.bits import Bits
from discreet.core.events import NoPromise
from discreet.core.grid import Array
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.mechanisms.microdata.unit_noise import FARTHEST, NoiseLaw, unit_gaussians, unit_noise

FactorLaw = Literal["lognormal", "gaussian"]
CUT = 3.0  # deviations, of a Gaussian factor
KEPT = math.sqrt(1 - 2 * CUT * math.exp(-(CUT**2) / 2) / math.sqrt(2 * math.pi) / math.erf(CUT / math.sqrt(2)))


@dataclass(frozen=True)
class NoisyNumbers(CheckedParameters):
    """Adds independent noise to numbers: NOT PRIVATE, since columns that depend on one another take it off again.

    Parameters
    ----------
    stddevs : tuple of float
        Public. Of the noise of each column; a column with 0 is given away as it is.
    steps : tuple of float
        Public. The noise of a column is a whole number of these; any real where it is 0.
    law : {"gaussian", "uniform"}
        Public. Of the noise.
    """

    stddevs: tuple[float, ...]
    steps: tuple[float, ...]
    law: NoiseLaw

    event: ClassVar[NoPromise] = NoPromise("independent noise on each value: correlated columns take it off again")

    def release(self, answer: Records, bits: Bits) -> ChangedRows:
        """The records with noise; what is missing stays missing."""
        values = answer.values.copy()
        for place, (stddev, step) in enumerate(zip(self.stddevs, self.steps, strict=True)):
            if stddev > 0:
                values[:, place] += on_steps(stddev * unit_noise(bits, (len(values),), self.law), step)
        return ChangedRows.shuffled(values, bits)


@dataclass(frozen=True)
class CorrelatedNumbers(CheckedParameters):
    """Adds noise with the covariance of the records: NOT PRIVATE.

    The covariance is that of the records without missing values; where they are no more than the columns, that of
    independent uniform values between the bounds.

    Parameters
    ----------
    relative_variance : float
        Public. The variance of the noise, as a part of that of the records.
    lowers, widths : tuple of float
        Public. The lower bound of each column, and how far it is from the upper one; further columns of the answer are
        given away as they are.
    steps : tuple of float
        Public. The noise of a column is a whole number of these; any real where it is 0.
    """

    relative_variance: float
    lowers: tuple[float, ...]
    widths: tuple[float, ...]
    steps: tuple[float, ...]

    event: ClassVar[NoPromise] = NoPromise("noise on each value: what is rare or far out stays so")

    def release(self, answer: Records, bits: Bits) -> ChangedRows:
        """The records with noise; what is missing stays missing."""
        values, size = answer.values.copy(), len(self.widths)
        root = covariance_root((values[:, :size] - self.lowers) / self.widths)
        most = FARTHEST / 2 * math.sqrt(self.relative_variance)
        noise = math.sqrt(self.relative_variance) * unit_gaussians(bits, (len(values), size)) @ root
        noise = np.clip(noise, -most, most) * self.widths
        for place, step in enumerate(self.steps):
            values[:, place] += on_steps(noise[:, place], step)
        return ChangedRows.shuffled(values, bits)


@dataclass(frozen=True)
class MultipliedNumbers(CheckedParameters):
    """Multiplies numbers by random factors of mean 1: NOT PRIVATE.

    Parameters
    ----------
    relative_stddevs : tuple of float
        Public. The standard deviation of the factors of each column; a column with 0 is given away as it is.
    law : {"lognormal", "gaussian"}
        Public. Of the factors. Gaussian ones are cut at 3 deviations, by drawing again.
    """

    relative_stddevs: tuple[float, ...]
    law: FactorLaw

    event: ClassVar[NoPromise] = NoPromise("a random factor on each value: zeros stay, and large values stay large")

    def release(self, answer: Records, bits: Bits) -> ChangedRows:
        """The records, multiplied; what is missing stays missing."""
        values = answer.values.copy()
        for place, stddev in enumerate(self.relative_stddevs):
            if stddev > 0:
                values[:, place] *= factors(bits, len(values), stddev, self.law)
        return ChangedRows.shuffled(values, bits)


def factors(bits: Bits, count: int, stddev: float, law: FactorLaw) -> Array:
    """Positive factors of mean 1 and this standard deviation.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> factors(DeterministicBits(1), 3, 0.1, "lognormal").round(3)
    array([1.037, 1.157, 1.055])
    """
    drawn = unit_gaussians(bits, (count,))
    if law == "lognormal":
        variance = math.log1p(stddev**2)
        return np.exp(math.sqrt(variance) * drawn - variance / 2)
    while (far := np.flatnonzero(np.abs(drawn) > CUT)).size:
        drawn[far] = unit_gaussians(bits, (far.size,))
    return 1.0 + stddev / KEPT * drawn


def on_steps(values: Array, step: float) -> Array:
    """The nearest multiples of a step; all as it is where the step is 0.

    Examples
    --------
    >>> on_steps(np.array([1.2, -0.9]), 0.5), on_steps(np.array([1.2]), 0.0)
    (array([ 1., -1.]), array([1.2]))
    """
    return np.rint(values / step) * step if step > 0 else values


def covariance_root(shares: Array) -> Array:
    """The symmetric square root of the covariance of values that are shares of the distance of their bounds."""
    whole = shares[~np.isnan(shares).any(axis=1)]
    size = shares.shape[1]
    if len(whole) <= size:
        return np.eye(size) / math.sqrt(12)
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(whole, rowvar=False)))
    root: Array = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return root
