"""The ring Z_q[X] / (X**4096 + 1) for q a product of two primes of 30 bits, by transforms that numpy computes."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.noise.system_bits import KeyStream

DEGREE = 4096
PRIMES = (1073692673, 1073668097)
"""Both are 1 modulo 8192, so that there are roots of order 8192 modulo each; q has less than 60 bits."""
Q = PRIMES[0] * PRIMES[1]
SPARE = 64  # words beyond those that are needed, of which one in 2**34 is thrown away
Residues = NDArray[np.uint64]
"""Of shape (2, ..., 4096): modulo each prime."""


@cache
def _powers(prime: int) -> tuple[Residues, Residues]:
    """Powers of a root of order 8192 in the order of the transform, and their inverses."""
    root = next(
        found
        for base in range(2, 100)
        if pow(found := pow(base, (prime - 1) // (2 * DEGREE), prime), DEGREE, prime) != 1
    )
    places = [int(f"{place:012b}"[::-1], 2) for place in range(DEGREE)]
    forward = np.array([pow(root, place, prime) for place in places], dtype=np.uint64)
    inverse = np.array([pow(root, -place, prime) for place in places], dtype=np.uint64)
    return forward, inverse


def transformed(values: NDArray[np.uint64], prime: int) -> NDArray[np.uint64]:
    """The values of polynomials at all roots of X**4096 + 1, so that products are number by number.

    Examples
    --------
    >>> one = np.zeros((1, DEGREE), dtype=np.uint64); one[0, 0] = 5
    >>> bool((transformed(one, PRIMES[0]) == 5).all())
    True
    """
    found, powers, p = values.copy(), _powers(prime)[0], np.uint64(prime)
    groups, span = 1, DEGREE
    while groups < DEGREE:
        span //= 2
        parts = found.reshape(-1, groups, 2, span)
        turned = parts[:, :, 1] * powers[groups : 2 * groups, None] % p
        low = parts[:, :, 0].copy()
        parts[:, :, 0], parts[:, :, 1] = (low + turned) % p, (low + p - turned) % p
        groups *= 2
    return found


def coefficients(values: NDArray[np.uint64], prime: int) -> NDArray[np.uint64]:
    """The polynomials with these values at all roots."""
    found, powers, p = values.copy(), _powers(prime)[1], np.uint64(prime)
    groups, span = DEGREE // 2, 1
    while groups:
        parts = found.reshape(-1, groups, 2, span)
        low, high = parts[:, :, 0].copy(), parts[:, :, 1].copy()
        parts[:, :, 0] = (low + high) % p
        parts[:, :, 1] = (low + p - high) * powers[groups : 2 * groups, None] % p
        groups, span = groups // 2, span * 2
    return found * np.uint64(pow(DEGREE, -1, prime)) % p


def residues(values: NDArray[np.int64]) -> Residues:
    """Signed integers modulo each prime."""
    return np.stack([np.mod(values, np.int64(prime)).astype(np.uint64) for prime in PRIMES])


def signed(values: Residues) -> NDArray[np.int64]:
    """The integers with these residues that are nearest to zero."""
    one, other = (np.uint64(prime) for prime in PRIMES)
    factor = (values[1] + other - values[0] % other) * np.uint64(pow(PRIMES[0], -1, PRIMES[1])) % other
    found = (values[0] + one * factor).astype(np.int64)
    return np.where(found > Q // 2, found - Q, found)


def expanded(seed: bytes, count: int) -> Residues:
    """Uniform polynomials from a seed."""
    stream, found = KeyStream(seed), []
    for prime in PRIMES:
        limit = np.uint64(2**64 // prime * prime - 1)
        words = stream.words(count * DEGREE + SPARE)
        fine = words[words <= limit][: count * DEGREE]
        found.append((fine % np.uint64(prime)).reshape(count, DEGREE))
    return np.stack(found)
