"""Counts, sums, histograms and vectors: the circuits of Prio3's variants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.errors import ParameterError
from discreet.crypto.fields.limb_field import FIELD64, FIELD128
from discreet.crypto.fields.prime_field import PrimeField, Vector
from discreet.crypto.prio3.circuit import Circuit, Integers, checked_most, in_range, weights, zeros_and_ones

PROOFS = 3  # on the 64-bit field with joint randomness: the draft's section 9.7 asks for as many
OWN = 0xFFFFFFFF  # algorithms from 0xFFFF0000 on are for private use


@dataclass(frozen=True)
class CountCircuit(Circuit):
    """Zero or one.

    Examples
    --------
    >>> CountCircuit().proof, CountCircuit().verifier
    (5, 4)
    """

    identifier = 1
    measured = calls = 1
    arity = 2

    def encoded(self, measurements: Sequence[Any] | Integers) -> Integers:
        return in_range("count", measurements, 1, ())[:, None]

    def gadget(self, wires: Vector) -> Vector:
        return self.field.product(wires[:, :1], wires[:, 1:])

    def inputs(self, measurement: Vector, joint: Vector) -> Vector:
        return np.repeat(measurement[:, :, None], 2, axis=2)

    def wires(self, basis: Vector, measurement: Vector, seeds: Vector, joint: Vector, shares: int) -> Vector:
        product = self.field.product
        return product(basis[:, :1], seeds) + product(basis[:, 1:2], measurement)

    def outputs(self, measurement: Vector, gadgets: Vector, shares: int) -> Vector:
        return gadgets - measurement


@dataclass(frozen=True)
class SumCircuit(Circuit):
    """A whole number from 0 to `most`.

    Parameters
    ----------
    field, proofs
        Public. See `Circuit`.
    most : int
        Public. The draft's max_measurement.

    Examples
    --------
    >>> SumCircuit(most=255).measured
    8
    """

    most: int = 255

    identifier = 2
    arity = 1

    def __post_init__(self) -> None:
        checked_most("sum", self.most, self.field)

    @property
    def measured(self) -> int:
        return self.most.bit_length()

    @property
    def calls(self) -> int:
        return self.measured

    @property
    def checks(self) -> int:
        return self.measured

    def encoded(self, measurements: Sequence[Any] | Integers) -> Integers:
        return zeros_and_ones(in_range("sum", measurements, self.most, ()), self.most)

    def gadget(self, wires: Vector) -> Vector:
        return self.field.product(wires, wires) - wires

    def inputs(self, measurement: Vector, joint: Vector) -> Vector:
        return measurement[:, :, None]

    def wires(self, basis: Vector, measurement: Vector, seeds: Vector, joint: Vector, shares: int) -> Vector:
        field = self.field
        return field.product(basis[:, :1], seeds) + field.dot(basis[:, 1 : self.calls + 1], measurement)

    def outputs(self, measurement: Vector, gadgets: Vector, shares: int) -> Vector:
        return gadgets

    def results(self, total: Vector) -> Vector:
        return self.field.dot(self.field.elements(weights(self.most)), total)


@dataclass(frozen=True)
class Chunked(Circuit):
    """Elements that are all zero or one, `chunk` of them in each call of the gadget.

    The sum over elements x of r**(j + 1) x (x - 1), for the call's joint randomness r and the place j in the call, is
    zero for zeros and ones; for anything else, with a chance of at most chunk / prime. Boneh, Boyle, Corrigan-Gibbs,
    Gilboa and Ishai 2019, Theorem 5.2.

    Parameters
    ----------
    field, proofs
        Public. See `Circuit`.
    length : int
        Public. How many numbers are measured.
    chunk : int, optional
        Public. The draft's chunk_length; about the square root of the number of elements where not given.
    """

    field: PrimeField = FIELD128
    length: int = 1
    chunk: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.length < 2**24:
            raise ParameterError("circuit", f"{self.length} numbers are measured", "Measure 1 to 2**24 - 1.")
        if not self.chunk:
            object.__setattr__(self, "chunk", best_chunk(self.measured))
        if not 1 <= self.chunk <= 2**24:
            raise ParameterError("circuit", f"{self.chunk} elements are in a chunk", "Take their square root.")
        if self.field.size == 8 and self.proofs < PROOFS:
            raise ParameterError("circuit", f"{self.proofs} proofs on 64 bits can be forged", f"Take {PROOFS}.")

    @property
    def measured(self) -> int:
        return self.length

    @cached_property
    def calls(self) -> int:
        return -(-self.measured // self.chunk)

    @property
    def joint(self) -> int:  # type: ignore[override]
        return self.calls

    @property
    def arity(self) -> int:
        return 2 * self.chunk

    @property
    def size(self) -> int:
        return self.length

    def gadget(self, wires: Vector) -> Vector:
        return self.field.dot(wires[:, 0::2], wires[:, 1::2])

    def inputs(self, measurement: Vector, joint: Vector) -> Vector:
        field, chunks = self.field, self._chunks(measurement)
        powers = [joint]
        for _ in range(self.chunk - 1):
            powers.append(field.product(powers[-1], joint))
        first = field.product(np.stack(powers, axis=2), chunks)
        second = chunks - field.constant(1)[:, :, None]
        return np.stack([first, second], axis=3).reshape(field.limbs, self.calls, self.arity, measurement.shape[-1])

    def wires(self, basis: Vector, measurement: Vector, seeds: Vector, joint: Vector, shares: int) -> Vector:
        """The bulk of the work: two products for each element, and one for the power of the joint randomness."""
        field, chunks, reports = self.field, self._chunks(measurement), measurement.shape[-1]
        ours = basis[:, 1 : self.calls + 1]
        columns = np.zeros((2, 2 * field.limbs - 1, self.chunk, reports), basis.dtype)
        power = field.product(ours, joint)
        for j in range(self.chunk):
            field.add_products(power, chunks[:, :, j], columns[0, :, j], "kb,kb->b")
            field.add_products(ours, chunks[:, :, j], columns[1, :, j], "kb,kb->b")
            if j + 1 < self.chunk:
                power = field.product(power, joint)
        for k in (0, 1):
            field.add_products(basis[:, 0], seeds[:, k::2], columns[k], "b,jb->jb")
        ones = field.product(self._share_of_one(shares), field.total(ours))
        both = [field.folded(columns[0]), field.folded(columns[1]) - ones]
        return np.stack(both, axis=2).reshape(field.limbs, self.arity, reports)

    def outputs(self, measurement: Vector, gadgets: Vector, shares: int) -> Vector:
        return self.field.total(gadgets)

    def _share_of_one(self, shares: int) -> Vector:
        return self.field.constant(pow(shares, -1, self.field.prime))

    def _chunks(self, measurement: Vector) -> Vector:
        """The elements of each call, shape (limbs, calls, chunk, reports); zeros at the end of the last."""
        field, reports = self.field, measurement.shape[-1]
        spare = field.zeros(self.calls * self.chunk - self.measured, reports)
        return np.concatenate([measurement, spare], axis=1).reshape(field.limbs, self.calls, self.chunk, reports)


@dataclass(frozen=True)
class SumVecCircuit(Chunked):
    """Whole numbers from 0 to `most`, `length` of them.

    Parameters
    ----------
    field, proofs, length, chunk
        Public. See `Chunked`. On the 64-bit field, with three proofs, this is SumVecWithMultiproof.
    most : int
        Public. The draft's max_measurement.

    Examples
    --------
    >>> SumVecCircuit(length=100, most=255, chunk=28).measured
    800
    """

    most: int = 1

    def __post_init__(self) -> None:
        checked_most("sum of vectors", self.most, self.field)
        super().__post_init__()

    @property
    def identifier(self) -> int:  # type: ignore[override]
        return 3 if self.field.size == 16 else OWN

    @property
    def measured(self) -> int:
        return self.length * self.most.bit_length()

    def encoded(self, measurements: Sequence[Any] | Integers) -> Integers:
        values = in_range("sum of vectors", measurements, self.most, (self.length,))
        return zeros_and_ones(values, self.most).reshape(len(values), self.measured)

    def results(self, total: Vector) -> Vector:
        field, bits = self.field, self.most.bit_length()
        places = total.reshape(field.limbs, self.length, bits, -1).swapaxes(1, 2)
        return field.dot(field.elements(weights(self.most))[..., None], places)[:, 0]


@dataclass(frozen=True)
class HistogramCircuit(Chunked):
    """One of `length` buckets, by its number.

    On the 64-bit field, with three proofs, this is an algorithm of our own, as SumVecWithMultiproof is to SumVec.

    Parameters
    ----------
    field, proofs, length, chunk
        Public. See `Chunked`.

    Examples
    --------
    >>> HistogramCircuit(length=3).encoded([2, 0]).tolist()
    [[0, 0, 1], [1, 0, 0]]
    """

    checks = 2

    @property
    def identifier(self) -> int:  # type: ignore[override]
        return 4 if self.field.size == 16 else OWN - 1

    def encoded(self, measurements: Sequence[Any] | Integers) -> Integers:
        values = in_range("histogram", measurements, self.length - 1, ())
        return (values[:, None] == np.arange(self.length)).astype(np.int64)

    def outputs(self, measurement: Vector, gadgets: Vector, shares: int) -> Vector:
        total = self.field.total
        return np.concatenate([total(gadgets), total(measurement) - self._share_of_one(shares)], axis=1)


@dataclass(frozen=True)
class MultihotCountVecCircuit(Chunked):
    """Zeros and ones, at most `weight` ones.

    Parameters
    ----------
    field, proofs, length, chunk
        Public. See `Chunked`.
    weight : int
        Public. The draft's max_weight.

    Examples
    --------
    >>> MultihotCountVecCircuit(length=3, weight=2).encoded([[1, 0, 1]]).tolist()
    [[1, 0, 1, 1, 1]]
    """

    weight: int = 1

    checks = 2

    def __post_init__(self) -> None:
        if not 1 <= self.weight <= self.length:
            raise ParameterError("circuit", f"at most {self.weight} of {self.length} are one", "Allow one, or more.")
        super().__post_init__()

    @property
    def identifier(self) -> int:  # type: ignore[override]
        return 5 if self.field.size == 16 else OWN - 2

    @property
    def measured(self) -> int:
        return self.length + self.weight.bit_length()

    def encoded(self, measurements: Sequence[Any] | Integers) -> Integers:
        values = in_range("counts", measurements, 1, (self.length,))
        if (values.sum(axis=1) > self.weight).any():
            raise ParameterError("counts", "a measurement has too many ones", f"Give at most {self.weight}.")
        return np.concatenate([values, zeros_and_ones(values.sum(axis=1), self.weight)], axis=1)

    def outputs(self, measurement: Vector, gadgets: Vector, shares: int) -> Vector:
        field = self.field
        told = field.dot(field.elements(weights(self.weight)), measurement[:, self.length :])
        return np.concatenate([field.total(gadgets), field.total(measurement[:, : self.length]) - told], axis=1)

    def results(self, total: Vector) -> Vector:
        return total[:, : self.length]


def best_chunk(elements: int) -> int:
    """The length of chunks that makes proofs shortest; those that need as few points are near the square root.

    Examples
    --------
    >>> best_chunk(100), best_chunk(800)
    (7, 26)
    """
    near = range(1, max(2, 2 * math.isqrt(elements) + 2))
    return min(near, key=lambda chunk: (2 * chunk + 2 * (1 << (-(-elements // chunk)).bit_length()), chunk))


def multiproof(length: int, most: int, chunk: int = 0) -> SumVecCircuit:
    """SumVecWithMultiproof: vectors on the 64-bit field, with three proofs."""
    return SumVecCircuit(FIELD64, PROOFS, length, chunk, most)
