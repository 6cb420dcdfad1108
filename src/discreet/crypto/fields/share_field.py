"""Fields for shares of small numbers: as narrow as the sum allows, so that less is sent, hashed and multiplied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.crypto.fields import field as field61

Shares = NDArray[np.unsignedinteger[Any]]
"""Elements, in words of the field's size."""
CHUNK = 1 << 14  # elements of a row at a time; the products of limbs of so many add up exactly in a double


@dataclass(frozen=True)
class ShareField:
    """A prime field whose elements are kept in words with a bit to spare, so that two of them add up in one.

    Parameters
    ----------
    prime : int
        Public. The modulus: below half of what a word holds, and above a quarter.
    size : int
        Public. The bytes of a word: 2, 4 or 8.

    Examples
    --------
    >>> field = ShareField(32749, 2)
    >>> field.subtract(field.elements([3]), field.elements([-1, 5]))
    array([    4, 32747], dtype=uint16)
    """

    prime: int
    size: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """A word, its low bytes first."""
        return np.dtype(f"<u{self.size}")

    @property
    def tests(self) -> int:
        """How many independent tests miss a false dealing with a probability below 2**-119 together."""
        return 16 // self.size

    def elements(self, values: Any) -> Shares:
        """The remainders of integers."""
        array = np.asarray(values, dtype=object)
        return np.array([int(value) % self.prime for value in array.flat], self.dtype).reshape(array.shape)

    def read(self, data: bytes, count: int) -> Shares | None:
        """As many elements as were written in these bytes; None if they are others, or no remainders."""
        if len(data) != count * self.size:
            return None
        words = np.frombuffer(data, self.dtype)
        return words if bool((words < self.prime).all()) else None

    def uniform(self, bits: Bits, *shape: int) -> Shares:
        """Draw elements, each as likely as any other: as many bits as the prime has, anew where they are not below it.

        Examples
        --------
        >>> from discreet.noise.deterministic import DeterministicBits
        >>> ShareField(32749, 2).uniform(DeterministicBits(1), 3)
        array([9216, 7908, 1995], dtype=uint16)
        """
        out = np.empty(shape, self.dtype)
        flat, mask = out.reshape(-1), self.dtype.type((1 << self.prime.bit_length()) - 1)
        for start in range(0, flat.size, CHUNK):
            part = flat[start : start + CHUNK]
            words = bits.words(-(-part.size * self.size // 8)).astype("<u8", copy=False).view(self.dtype)
            np.bitwise_and(words[: part.size], mask, out=part)
            again = np.flatnonzero(part >= self.prime)
            if again.size:
                part[again] = self.uniform(bits, again.size)
        return out

    def add(self, a: Shares, b: Shares) -> Shares:
        """The sum, element by element; arrays broadcast."""
        once = a + b
        return np.minimum(once, once - self.dtype.type(self.prime))  # below the prime the difference wraps and loses

    def subtract(self, a: Shares, b: Shares) -> Shares:
        """The difference, element by element; arrays broadcast."""
        once = a - b
        return np.minimum(once, once + self.dtype.type(self.prime))

    def accumulate(self, target: Shares, other: Shares) -> None:
        """Add to the target, in place; arrays of one shape, which may overlap."""
        target[...] = self.add(target, other)

    def multiply(self, a: Shares, b: Shares) -> Shares:
        """The product, element by element; arrays broadcast."""
        if self.size == 8:
            return field61.multiply(a, b)
        wide: Any = np.uint32 if self.size == 2 else np.uint64
        found = a.astype(wide) * b
        found -= found // wide(self.prime) * wide(self.prime)
        return found.astype(self.dtype)

    def total(self, rows: Shares) -> Shares:
        """The sum along the first axis, which holds fewer than 2**32."""
        if self.size == 8:
            return field61.total(rows)
        return (rows.sum(axis=0, dtype=np.uint64) % np.uint64(self.prime)).astype(self.dtype)

    def combined(self, weights: Sequence[int], rows: Shares) -> Shares:
        """The sum of rows, each multiplied by its weight, which is any integer."""
        factors = self.elements(list(weights))
        if self.size == 8:
            return field61.dot(factors, rows)
        found = np.zeros(rows.shape[1:], self.dtype)
        for factor, row in zip(factors, rows, strict=True):
            self.accumulate(found, row if factor == 1 else self.multiply(row, factor))
        return found

    def dots(self, weights: Shares, rows: Sequence[Shares]) -> list[list[int]]:
        """For each row, the sum of its elements multiplied by each of some vectors of weights, of at most 2**31.

        Limbs of 16 bits are multiplied as matrices of doubles: products of so few of them add up without rounding.

        Examples
        --------
        >>> field = ShareField(2**31 - 1, 4)
        >>> field.dots(field.elements([[2, -1]]), [field.elements([10, 3]), field.elements([0, 1])])
        [[17], [2147483646]]
        """
        if not rows:
            return []
        limbs, vectors = self.size // 2, len(weights)
        found = np.zeros((vectors * limbs, len(rows) * limbs), np.uint64)
        for start in range(0, weights.shape[1], CHUNK):
            part = slice(start, start + CHUNK)
            left = _limbs(np.ascontiguousarray(weights[:, part]))
            right = _limbs(np.stack([row[part] for row in rows]))
            found += (left @ right.T).astype(np.uint64)
        values = found.reshape(vectors, limbs, len(rows), limbs).astype(object)
        places = np.array([[1 << 16 * (i + j) for j in range(limbs)] for i in range(limbs)], dtype=object)
        sums = (values * places[None, :, None, :]).sum(axis=(1, 3)) % self.prime
        return [[int(value) for value in column] for column in sums.T]


def _limbs(rows: Shares) -> NDArray[np.float64]:
    """The 16-bit limbs of rows of words: a row for each limb of each."""
    count, length = rows.shape
    return rows.view("<u2").reshape(count, length, -1).transpose(0, 2, 1).reshape(-1, length).astype(np.float64)


NARROW, MIDDLE, WIDE = ShareField(32749, 2), ShareField(2**31 - 1, 4), ShareField(2**61 - 1, 8)


def narrowest(largest: int) -> ShareField:
    """The narrowest field in which no sum of at most this size wraps around.

    Examples
    --------
    >>> narrowest(610).size, narrowest(2**24).size
    (2, 4)
    """
    for one in (NARROW, MIDDLE, WIDE):
        if largest < one.prime:
            return one
    raise ParameterError("sum", f"it can be {largest}", f"Let it stay below {WIDE.prime}.", largest=largest)
