"""Bits that can be replayed: for tests and simulations, NEVER for a release."""

from __future__ import annotations

import hashlib
import operator

import numpy as np
from numpy.typing import NDArray

from discreet.noise.system_bits import KeyStream


class DeterministicBits:
    """NOT PRIVATE: anybody who knows the seed can subtract the noise.

    The same seed gives the same stream on every platform and in every version: AES-256 in counter mode under the
    SHA-256 digest of the seed. A pickle or copy goes on from the same place. Not safe across threads.

    Parameters
    ----------
    seed : int
        Any integer.

    Examples
    --------
    >>> DeterministicBits(7).integer(32) == DeterministicBits(7).integer(32)
    True
    >>> DeterministicBits(7).secret
    False
    """

    secret = False

    def __init__(self, seed: int) -> None:
        self.seed = operator.index(seed)
        self._before = 0
        self._stream = KeyStream(_key(self.seed))

    @property
    def position(self) -> int:
        """How many bytes of the stream were given out."""
        return self._before + self._stream.spent

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next 64-bit words; the caller owns the array only until the next call."""
        return self._stream.words(count)

    def integer(self, width: int) -> int:
        """The next integer in [0, 2**width)."""
        return self._stream.integer(width)

    def __getstate__(self) -> tuple[int, int]:
        return self.seed, self.position

    def __setstate__(self, state: tuple[int, int]) -> None:
        self.seed, position = state
        blocks, rest = divmod(position, 16)
        self._before = 16 * blocks
        self._stream = KeyStream(_key(self.seed), blocks)
        self._stream.integer(8 * rest)


def _key(seed: int) -> bytes:
    return hashlib.sha256(f"discreet deterministic bits {seed}".encode()).digest()
