"""The square root of the matrix of running sums, with coefficients that are exact in binary."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from discreet.core.grid import Array, Steps

BINARY = 22  # places of a coefficient after the binary point


@dataclass(frozen=True)
class SquareRootFactor:
    """Running sums A as a product B C of lower triangular Toeplitz matrices, C near the square root of A.

    The first column of the square root has the coefficients of (1 - x)^(-1/2), binom(2 k, k) / 4^k (Bennett 1977;
    Fichtenberger, Henzinger and Upadhyay 2023). Those of C are rounded to multiples of 2^-22, so that C times integers
    has no error, and B = A C^-1 makes up for it.

    Parameters
    ----------
    horizon : int
        Public. How many rows.

    Examples
    --------
    >>> SquareRootFactor(4).left.round(4)
    array([1.    , 0.5   , 0.375 , 0.3125])
    """

    horizon: int

    @cached_property
    def numerators(self) -> Steps:
        """The first column of C, times 2^22: from the diagonal on, and never rising."""
        k = np.arange(1, self.horizon)
        exact = np.concatenate([[1.0], np.cumprod((2 * k - 1) / (2 * k))])
        return np.rint(np.ldexp(exact, BINARY)).astype(np.int64)

    @cached_property
    def left(self) -> Array:
        """The first column of B: that of A, divided by C as power series are."""
        return np.asarray(np.cumsum(_inverse(np.ldexp(self.numerators.astype(np.float64), -BINARY))))

    @lru_cache(maxsize=64)  # noqa: B019 - few factors are ever made
    def norm(self, contributions: int = 1) -> float:
        """How far C x moves in l2 if this many rows of x, wherever they are, move by one each; rounded up.

        The product of columns i < j of C is the sum over m < horizon - j of c[m] c[m + j - i]: at least 0, and less for
        a larger j and for a larger distance, since c never rises. So it is most for the first rows, all moved alike.
        """
        moved = np.cumsum(self.numerators)
        moved[contributions:] -= np.cumsum(self.numerators)[: self.horizon - contributions]
        squares = sum(int(one) ** 2 for one in moved.tolist())
        return math.ldexp(float(math.isqrt(squares) + 1), -BINARY) * (1 + 2.0**-50)

    def rmse(self, contributions: int = 1) -> float:
        """The root mean square, over all rows, of the noise in running sums, for a multiplier and bound of one."""
        squares = np.cumsum(self.left**2)
        return self.norm(contributions) * math.sqrt(float(squares.mean()))


def _inverse(series: Array) -> Array:
    """The power series 1 / series, as long as that, by Newton's method: twice as many terms in each step."""
    found, size = np.array([1.0 / series[0]]), 1
    while size < len(series):
        size = min(2 * size, len(series))
        error = -_product(series[:size], found, size)
        error[0] += 2.0
        found = _product(found, error, size)
    return np.asarray(found)


def _product(first: Array, second: Array, size: int) -> Array:
    width = 1 << (len(first) + len(second) - 1).bit_length()
    return np.asarray(np.fft.irfft(np.fft.rfft(first, width) * np.fft.rfft(second, width), width)[:size])


@lru_cache(maxsize=32)
def square_root_factor(horizon: int) -> SquareRootFactor:
    """The factor of this size, remembered."""
    return SquareRootFactor(horizon)
