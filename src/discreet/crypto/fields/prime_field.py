"""Prime fields as values: arithmetic on arrays of Python's integers, roots of unity, and transforms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError

Vector = NDArray[Any]
"""Field elements: the first axis has the limbs of each, the second counts elements, the others are as in numpy."""
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class PrimeField:
    """A prime field, as its numbers; arithmetic here is Python's, with one limb, which is the element.

    That is the fastest way for a few elements. `LimbField` has the same methods for many. Sums and differences are
    numpy's `+` and `-`; `reduced` brings them back before they are multiplied.

    Parameters
    ----------
    prime : int
        Public. The modulus.
    size : int
        Public. How many bytes an element is written in, the low ones first.
    order : int
        Public. The number of roots of unity that are used: a power of two that divides prime - 1.
    generator : int
        Public. Whose power is the first of them.

    Examples
    --------
    >>> seven = PrimeField(7, 1, 2, 3)
    >>> seven.integers(seven.product(seven.elements([3, 6]), seven.elements([5, 6])))
    [1, 1]
    """

    prime: int
    size: int
    order: int
    generator: int

    @property
    def limbs(self) -> int:
        """How many numbers an element is kept in."""
        return 1

    @property
    def plain(self) -> PrimeField:
        """The same field with Python's integers."""
        return PrimeField(self.prime, self.size, self.order, self.generator)

    def elements(self, values: Sequence[int]) -> Vector:
        """The elements of integers of any size and sign, in a vector for a batch of one."""
        return np.array([[[value % self.prime] for value in values]], dtype=object).reshape(1, len(values), 1)

    def integers(self, vector: Vector) -> list[int]:
        """The elements of a vector as integers from 0 to prime - 1, row by row."""
        return [int(value) % self.prime for value in vector[0].reshape(-1)]

    def zeros(self, *shape: int) -> Vector:
        """A vector of zeros."""
        return np.zeros((1, *shape), dtype=object)

    def product(self, a: Vector, b: Vector) -> Vector:
        """The product, element by element; vectors broadcast."""
        return a * b % self.prime

    def dot(self, a: Vector, b: Vector) -> Vector:
        """The sum of products along the axis of elements, which is left with a length of one."""
        return np.asarray((a * b).sum(axis=1, keepdims=True)) % self.prime

    def add_products(self, a: Vector, b: Vector, columns: Sequence[Vector] | Vector, how: str) -> None:
        """Add, to columns that `folded` makes elements of, sums of products of limbs; `how` is for numpy's einsum."""
        columns[0][...] += np.einsum(how, a[0], b[0])

    def folded(self, columns: Vector) -> Vector:
        """The elements of columns of products of limbs, shape (2 limbs - 1, ...); these may be overwritten."""
        return columns % self.prime

    def reduced(self, vector: Vector) -> Vector:
        """The same elements, fit to be multiplied, after some sums and differences."""
        return vector % self.prime

    def total(self, vector: Vector) -> Vector:
        """The sum along the axis of elements, which is left with a length of one."""
        return self.reduced(np.add.reduce(vector, 1, keepdims=True))

    def is_zero(self, vector: Vector) -> NDArray[np.bool_]:
        """For each column of the last axis, whether all its elements are zero."""
        found = (vector % self.prime).astype(bool).reshape(-1, vector.shape[-1])
        return np.logical_not(np.logical_or.reduce(found, axis=0))

    def too_large(self, raw: Bytes) -> NDArray[np.bool_]:
        """Which of the elements written in each row of bytes are not below the prime."""
        return np.array([[value >= self.prime for value in self._read(row)] for row in raw], dtype=bool)

    def decoded(self, raw: Bytes) -> Vector:
        """The elements written in each row of bytes: a column for each."""
        return np.array([self._read(row) for row in raw], dtype=object).T[None]

    def encoded(self, vector: Vector) -> Bytes:
        """The bytes of each column of elements: a row for each."""
        columns = (vector[0] % self.prime).T.tolist()
        rows = [b"".join(value.to_bytes(self.size, "little") for value in column) for column in columns]
        return np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)

    def _read(self, row: Bytes) -> list[int]:
        data = row.tobytes()
        return [int.from_bytes(data[at : at + self.size], "little") for at in range(0, len(data), self.size)]

    def root(self, n: int, exponent: int = 1) -> int:
        """A power of the principal n-th root of unity."""
        if n < 1 or self.order % n:
            raise ParameterError("roots of unity", f"the field has no {n}-th ones", "Take a power of two.")
        first = pow(self.generator, (self.prime - 1) // self.order, self.prime)
        return pow(first, self.order // n * exponent % self.order, self.prime)

    def roots(self, n: int, start: int, stop: int, step: int = 1) -> Vector:
        """Powers of the principal n-th root of unity, whose exponents are those of a range."""
        return _roots(self, n, start, stop, step)

    def constant(self, value: int) -> Vector:
        """One element that is public, and is kept."""
        return _constant(self, value)

    def transformed(self, coefficients: Vector) -> Vector:
        """The values of polynomials at all n-th roots of unity: a number-theoretic transform, in log n steps.

        Cooley and Tukey 1965, all sub-sequences of a length at once: those that begin at j and at j + m / 2 are the
        even and the odd terms of one that is twice as long.
        """
        n = coefficients.shape[1]
        found = coefficients[:, None]
        while (m := found.shape[2]) > 1:
            even, odd = found[:, :, : m // 2], found[:, :, m // 2 :]
            shape = (self.limbs, n // m, *(1,) * (found.ndim - 2))
            odd = self.product(odd, self.roots(2 * n // m, 0, n // m).reshape(shape))
            found = self.reduced(np.concatenate([even + odd, even - odd], axis=1))
        return found[:, :, 0]

    def interpolated(self, values: Vector) -> Vector:
        """The coefficients of polynomials with such values at all n-th roots of unity."""
        n = values.shape[1]
        mirrored = np.roll(self.transformed(values)[:, ::-1], 1, axis=1)
        return self.product(
            mirrored, self.constant(pow(n, -1, self.prime)).reshape(self.limbs, *(1,) * (values.ndim - 1))
        )

    def between(self, values: Vector) -> Vector:
        """From the values of polynomials at the n-th roots of unity, those half-way to the next: at odd 2n-th roots."""
        n = values.shape[1]
        turned = self.roots(2 * n, 0, n).reshape(self.limbs, n, *(1,) * (values.ndim - 2))
        return self.transformed(self.product(self.interpolated(values), turned))

    def lagrange(self, point: Vector, n: int) -> tuple[Vector, Vector]:
        """The Lagrange basis of the n-th roots of unity at a point t, and t**n; nothing is inverted.

        L_i(t) is the product over j of 1 + (t w**-i)**(2**j), divided by n, since the sum of the powers of a number up
        to n - 1 is such a product. Where one factor depends on i through fewer bits, it is computed for these alone.
        """
        squares = [point]
        while 1 << len(squares) <= n:
            squares.append(self.product(squares[-1], squares[-1]))
        basis = self.constant(pow(n, -1, self.prime))
        for j, square in enumerate(squares[-2::-1]):
            turned = self.product(square, self.roots(2 << j, 0, -(1 << j), -1)) if j else square
            factors = np.concatenate([turned, -turned], axis=1)
            factors[0] += 1
            basis = self.product(factors, np.concatenate([basis, basis], axis=1))
        return basis, squares[-1]


@cache
def _roots(field: PrimeField, n: int, start: int, stop: int, step: int) -> Vector:
    return field.elements([field.root(n, exponent) for exponent in range(start, stop, step)])


@cache
def _constant(field: PrimeField, value: int) -> Vector:
    return field.elements([value])


FIELD61 = PrimeField(2**61 - 1, 8, 2, 37)
"""The field of secret shares and of `fields.field`, which is quicker for many elements."""
