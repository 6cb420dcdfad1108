"""Student's noise, of heavy tails, on the integers, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.bits import Bits
from discreet.core.checks import check_whole
from discreet.core.grid import Steps
from discreet.noise.bars import Bars, exponentials
from discreet.noise.interval import Interval, Uniform
from discreet.noise.libm import assure
from discreet.noise.request import Size
from discreet.noise.scaled import Words, scaled, turned

assure("exp")
LARGEST = 64


def rounded_student(bits: Bits, size: Size, scale: float, degrees: int) -> Steps:
    """Draw reals of density in proportion to (1 + (x / scale)**2 / degrees)**(-(degrees + 1) / 2), rounded to integers.

    Student's law; with one degree of freedom it is Cauchy's.

    Parameters
    ----------
    bits, size
        As for `rounded_laplace`.
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

    def reals(self, words: Words) -> Bars:
        """The reals in float64."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            drawn = exponentials(words[0])
            power, off = 2 * drawn.value / self.degrees, 2 * drawn.error / self.degrees
            grown = 1 / np.exp(-power)
            length = np.sqrt(self.degrees * (grown - 1))
            error = 2 * self.degrees * grown * (2 * off + 2.0**-49) / length + 2.0**-50 * length
            return turned(Bars(length, np.where((power < 50) & (off < 0.125), error, np.inf)), words[1])

    def exact(self, *uniforms: Uniform) -> Interval:
        """The real, enclosed."""
        far, turn = uniforms
        power = (far.interval().ln() * (-2.0)) / self.degrees
        return ((power.exp() - Interval.of(1)) * float(self.degrees)).sqrt() * turn.interval().cosine()
