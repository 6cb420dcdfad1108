"""Sums of fair coins: binomial variables, exactly."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.bits import Bits
from discreet.core.checks import check_whole
from discreet.core.grid import Steps
from discreet.noise.request import Size, checked_shape

WORD = 64  # coins in a word
CHUNK = 1 << 15  # words at a time
MOST = 1 << 24  # coins in a sum


def coin_sums(bits: Bits, size: Size, coins: int) -> Steps:
    """How many of so many fair coins come up, minus half of their number; an odd one is left out of the half.

    Parameters
    ----------
    coins : int
        1 to 2**24.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> sums = coin_sums(DeterministicBits(1), 10_000, 100)
    >>> bool(abs(sums.mean()) < 0.2), bool(abs(sums.std() - 5) < 0.2), int(np.abs(sums).max()) < 50
    (True, True, True)
    """
    check_whole("coins", "coins", coins, 1, MOST)
    shape = checked_shape("coins", size)
    out = np.empty(math.prod(shape), np.int64)
    words = -(-coins // WORD)
    last = np.uint64((1 << (coins - WORD * (words - 1))) - 1)
    height = max(1, CHUNK // words)
    for start in range(0, out.size, height):
        part = out[start : start + height]
        tossed = bits.words(part.size * words).reshape(part.size, words)
        part[:] = np.bitwise_count(tossed[:, :-1]).sum(axis=1, dtype=np.int64)
        part += np.bitwise_count(tossed[:, -1] & last)
    out -= coins // 2
    return out.reshape(shape)
