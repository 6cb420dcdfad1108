"""Arithmetic on arrays modulo the primes of Prio3: 64 and 128 bits, in limbs that leave room for sums."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.crypto.fields.prime_field import Bytes, PrimeField, Vector

TERMS = 128  # in a sum of products before it is reduced
_U = np.uint64


@dataclass(frozen=True)
class LimbField(PrimeField):
    """A prime field whose elements are a few int64 numbers each, for arithmetic on many elements at once.

    An element is the sum of limb k times 2**(width k). Limbs are `tight` where each is from -2**(width / 2) to 1.1
    times 2**width: `elements`, `decoded`, `product`, `dot`, `reduced` and `total` give such vectors. `product` and
    `dot` are exact where limbs are below 2**(width + 1) in one operand and tight in the other, which leaves room for
    one sum or difference; `reduced`, `encoded` and `is_zero` where they are below 2**40.

    Parameters
    ----------
    prime, size, order, generator
        Public. See `PrimeField`.
    count : int
        Public. The number of limbs.
    width : int
        Public. Their bits.
    shift, factor : int
        Public. 2**(width count) = factor 2**(width shift) - 4, modulo the prime: so that what overflows is folded back.

    Examples
    --------
    >>> FIELD64.integers(FIELD64.product(FIELD64.elements([-1]), FIELD64.elements([-5])))
    [5]
    """

    count: int
    width: int
    shift: int
    factor: int

    @property
    def limbs(self) -> int:
        """How many numbers an element is kept in."""
        return self.count

    @property
    def _mask(self) -> int:
        return (1 << self.width) - 1

    def elements(self, values: Sequence[int]) -> Vector:
        """The elements of integers of any size and sign, in a vector for a batch of one."""
        limbs = [[value % self.prime >> self.width * k & self._mask for value in values] for k in range(self.count)]
        return np.array(limbs, dtype=np.int64).reshape(self.count, len(values), 1)

    def integers(self, vector: Vector) -> list[int]:
        """The elements of a vector as integers from 0 to prime - 1, row by row."""
        sums = sum(vector[k].astype(object) << self.width * k for k in range(self.count))
        return [int(value) % self.prime for value in np.asarray(sums, dtype=object).reshape(-1)]

    def zeros(self, *shape: int) -> Vector:
        """A vector of zeros."""
        return np.zeros((self.count, *shape), dtype=np.int64)

    def product(self, a: Vector, b: Vector) -> Vector:
        """The product, element by element; vectors broadcast."""
        n = self.count
        columns = np.empty((2 * n - 1, *np.broadcast_shapes(a.shape[1:], b.shape[1:])), np.int64)
        np.multiply(a[0], b, out=columns[:n])
        columns[n:] = 0
        for i in range(1, n):
            columns[i : i + n] += a[i] * b
        return self._folded(columns, 1)

    def dot(self, a: Vector, b: Vector) -> Vector:
        """The sum of products along the axis of elements, which is left with a length of one."""
        terms = max(a.shape[1], b.shape[1])
        if terms > TERMS:
            halves = [self.dot(a[:, cut], b[:, cut]) for cut in (slice(terms // 2), slice(terms // 2, None))]
            return self.reduced(halves[0] + halves[1])
        shape = np.broadcast_shapes(a.shape[2:], b.shape[2:])
        columns = np.zeros((2 * self.count - 1, 1, *shape), np.int64)
        self.add_products(a, b, columns, "k...,k...->...")
        return self.folded(columns)

    def add_products(self, a: Vector, b: Vector, columns: Sequence[Vector] | Vector, how: str) -> None:
        """Add, to columns that `folded` makes elements of, sums of products of limbs; `how` is for numpy's einsum."""
        for i, j in itertools.product(range(self.count), repeat=2):
            columns[i + j][...] += np.einsum(how, a[i], b[j])

    def folded(self, columns: Vector) -> Vector:
        """The elements of columns of products of limbs, shape (2 count - 1, ...); these are overwritten."""
        return self._folded(columns, TERMS)

    def reduced(self, vector: Vector) -> Vector:
        """The same elements with tight limbs."""
        return self._tightened(np.array(vector), 2)

    def is_zero(self, vector: Vector) -> NDArray[np.bool_]:
        """For each column of the last axis, whether all its elements are zero."""
        flat = vector.reshape(self.count, math.prod(vector.shape[1:-1]), vector.shape[-1])
        return np.logical_not(np.logical_or.reduce(self._words(flat).astype(bool), axis=(1, 2)))

    def too_large(self, raw: Bytes) -> NDArray[np.bool_]:
        """Which of the elements written in each row of bytes are not below the prime."""
        words = np.ascontiguousarray(raw).view("<u8")
        if self.size == 8:
            return np.asarray(words >= _U(self.prime))
        low, high, top = words[:, 0::2], words[:, 1::2], _U(self.prime >> 64)
        return np.asarray((high > top) | ((high == top) & (low >= _U(self.prime & 2**64 - 1))))

    def decoded(self, raw: Bytes) -> Vector:
        """The elements written in each row of bytes: a column for each."""
        words = np.ascontiguousarray(np.ascontiguousarray(raw).view("<u8").T)
        per = self.size // 8
        parts = [words[k::per] for k in range(per)]
        out = np.empty((self.count, *parts[0].shape), np.uint64)
        for k in range(self.count):
            word, bit = divmod(self.width * k, 64)
            np.right_shift(parts[word], _U(bit), out=out[k])
            if bit + self.width > 64 and word + 1 < per:
                out[k] |= parts[word + 1] << _U(64 - bit)
        out &= _U(self._mask)
        return out.view(np.int64)

    def encoded(self, vector: Vector) -> Bytes:
        """The bytes of each column of elements: a row for each."""
        words = self._words(vector)
        return np.ascontiguousarray(words.reshape(len(words), math.prod(words.shape[1:]))).view(np.uint8)

    def _words(self, vector: Vector) -> NDArray[np.uint64]:
        """The elements below the prime, as 64-bit words: shape (columns, elements, words)."""
        limbs = list(np.array(vector))
        top = 8 * self.size - self.width * (self.count - 1)
        for _ in range(4):  # what lies above the last bit comes back to the lower limbs, and less of it each time
            self._carry(limbs, 0, self.count - 1)
            over = limbs[-1] >> top
            limbs[-1] -= over << top
            limbs[0] -= over
            limbs[self.shift] += (self.factor >> 2) * over
        self._carry(limbs, 0, self.count - 1)
        unsigned = [limb.T.view(np.uint64) for limb in limbs]
        words = [np.zeros(unsigned[0].shape, np.uint64) for _ in range(self.size // 8)]
        for k, limb in enumerate(unsigned):
            word, bit = divmod(self.width * k, 64)
            words[word] |= limb << _U(bit)
            if bit + self.width > 64 and word + 1 < len(words):
                words[word + 1] |= limb >> _U(64 - bit)
        return self._below(np.stack(words, axis=-1))

    def _below(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Subtract the prime once, from those that are not below it."""
        flat = words.reshape(len(words), math.prod(words.shape[1:])).view(np.uint8)
        large = self.too_large(flat)[..., None]
        prime = np.array([self.prime >> 64 * k & 2**64 - 1 for k in range(words.shape[-1])], dtype=np.uint64)
        less = words - prime
        if words.shape[-1] == 2:
            less[..., 1] -= words[..., 0] < prime[0]
        return np.where(large, less, words)

    def _carry(self, limbs: list[Vector], start: int, stop: int) -> None:
        for k in range(start, stop):
            limbs[k + 1] += limbs[k] >> self.width
            limbs[k] &= self._mask

    def _folded(self, columns: Vector, terms: int) -> Vector:
        """From 2 count - 1 columns, sums of so many products, which are overwritten, to tight limbs.

        Where a column may be too large to be multiplied by what 2**(width count) is, those from `count` on are carried
        first; then what lands above `count` again, when the highest are replaced by lower ones.
        """
        n, s = self.count, self.shift
        high = columns[n:]
        if self.factor * terms * n * 2 ** (2 * self.width + 1) >= 2**62:
            carried = self._carried(high)
            top = np.concatenate([high[n - s :], carried])
            columns[n : n + s] += self.factor * top
            columns[n - s : n] -= top << 2
            high = high[: n - s]
            high[s] += self._carried(high[:s])[0]
        columns[s:n] += self.factor * high
        columns[: n - s] -= high << 2
        return self._tightened(columns[:n], 3)

    def _tightened(self, limbs: Vector, times: int) -> Vector:
        """Carry limbs in place, all at once; what leaves the last comes back to lower ones, and is carried again."""
        for _ in range(times):
            (over,) = self._carried(limbs)
            limbs[self.shift] += self.factor * over
            limbs[0] -= over << 2
        return limbs

    def _carried(self, limbs: Vector) -> Vector:
        """Carry each limb into the next, in place; what leaves the last is returned."""
        carried = limbs >> self.width
        limbs &= self._mask
        limbs[1:] += carried[:-1]
        return carried[-1:]


FIELD64 = LimbField(2**64 - 2**32 + 1, 8, 2**32, 7, count=3, width=22, shift=1, factor=4 << 10)
"""The 64-bit prime of Prio3 (draft-irtf-cfrg-vdaf-20, section 6.1.4)."""
FIELD128 = LimbField(2**128 - 7 * 2**66 + 1, 16, 2**66, 7, count=5, width=26, shift=2, factor=28 << 14)
"""The 128-bit prime of Prio3 (draft-irtf-cfrg-vdaf-20, section 6.1.4)."""
