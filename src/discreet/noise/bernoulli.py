"""Coins of any bias, exactly."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.noise.request import Size, checked_shape

CHUNK = 1 << 15
Coins = NDArray[np.bool_]


def bernoulli(bits: Bits, size: Size, probability: ArrayLike) -> Coins:
    """Toss coins that come up True with exactly the given probabilities.

    The first 16 bits of a uniform real are compared with those of the probability; where they are equal, the following
    bits decide in the same way, as far as the probability has any.

    Parameters
    ----------
    bits, size
        As for `rounded_laplace`.
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
    shape = checked_shape("coin", size)
    try:
        each = np.broadcast_to(chances, shape)
    except ValueError as why:
        raise ParameterError("coin", f"{chances.shape} does not broadcast to {shape}", "Give one or one each.") from why
    out = np.empty(math.prod(shape), np.bool_)
    flat = each.reshape(-1) if chances.ndim else chances
    for start in range(0, out.size, CHUNK):
        part = out[start : start + CHUNK]
        part[:] = _below(bits, part.size, flat[start : start + CHUNK] if flat.ndim else flat)
    return out.reshape(shape)


def _below(bits: Bits, count: int, chances: Array) -> Coins:
    digits, scaled = bits.words(-(-count // 4)).view(np.uint16)[:count], np.ldexp(chances, 16)
    whole = np.floor(scaled).astype(np.uint32)
    below = digits < whole
    equal = np.flatnonzero(digits == whole)
    further = np.asarray(scaled - whole, np.float64)[equal if chances.ndim else ()]
    if equal.size and further.any():
        below[equal] = _below(bits, equal.size, further)
    return below
