"""A hash function that is portable, quick in many lanes, and provably pairwise independent."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Steps

HALF = np.uint64(32)
Words = NDArray[np.uint64]


def hashed(factor: Any, shift: Any, values: Any, buckets: int) -> Steps:
    """The bucket of each value: the upper 32 bits of factor * value + shift modulo 2**64, scaled to the buckets.

    With factor and shift uniform in [0, 2**64), the upper halves of any two different values below 2**32 are uniform
    and independent (Dietzfelbinger 1996), so that a bucket has the probability 1 / buckets up to 2**-32.

    Parameters
    ----------
    factor, shift : array of uint64
        Public. Of each hash function.
    values : array of whole numbers below 2**32
        They broadcast with the functions.
    buckets : int
        Public. At most 2**32.

    Examples
    --------
    >>> hashed(np.uint64(0x9E3779B97F4A7C15), np.uint64(7), np.arange(6), 4)
    array([0, 2, 0, 3, 1, 0])
    """
    with np.errstate(over="ignore"):  # modulo 2**64
        mixed = np.asarray(factor, np.uint64) * np.asarray(values).astype(np.uint64) + np.asarray(shift, np.uint64)
        return ((mixed >> HALF) * np.uint64(buckets) >> HALF).astype(np.int64)


def starts(bucket: Any, buckets: int) -> Words:
    """The least upper half whose value is in a bucket: ceil(bucket * 2**32 / buckets)."""
    return -(-np.asarray(bucket, np.int64) * 2**32 // buckets).astype(np.uint64)


def public_functions(seed: int, count: int) -> tuple[Words, Words]:
    """Factors and shifts of hash functions that everybody can compute: SHA-256 of "discreet hash SEED NUMBER"."""
    digests = b"".join(hashlib.sha256(f"discreet hash {seed} {i}".encode()).digest()[:16] for i in range(count))
    words = np.frombuffer(digests, "<u8").astype(np.uint64).reshape(count, 2)
    return words[:, 0], words[:, 1]
