"""Coins of any bias, exactly."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.noise.interval import Interval, Uniform, settled
from discreet.noise.libm import assure
from discreet.noise.request import Size, checked_shape

assure("exp")
CHUNK = 1 << 15
ERROR = 2.0**-45
Coins = NDArray[np.bool_]


def bernoulli(bits: Bits, size: Size, probability: ArrayLike) -> Coins:
    """Toss coins that come up True with exactly the given probabilities.

    The first 16 bits of a uniform real are compared with those of the probability; where they are equal, the following
    bits decide in the same way, as far as the probability has any.

    Parameters
    ----------
    bits : Bits
        Where randomness comes from.
    size : int or tuple of int
        Public. The shape of the result.
    probability : float or array
        In [0, 1]; an array must broadcast to the size.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> bernoulli(DeterministicBits(1), 3, [0.0, 0.5, 1.0])
    array([False, False,  True])
    """
    chances = np.asarray(probability, dtype=np.float64)
    if not ((chances >= 0) & (chances <= 1)).all():
        raise ParameterError("coin", "a probability is not in [0, 1]", "Give probabilities from 0 to 1.")
    return _tossed(bits, checked_shape("coin", size), chances, _below)


def bernoulli_exp(bits: Bits, size: Size, exponent: ArrayLike) -> Coins:
    """Toss coins that come up True with probability exp(-exponent), exactly.

    Error bound of the fast path: exp is off by 4 units in the last place, at most 2**-50, and `ERROR` is 32 times that.
    The first 16 bits of a uniform real decide if they are not those of any probability within `ERROR`; otherwise,
    once in 2**16 tosses, multi-precision and further bits do.

    Parameters
    ----------
    bits : Bits
        Where randomness comes from.
    size : int or tuple of int
        Public. The shape of the result.
    exponent : float or array
        At least 0, taken to be exact; an array must broadcast to the size.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> bernoulli_exp(DeterministicBits(1), 3, [0.0, 0.7, 1000.0])
    array([ True, False, False])
    """
    exponents = np.asarray(exponent, dtype=np.float64)
    if not (exponents >= 0).all():
        raise ParameterError("coin", "an exponent is below 0 or nan", "Give exponents of at least 0.")
    return _tossed(bits, checked_shape("coin", size), exponents, _below_exp)


def _tossed(bits: Bits, shape: tuple[int, ...], parameter: Array, toss: Callable[[Bits, int, Array], Coins]) -> Coins:
    """Toss in chunks, with one parameter for all coins or one for each."""
    try:
        each = np.broadcast_to(parameter, shape)
    except ValueError as why:
        raise ParameterError(
            "coin", f"{parameter.shape} does not broadcast to {shape}", "Give one or one each."
        ) from why
    out = np.empty(math.prod(shape), np.bool_)
    flat = each.reshape(-1) if parameter.ndim else parameter
    for start in range(0, out.size, CHUNK):
        part = out[start : start + CHUNK]
        part[:] = toss(bits, part.size, flat[start : start + CHUNK] if flat.ndim else flat)
    return out.reshape(shape)


def _digits(bits: Bits, count: int) -> NDArray[np.uint16]:
    return bits.words(-(-count // 4)).view(np.uint16)[:count]


def _below(bits: Bits, count: int, chances: Array) -> Coins:
    digits, scaled = _digits(bits, count), np.ldexp(chances, 16)
    whole = np.floor(scaled).astype(np.uint32)
    below = digits < whole
    equal = np.flatnonzero(digits == whole)
    further = np.asarray(scaled - whole, np.float64)[equal if chances.ndim else ()]
    if equal.size and further.any():
        below[equal] = _below(bits, equal.size, further)
    return below


def _below_exp(bits: Bits, count: int, exponents: Array) -> Coins:
    digits, chances = _digits(bits, count), np.exp(-exponents)
    least, most = (np.floor(np.ldexp(chances + error, 16)).astype(np.int32) for error in (-ERROR, ERROR))
    below = digits < least
    close = np.flatnonzero((digits >= least) & (digits <= most))
    known = [int(digits[i]) for i in close]
    for i, digit in zip(close, known, strict=True):
        exponent = float(exponents[i] if exponents.ndim else exponents)
        below[i] = _settled_below_exp(Uniform(bits, digit, 16), exponent)
    return below


def _settled_below_exp(uniform: Uniform, exponent: float) -> bool:
    def attempt() -> bool | None:
        drawn, chance = uniform.interval(), (-Interval.of(exponent)).exp()
        return True if drawn.hi <= chance.lo else False if drawn.lo >= chance.hi else None

    return exponent == 0 or settled(attempt, [uniform])
