"""A power-of-two grid, where contributions are put before they are added, so that sums are exact; and rounding up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError

Array = NDArray[np.float64]
Steps = NDArray[np.int64]
CELLS = 30  # bits between a bound's radius and its grid's step


@dataclass(frozen=True)
class Grid:
    """The multiples of 2**exponent.

    A row is put on the grid by cutting towards zero. That never makes a coordinate longer, so a row inside a ball
    stays inside it, in every norm; grid values are added in int64, or in float64 below 2**53 steps, without error.

    Examples
    --------
    >>> Grid(-2).cut(np.array([0.9, -0.9]))
    array([ 3., -3.])
    >>> Grid(-2).values(np.array([3, -3]))
    array([ 0.75, -0.75])
    """

    exponent: int

    def __post_init__(self) -> None:
        if not -1000 <= self.exponent <= 900:
            obstacle = f"steps of 2**{self.exponent} are outside what float64 can carry"
            remedy = "Rescale the data so that bounds lie between 1e-280 and 1e280."
            raise ParameterError("grid", obstacle, remedy, exponent=self.exponent)

    @classmethod
    def of_radius(cls, radius: float) -> Grid:
        """The grid on which `radius` is between 2**29 and 2**30 steps."""
        return cls(math.frexp(radius)[1] - CELLS)

    @cached_property
    def step(self) -> float:
        """The distance between neighbors on the grid."""
        return math.ldexp(1.0, self.exponent)

    def cut(self, values: Array) -> Array:
        """How many whole steps each value is away from zero, as floats that hold integers."""
        return np.trunc(values * math.ldexp(1.0, -self.exponent))

    def values(self, steps: Steps | Array) -> Array:
        """The values of these numbers of steps."""
        return np.asarray(steps, dtype=np.float64) * self.step


def upwards(exact: Fraction) -> float:
    """The least float that is not below an exact number.

    Examples
    --------
    >>> upwards(Fraction(1, 10)) >= Fraction(1, 10)
    True
    >>> upwards(Fraction(1, 4))
    0.25
    """
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)
