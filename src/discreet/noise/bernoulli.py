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
COINS = 1 << 18  # coins at a time
Packed = NDArray[np.uint8]


def bernoulli(bits: Bits, size: Size, probability: ArrayLike) -> Coins:
    """Toss coins that come up True with exactly the given probabilities.

    The first 16 bits of a uniform real are compared with those of the probability; where they are equal, the following
    bits decide in the same way, as far as the probability has any.

    Parameters
    ----------
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


def packed_coins(bits: Bits, rows: int, columns: int, probability: float) -> Packed:
    """Toss rows of coins that come up 1 with exactly the given probability.

    The first 8 bits of a uniform real are compared with those of the probability; where they are equal, `bernoulli`
    compares the rest.

    Parameters
    ----------
    rows, columns : int
        Public. How many coins.
    probability : float
        Public. In [0, 1).

    Returns
    -------
    array of uint8, shape (rows, ceil(columns / 8))
        The first coin of a row is the lowest bit of its first byte; the bits after the last one are 0.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> np.unpackbits(packed_coins(DeterministicBits(1), 1, 10, 0.5), axis=1, count=10, bitorder="little")
    array([[1, 0, 0, 0, 0, 1, 0, 1, 0, 0]], dtype=uint8)
    """
    checked_shape("coins", (rows, columns))
    if not 0 <= probability < 1:
        raise ParameterError("coins", f"the probability is {probability}", "Give a probability from 0 to below 1.")
    out = np.empty((rows, -(-columns // 8)), np.uint8)
    whole, step = int(probability * 256), max(1, COINS // max(columns, 1))
    ones, equal = np.empty((2, min(step, rows) * columns), np.bool_)  # used again: fresh pages take longer than coins
    undecided = [np.empty(0, np.int64)]
    for start in range(0, rows, step):
        part = out[start : start + step]
        count = len(part) * columns
        digits = bits.words(-(-count // 8)).view(np.uint8)[:count]
        np.less(digits, whole, out=ones[:count])
        part[:] = np.packbits(ones[:count].reshape(len(part), columns), axis=-1, bitorder="little")
        undecided.append(np.flatnonzero(np.equal(digits, whole, out=equal[:count])) + start * columns)
    rest = np.concatenate(undecided)
    row, column = np.divmod(rest[bernoulli(bits, rest.size, probability * 256 - whole)], columns)
    np.bitwise_or.at(out, (row, column >> 3), np.uint8(1) << (column & 7).astype(np.uint8))
    return out
