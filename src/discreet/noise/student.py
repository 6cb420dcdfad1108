"""Student's noise, of heavy tails, on the integers, exactly."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.grid import Steps
from discreet.core.knob import check_whole
from discreet.noise.bars import Bars, exponentials
from discreet.noise.interval import Interval, Uniform, settled
from discreet.noise.libm import assure
from discreet.noise.request import Size, checked_scale, checked_shape

assure("exp")
assure("cos")
CHUNK = 1 << 15
LIMIT = 1 << 62
LARGEST = 64
Words = NDArray[np.uint64]


def rounded_student(bits: Bits, size: Size, scale: float, degrees: int) -> Steps:
    """Draw reals of density in proportion to (1 + (x / scale)**2 / degrees)**(-(degrees + 1) / 2), rounded to integers.

    Student's law; with one degree of freedom it is Cauchy's. The real is scale * sqrt(d (exp(2 E / d) - 1)) *
    cos(2 pi V) for a standard exponential E, a uniform V and d degrees (Bailey 1994), computed in float64 with error
    bars; one that reaches half-way between two integers is settled in multi-precision, with further bits. A draw of
    2**62 steps or more is put at 2**62.

    Parameters
    ----------
    bits : Bits
        Where randomness comes from.
    size : int or tuple of int
        Public. The shape of the result.
    scale : float
        In steps; between 1e-6 and 2**52.
    degrees : int
        Public. Degrees of freedom, from 1 to 64.

    Returns
    -------
    array of int64

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> rounded_student(DeterministicBits(1), 5, scale=10.0, degrees=3)
    array([-4,  9,  5, -4, -5])
    """
    asked = "Student's noise"
    shape, scale = checked_shape(asked, size), checked_scale(asked, scale)
    check_whole(asked, "degrees", degrees, most=LARGEST)
    out = np.empty(math.prod(shape), np.int64)
    for start in range(0, out.size, CHUNK):
        _fill(bits, out[start : start + CHUNK], scale, int(degrees))
    return out.reshape(shape)


def _fill(bits: Bits, out: Steps, scale: float, degrees: int) -> None:
    words = bits.words(2 * len(out)).reshape(2, -1).copy()
    reals = _reals(words, scale, degrees)
    whole = np.floor(reals.value + 0.5)
    with np.errstate(invalid="ignore"):
        certain = np.abs(reals.value - whole) <= 0.5 - reals.error
    out[:] = np.where(certain, whole, 0.0)
    for i in np.flatnonzero(~certain):
        out[i] = _settled(bits, words[:, i], scale, degrees)


def _reals(words: Words, scale: float, degrees: int) -> Bars:
    """The reals before rounding.

    With g = 2 E / d, known where it is below 50 and its error dg below 1/8, and R = sqrt(d (e**g - 1)): e**g, which is
    1 / exp(-g), is off by 4 units in the last place and a rounding, and by 2 dg of itself; subtracting 1 and times d
    are roundings. The root is off by the sum, 2 d e**g (2 dg + 2**-49), over R, and a rounding. The angle carries three
    roundings of at most 2 pi 2**-53 and what is not drawn yet, and cos 4 * 2**-53: less than 2**-48, and the bar has
    2**-47. The product of the three carries two roundings.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        drawn, cosine = exponentials(words[0]), np.cos(words[1] * 2.0**-64 * (2 * np.pi))
        power, off = 2 * drawn.value / degrees, 2 * drawn.error / degrees
        grown = 1 / np.exp(-power)
        length = np.sqrt(degrees * (grown - 1))
        off = 2 * degrees * grown * (2 * off + 2.0**-49) / length + 2.0**-50 * length
        real = scale * length * cosine
        error = scale * (off + (length + off) * 2.0**-47) + 2.0**-50 * np.abs(real)
        known = (power < 50) & (2 * drawn.error / degrees < 0.125) & (np.abs(real) < 2.0**61)
        return Bars(real, np.where(known, error, np.inf))


def _settled(bits: Bits, words: Words, scale: float, degrees: int) -> int:
    radius, angle = Uniform(bits, int(words[0])), Uniform(bits, int(words[1]))

    def attempt() -> int | None:
        power = (radius.interval().ln() * (-2.0)) / degrees
        length = ((power.exp() - Interval.of(1)) * float(degrees)).sqrt()
        whole = (length * angle.interval().cosine() * scale + Interval.of(0.5)).floor()
        return None if whole is None else max(-LIMIT, min(whole, LIMIT))

    return settled(attempt, [radius, angle])
