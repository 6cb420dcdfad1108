"""Noise of a scale that is secret itself, on the integers, exactly: a real of scale one, times the scale, rounded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.checks import check_whole
from discreet.core.grid import Steps
from discreet.noise.error_bars import ErrorBars, assure, exponentials
from discreet.noise.interval import Interval, Uniform, settled
from discreet.noise.request import Size, checked_scale, checked_shape

assure("cos")

CHUNK = 1 << 15

LIMIT = 1 << 62

Words = NDArray[np.uint64]


class UnitLaw(Protocol):
    """A law of scale one, computed from a fixed number of uniform reals."""

    uniforms: int

    def reals(self, words: Words) -> ErrorBars:
        """The reals of uniforms with these first bits, in float64: an array for each uniform in, one out."""

    def exact(self, *uniforms: Uniform) -> Interval:
        """The real, enclosed."""


class UnitLaplace:
    """Density exp(-|x|) / 2: an exponential real, and the first bit of the second uniform for a sign."""

    uniforms = 2

    def reals(self, words: Words) -> ErrorBars:
        far = exponentials(words[0])
        return ErrorBars(np.where(words[1] >> np.uint64(63), -far.value, far.value), far.error)

    def exact(self, *uniforms: Uniform) -> Interval:
        far, turn = uniforms
        log = far.interval().ln()
        return log if turn.known >> (turn.width - 1) else -log


class UnitGaussian:
    """Density in proportion to exp(-x^2 / 2): sqrt(2 E) cos(2 pi V), E exponential and V uniform (Box-Muller 1958).

    If E is known to a half of itself, sqrt(2 E) is off by at most 2 dE / sqrt(2 E), and two roundings.
    """

    uniforms = 2

    def reals(self, words: Words) -> ErrorBars:
        with np.errstate(divide="ignore", invalid="ignore"):
            far = exponentials(words[0])
            length = np.sqrt(2 * far.value)
            off = 2 * far.error / length + 2.0**-51 * length
            return turned(ErrorBars(length, np.where(far.error <= far.value / 2, off, np.inf)), words[1])

    def exact(self, *uniforms: Uniform) -> Interval:
        far, turn = uniforms
        return (far.interval().ln() * (-2.0)).sqrt() * turn.interval().cosine()


def turned(lengths: ErrorBars, words: Words) -> ErrorBars:
    """What is left of lengths along one axis, after turns by uniform angles with these first bits.

    The angle carries three roundings of at most 2 pi 2**-53 and what is not drawn yet, and cos is off by 4 * 2**-53:
    less than 2**-48 in all, and the bar has 2**-47. The product carries one rounding.
    """
    with np.errstate(invalid="ignore"):
        real = lengths.value * np.cos(words * 2.0**-64 * (2 * np.pi))
        error = lengths.error + (np.abs(lengths.value) + lengths.error) * 2.0**-47 + 2.0**-52 * np.abs(real)
        return ErrorBars(real, error)


def scaled(asked: str, bits: Bits, size: Size, scale: float, law: UnitLaw) -> Steps:
    """Draw reals of a law, times the scale, rounded to the nearest integer; at 2**62 steps and beyond, to that.

    Nothing is prepared for a scale or remembered of it, and every scale takes the same work, except for one draw in
    about 2**46 / scale: one so close to half-way between two integers that it is settled in multi-precision, with
    further bits. The product with the scale carries two roundings, and subtracting an integer within 1/2 none; 2**-52
    is for the comparison with 1/2.
    """
    shape, scale = checked_shape(asked, size), checked_scale(asked, scale)
    out = np.empty(math.prod(shape), np.int64)
    for start in range(0, out.size, CHUNK):
        _fill(bits, out[start : start + CHUNK], scale, law)
    return out.reshape(shape)


def _fill(bits: Bits, out: Steps, scale: float, law: UnitLaw) -> None:
    words = bits.words(law.uniforms * len(out)).reshape(law.uniforms, -1).copy()
    unit = law.reals(words)
    with np.errstate(invalid="ignore"):
        real = scale * unit.value
        error = scale * unit.error * (1 + 2.0**-50) + 2.0**-50 * np.abs(real) + 2.0**-52
        whole = np.floor(real + 0.5)
        certain = (np.abs(real - whole) <= 0.5 - error) & (np.abs(real) < 2.0**61)
    out[:] = np.where(certain, whole, 0.0)
    for i in np.flatnonzero(~certain):
        out[i] = _settled([Uniform(bits, int(word)) for word in words[:, i]], scale, law)


def _settled(uniforms: list[Uniform], scale: float, law: UnitLaw) -> int:
    def attempt() -> int | None:
        whole = (law.exact(*uniforms) * scale + Interval.of(0.5)).floor()
        return None if whole is None else max(-LIMIT, min(whole, LIMIT))

    return settled(attempt, uniforms)


def scaled_laplace(bits: Bits, size: Size, scale: float) -> Steps:
    """Draw Laplace reals of density exp(-|x| / scale) / (2 scale), rounded to integers.

    Parameters
    ----------
    scale : float
        In steps; between 1e-6 and 2**52. May be secret.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> scaled_laplace(DeterministicBits(1), 5, scale=10.0)
    array([ 17,   8,   2, -16,   3])
    """
    return scaled("Laplace noise", bits, size, scale, UnitLaplace())


def scaled_gaussian(bits: Bits, size: Size, scale: float) -> Steps:
    """Draw Gaussian reals of mean 0 and this deviation, rounded to integers.

    Parameters
    ----------
    bits, size, scale
        As for `scaled_laplace`.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> scaled_gaussian(DeterministicBits(1), 5, scale=10.0)
    array([-3,  8,  5, -3, -4])
    """
    return scaled("Gaussian noise", bits, size, scale, UnitGaussian())


assure("exp")

LARGEST = 64


def rounded_student(bits: Bits, size: Size, scale: float, degrees: int) -> Steps:
    """Draw reals of density in proportion to (1 + (x / scale)**2 / degrees)**(-(degrees + 1) / 2), rounded to integers.

    Student's law; with one degree of freedom it is Cauchy's.

    Parameters
    ----------
    scale : float
        In steps; between 1e-6 and 2**52. May be secret.
    degrees : int
        Public. Degrees of freedom, from 1 to 64.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> rounded_student(DeterministicBits(1), 5, scale=10.0, degrees=3)
    array([-4,  9,  5, -4, -5])
    """
    check_whole("Student's noise", "degrees", degrees, most=LARGEST)
    return scaled("Student's noise", bits, size, scale, UnitStudent(int(degrees)))


@dataclass(frozen=True)
class UnitStudent:
    """The real sqrt(d (exp(2 E / d) - 1)) cos(2 pi V), E exponential and V uniform, for d degrees (Bailey 1994).

    With g = 2 E / d, known where it is below 50 and its error dg below 1/8, and R = sqrt(d (e**g - 1)): e**g, which is
    1 / exp(-g), is off by 4 units in the last place and a rounding, and by 2 dg of itself; subtracting 1 and times d
    are roundings. The root is off by the sum, 2 d e**g (2 dg + 2**-49), over R, and a rounding.
    """

    degrees: int
    uniforms = 2

    def reals(self, words: Words) -> ErrorBars:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            drawn = exponentials(words[0])
            power, off = 2 * drawn.value / self.degrees, 2 * drawn.error / self.degrees
            grown = 1 / np.exp(-power)
            length = np.sqrt(self.degrees * (grown - 1))
            error = 2 * self.degrees * grown * (2 * off + 2.0**-49) / length + 2.0**-50 * length
            return turned(ErrorBars(length, np.where((power < 50) & (off < 0.125), error, np.inf)), words[1])

    def exact(self, *uniforms: Uniform) -> Interval:
        far, turn = uniforms
        power = (far.interval().ln() * (-2.0)) / self.degrees
        return ((power.exp() - Interval.of(1)) * float(self.degrees)).sqrt() * turn.interval().cosine()
