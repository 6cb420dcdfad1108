"""Coefficients modulo primes, in as few bytes as they need, and refused where they are none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.crypto.errors import UNOPENED, Malformed

Residues = NDArray[np.uint64]
AGAIN = "Ask for it again."


def packed_size(primes: Sequence[int], polynomials: int, degree: int) -> int:
    """How many bytes they take.

    Examples
    --------
    >>> packed_size([2**36 - 5, 2**36 - 17], 2, 4096)
    73728
    """
    return polynomials * sum(degree * _nibbles(prime) // 2 for prime in primes)


def packed(residues: Residues, primes: Sequence[int]) -> bytes:
    """Polynomials, each with its coefficients modulo each prime, as bytes.

    Examples
    --------
    >>> numbers = np.array([[[1, 2, 3, 4]]], np.uint64)
    >>> unpacked(packed(numbers, [4095]), [4095], 1, 4).tolist()
    [[[1, 2, 3, 4]]]
    """
    parts = []
    for polynomial in residues:
        for row, prime in zip(polynomial, primes, strict=True):
            columns = np.ascontiguousarray(row, "<u8").view(np.uint8).reshape(-1, 8)
            whole = _nibbles(prime) // 2
            parts.append(np.ascontiguousarray(columns[:, :whole]).tobytes())
            if _nibbles(prime) % 2:
                high = columns[:, whole]
                parts.append((high[::2] | high[1::2] << 4).tobytes())
    return b"".join(parts)


def unpacked(data: bytes, primes: Sequence[int], polynomials: int, degree: int) -> Residues:
    """What was packed; refused where the length is another or a coefficient is not below its prime."""
    if len(data) != packed_size(primes, polynomials, degree):
        raise Malformed("ciphertext", f"it has {len(data)} bytes", AGAIN, UNOPENED)
    found, place = np.zeros((polynomials, len(primes), degree), "<u8"), 0
    for polynomial in found:
        for row, prime in zip(polynomial, primes, strict=True):
            columns, whole = row.view(np.uint8).reshape(-1, 8), _nibbles(prime) // 2
            columns[:, :whole] = np.frombuffer(data, np.uint8, degree * whole, place).reshape(-1, whole)
            place += degree * whole
            if _nibbles(prime) % 2:
                high = np.frombuffer(data, np.uint8, degree // 2, place)
                columns[::2, whole], columns[1::2, whole] = high & 15, high >> 4
                place += degree // 2
            if row.max() >= prime:
                raise Malformed("ciphertext", "a coefficient is not below its prime", AGAIN, UNOPENED)
    return found


def _nibbles(prime: int) -> int:
    """Half bytes of a coefficient."""
    return -(-int(prime - 1).bit_length() // 4)
