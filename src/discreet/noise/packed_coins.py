"""Many coins of one bias, eight in a byte, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.noise.bernoulli import bernoulli
from discreet.noise.request import checked_shape

CHUNK = 1 << 18  # coins at a time
Packed = NDArray[np.uint8]


def packed_coins(bits: Bits, rows: int, columns: int, probability: float) -> Packed:
    """Toss rows of coins that come up 1 with exactly the given probability.

    The first 8 bits of a uniform real are compared with those of the probability; where they are equal, `bernoulli`
    compares the rest.

    Parameters
    ----------
    bits : Bits
        Where randomness comes from.
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
    whole, step = int(probability * 256), max(1, CHUNK // max(columns, 1))
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
