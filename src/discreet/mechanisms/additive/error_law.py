"""The law of noise on each coordinate of a release: what error bars are computed from. All of it is public."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted
from discreet.core.grid import Array, Grid
from discreet.noise.coin_sums import coin_sums
from discreet.noise.gaussian import rounded_gaussian
from discreet.noise.laplace import discrete_laplace, rounded_laplace

CELLS = 40  # bits between the scale of noise and the step of its grid, at most
FINE = 2.0**20  # steps of a grid so fine that its rounding does not matter
FEW = 6  # Laplace variables whose sum is not yet close to normal
NEWTON = 100  # steps at most; about eight are enough
RECENT = 2**10  # quantiles that are remembered: groups, and statistics of the same sums, share many


class ErrorLaw(ABC):
    """The law of independent noise, given its standard deviation on each coordinate."""

    rounded: ClassVar[bool] = True
    """Whether it is a real variable that is rounded to the grid of the release."""
    laplace: ClassVar[bool] = False
    """Whether its tails are those of Laplace variables."""

    @abstractmethod
    def scale(self, stddev: float) -> float:
        """The scale parameter of noise of this standard deviation."""

    @abstractmethod
    def drawn(self, bits: Bits, shape: tuple[int, ...], stddev: float, grid: Grid) -> Array:
        """Noise as a release on this grid has it."""

    def half_width(self, stddev: float, weights: ArrayLike, confidence: float) -> float:
        """How far the noise moves a weighted sum of coordinates, with this confidence."""
        return float(ndtri(0.5 + confidence / 2) * stddev * math.hypot(*_sizes(weights)))


class NormalError(ErrorLaw):
    """Normal noise, or a sum of many independent noises.

    Examples
    --------
    >>> round(NormalError().half_width(2.0, [1.0], 0.95), 2)
    3.92
    """

    def scale(self, stddev: float) -> float:
        return stddev

    def drawn(self, bits: Bits, shape: tuple[int, ...], stddev: float, grid: Grid) -> Array:
        """Normal variables; their rounding does not matter."""
        return rounded_gaussian(bits, shape, FINE).astype(np.float64) * (stddev / FINE)


class LaplaceError(ErrorLaw):
    """Laplace noise.

    Examples
    --------
    >>> round(LaplaceError().half_width(math.sqrt(2), [1.0], 0.95), 3)  # ln 20
    2.996
    """

    laplace = True

    def scale(self, stddev: float) -> float:
        """The scale b of a density proportional to exp(-|x| / b)."""
        return stddev / math.sqrt(2)

    def drawn(self, bits: Bits, shape: tuple[int, ...], stddev: float, grid: Grid) -> Array:
        """Laplace variables, rounded to the grid; to a coarser one, as the release is, where it has very many steps."""
        scale = self.scale(stddev) / grid.step
        excess = _excess(scale)
        steps = rounded_laplace(bits, shape, max(math.ldexp(scale, -excess), 2.0**-10))
        return Grid(grid.exponent + excess).values(steps)

    def half_width(self, stddev: float, weights: ArrayLike, confidence: float) -> float:
        """How far the noise moves a weighted sum of coordinates, with this confidence.

        A weighted sum of independent Laplace variables of scales b_i has P(|S| > t) = sum_i A_i exp(-t / b_i) with
        A_i = prod_{j != i} b_i^2 / (b_i^2 - b_j^2), by partial fractions of its characteristic function; the sum of
        more than six is close enough to normal.
        """
        sizes = _sizes(weights)
        if not 0 < len(sizes) <= FEW:
            return super().half_width(stddev, weights, confidence)
        scale = stddev / math.sqrt(2)
        return scale * _laplace_quantile(tuple(sorted(sizes)), 1 - confidence)


class BinomialError(NormalError):
    """The number of heads of fair coins, minus half of the coins, on whole numbers.

    Examples
    --------
    >>> BinomialError().half_width(math.sqrt(20), [1.0], 0.95)  # 80 coins: within 8 with 94.3 %, within 9 with 96.6 %
    9.0
    """

    rounded = False

    def drawn(self, bits: Bits, shape: tuple[int, ...], stddev: float, grid: Grid) -> Array:
        return grid.values(coin_sums(bits, shape, self._coins(stddev)))

    def half_width(self, stddev: float, weights: ArrayLike, confidence: float) -> float:
        """How far the noise moves a weighted sum of coordinates, with this confidence; exact for a single one."""
        sizes = _sizes(weights)
        if len(sizes) != 1:
            return super().half_width(stddev, weights, confidence)
        from scipy.stats import binom  # loading it takes longer than all else that a party needs

        coins = self._coins(stddev)
        return float(binom.ppf(0.5 + confidence / 2, coins, 0.5) - coins // 2) * sizes[0]

    def _coins(self, stddev: float) -> int:
        return max(2, round(4 * stddev**2))


class GeometricError(LaplaceError):
    """Discrete Laplace (two-sided geometric) noise, on whole numbers.

    Examples
    --------
    >>> GeometricError().half_width(1.0, [1.0], 0.95)
    2.0
    """

    rounded = False

    def scale(self, stddev: float) -> float:
        """-1 / ln(a), from the variance 2 a / (1 - a)^2 = 1 / (2 sinh(ln(a) / 2)^2)."""
        return 0.5 / math.asinh(math.sqrt(0.5) / stddev)

    def drawn(self, bits: Bits, shape: tuple[int, ...], stddev: float, grid: Grid) -> Array:
        """Discrete Laplace variables, in steps of the grid."""
        scale = self.scale(stddev)
        excess = _excess(scale)
        steps = discrete_laplace(bits, shape, max(math.ldexp(scale, -excess), 2.0**-10))
        return Grid(grid.exponent + excess).values(steps)

    def half_width(self, stddev: float, weights: ArrayLike, confidence: float) -> float:
        """How far the noise moves a weighted sum of coordinates, with this confidence.

        A single one is beyond t with probability 2 a^(t + 1) / (1 + a), if each number is a times as likely as the one
        before; sums are close to sums of Laplace variables of the same variance.
        """
        sizes = _sizes(weights)
        if len(sizes) != 1:
            return super().half_width(stddev, weights, confidence)
        log = -1 / self.scale(stddev)
        beyond = math.log((1 - confidence) * (1 + math.exp(log)) / 2) / log - 1
        return sizes[0] * max(0.0, math.ceil(beyond))


class UnknownError(ErrorLaw):
    """The law of a mechanism that does not say what its errors are."""

    def scale(self, stddev: float) -> float:
        raise _unknown()

    def drawn(self, bits: Bits, shape: tuple[int, ...], stddev: float, grid: Grid) -> Array:
        raise _unknown()

    def half_width(self, stddev: float, weights: ArrayLike, confidence: float) -> float:
        raise _unknown()


@functools.lru_cache(maxsize=RECENT)
def _laplace_quantile(sizes: tuple[float, ...], chance: float) -> float:
    """Where a sum of Laplace variables of these scales, which ascend, is with a chance, or farther from zero.

    It is where sum_i A_i exp(-t / b_i) falls to the chance, by Newton's method on its logarithm. The logarithm is
    concave, as the density of the sum is, so from below the root the first step goes beyond it, and from above it no
    step does. It begins where one variable of the same variance is.
    """
    if len(sizes) == 1:
        return -math.log(chance) * sizes[0]
    scales: list[float] = []
    for i, size in enumerate(sizes):
        scales.append(size * (1 + 1e-3 * i))  # no two are equal
    terms = []
    for own in scales:
        factor = 1.0
        for other in scales:
            if other != own:
                factor *= own**2 / (own**2 - other**2)
        terms.append((factor, 1 / own))
    log = math.log(chance)
    t = -log * math.hypot(*scales)
    for _ in range(NEWTON):
        outside = slope = 0.0
        for factor, rate in terms:
            part = factor * math.exp(-t * rate)
            outside += part
            slope += part * rate
        step = (math.log(outside) - log) * outside / slope
        t += step
        if abs(step) <= 1e-12 * t:
            break
    return t


def _unknown() -> NotPermitted:
    return NotPermitted("error bars", "the mechanism does not say which law its errors follow", "Give it a `law`.")


def _sizes(weights: ArrayLike) -> list[float]:
    """The sizes of the weights, except for those that do not matter beside the others."""
    sizes = list(map(abs, np.asarray(weights, dtype=np.float64).ravel().tolist()))
    least = 1e-9 * max(sizes, default=0.0)
    return list(filter(least.__lt__, sizes))


def _excess(scale: float) -> int:
    return max(0, math.frexp(scale)[1] - CELLS)
