"""Noise of density exp(-length / scale) in many dimensions, rounded to the grid, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.noise.error_bars import ErrorBars, assure, exponentials
from discreet.noise.interval import Interval, Uniform, settled
from discreet.noise.request import checked_scale, checked_shape

assure("cos")
assure("sin")
CHUNK = 1 << 15
LIMIT = 1 << 62
Words = NDArray[np.uint64]


def radial_exponential(bits: Bits, count: int, dimension: int, scale: float) -> Steps:
    """Draw vectors of density in proportion to exp(-|z| / scale), |z| Euclidean, coordinates rounded to integers.

    z = scale * |h| * g, with g a standard Gaussian vector of that dimension d and h one of dimension d + 1. In units of
    the scale: given t = |h|**2, which is chi-squared with d + 1 degrees of freedom, z is Gaussian of variance t in
    each coordinate, so its density at length r is, up to constants, the integral over t of
    t**(-d/2) exp(-r**2 / 2t) * t**((d-1)/2) exp(-t/2) = t**(-1/2) exp(-(r**2/t + t) / 2), and that is exp(-r).
    Hence the length has the Gamma(d, scale) law and the direction is uniform.

    Gaussians come in pairs, by Box and Muller 1958, from E = -ln U and an angle; two squares of h add up to 2 E.
    Everything is computed in float64 with error bars; a coordinate whose bar reaches half-way between two integers is
    settled in multi-precision, with further bits.

    Parameters
    ----------
    count : int
        Public. How many vectors.
    dimension : int
        Public. Their dimension, at least 1.
    scale : float
        Public. In steps; at least 1e-6, and at most 2**52 when multiplied with the dimension. From about 2**42 on
        nearly every coordinate is settled in multi-precision, which takes a fraction of a millisecond each.

    Returns
    -------
    array of int64, (count, dimension)

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> radial_exponential(DeterministicBits(1), 2, 3, scale=100.0)
    array([[  76,   61, -324],
           [ -56, -172, -290]])
    """
    asked = "radial noise"
    count, dimension = checked_shape(asked, (count, dimension))
    if dimension < 1:
        raise ParameterError(asked, f"the dimension is {dimension}", "Give at least 1.", dimension=dimension)
    scale = checked_scale(asked, scale)
    checked_scale(asked, scale * dimension)
    out = np.empty((count, dimension), np.int64)
    step = max(1, CHUNK // dimension)
    for start in range(0, count, step):
        _fill(bits, out[start : start + step], scale)
    return out


@dataclass(frozen=True)
class _Layout:
    """Which word of a vector's is for what: radii of Gaussian pairs, their angles, pairs of squares of h."""

    dimension: int

    @property
    def pairs(self) -> int:
        """Enough for the coordinates, and for the last square of h when the dimension is even."""
        return self.dimension // 2 + 1

    @property
    def words(self) -> int:
        return 2 * self.pairs + (self.dimension + 1) // 2

    @property
    def odd_square(self) -> bool:
        return self.dimension % 2 == 0


def _fill(bits: Bits, out: Steps, scale: float) -> None:
    layout = _Layout(out.shape[1])
    words = bits.words(len(out) * layout.words).reshape(len(out), -1).copy()
    reals = _reals(words, layout, scale)
    whole = np.floor(reals.value + 0.5)
    with np.errstate(invalid="ignore"):
        certain = np.abs(reals.value - whole) <= 0.5 - reals.error
    out[:] = np.where(certain, whole, 0.0)
    for row in np.flatnonzero(~certain.all(axis=1)):
        columns = np.flatnonzero(~certain[row])
        out[row, columns] = _settled(bits, words[row], layout, scale, columns.tolist())


def _gaussians(words: Words, layout: _Layout) -> ErrorBars:
    """Standard Gaussians, by Box and Muller: all cosines, then all sines.

    The square root of 2 E is off by 2 dE / r. The angle 2 pi w / 2**64 carries three roundings, of at most 2 pi 2**-53
    each, and what is not drawn yet; cos and sin add 4 * 2**-53, product and square root one rounding each: less than
    26 * 2**-53 r; the error bar has 2**-47 r.
    """
    radius, angle = exponentials(words[:, : layout.pairs]), words[:, layout.pairs : 2 * layout.pairs] * 2.0**-64
    angle *= 2 * np.pi
    length = np.sqrt(2 * radius.value)
    error = 2 * radius.error / length + 2.0**-47 * length
    return ErrorBars(np.hstack([length * np.cos(angle), length * np.sin(angle)]), np.hstack([error, error]))


def _reals(words: Words, layout: _Layout, scale: float) -> ErrorBars:
    """The vectors before rounding.

    The square of |h| is off by the sum of its terms' errors and one rounding for each halving of their number, its root
    by that over the root. The product of root, Gaussian and scale follows by the product rule, and five roundings,
    doubled.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        gaussians, halves = _gaussians(words, layout), exponentials(words[:, 2 * layout.pairs :])
        square, off = 2 * _halved_sum(halves.value), 2 * halves.error.sum(axis=1)
        value, error = gaussians.value[:, : layout.dimension], gaussians.error[:, : layout.dimension]
        if layout.odd_square:
            last, last_error = gaussians.value[:, layout.dimension], gaussians.error[:, layout.dimension]
            square += last**2
            off += (2 * np.abs(last) + last_error) * last_error
        root = np.sqrt(square)[:, None]
        off_root = off[:, None] / root + 2.0**-52 * (2 + layout.words.bit_length()) * root
        real = scale * root * value
        return ErrorBars(real, scale * (off_root * (np.abs(value) + error) + root * error) + 2.0**-50 * np.abs(real))


def _halved_sum(rows: Array) -> Array:
    """The sum of each row, two by two, so that a term takes part in few roundings."""
    while rows.shape[1] > 1:
        half = rows.shape[1] // 2
        rows = np.hstack([rows[:, :half] + rows[:, half : 2 * half], rows[:, 2 * half :]])
    return rows[:, 0]


def _settled(bits: Bits, words: Words, layout: _Layout, scale: float, columns: list[int]) -> list[int]:
    """These coordinates of one vector, in multi-precision."""
    uniforms = [Uniform(bits, int(word)) for word in words]
    radii, angles, halves = np.split(np.array(uniforms), [layout.pairs, 2 * layout.pairs])

    def gaussian(i: int) -> Interval:
        turns = angles[i % layout.pairs].interval() - Interval.of(0.25 * (i >= layout.pairs))
        return (radii[i % layout.pairs].interval().ln() * -2.0).sqrt() * turns.cosine()

    def attempt() -> list[int] | None:
        square = gaussian(layout.dimension).square() if layout.odd_square else Interval.of(0)
        product = Interval.of(1)  # the sum of logarithms is the logarithm of the product
        for half in halves:
            product *= half.interval()
        root = (square - product.ln() * 2.0).sqrt() * scale
        whole = [(gaussian(i) * root + Interval.of(0.5)).floor() for i in columns]
        return [max(-LIMIT, min(k, LIMIT)) for k in whole if k is not None] if None not in whole else None

    return settled(attempt, uniforms)
