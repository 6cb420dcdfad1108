"""Counts, sums, histograms and vectors: the circuits of Prio3's variants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.errors import ParameterError
from discreet.crypto.fields.limb_field import FIELD64
from discreet.crypto.fields.prime_field import Vector
from discreet.crypto.prio3.chunked import PROOFS, Chunked
from discreet.crypto.prio3.circuit import Circuit, Integers, checked_most, in_range, weights, zeros_and_ones

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
        both = np.stack([seeds, np.repeat(measurement, 2, axis=1)], axis=1)
        return self.field.dot(basis[:, :, None], both)[:, 0]

    def outputs(self, measurement: Vector, gadgets: Vector, shares: int) -> Vector:
        return gadgets - measurement

    def proof_alone(self, value: int, first: int, second: int) -> list[int]:
        """The proof for one measurement in Python's integers: the wires are lines from their seeds at 1 to it at -1."""
        prime = self.field.prime
        half, root = pow(2, -1, prime), self.field.root(4)
        lines = [((seed + value) + root * (seed - value)) * half % prime for seed in (first, second)]
        return [first, second, first * second % prime, lines[0] * lines[1] % prime, value * value]


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
        return self.field.dot(basis[:, : self.calls + 1], np.concatenate([seeds, measurement], axis=1))

    def outputs(self, measurement: Vector, gadgets: Vector, shares: int) -> Vector:
        return gadgets

    def results(self, total: Vector) -> Vector:
        return self.field.dot(self.field.elements(weights(self.most)), total)


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
        field = self.field
        ones = field.total(measurement) - self._share_of_one(shares)
        return np.concatenate([field.total(gadgets), field.reduced(ones)], axis=1)


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
        ones = field.total(measurement[:, : self.length]) - told
        return np.concatenate([field.total(gadgets), field.reduced(ones)], axis=1)

    def results(self, total: Vector) -> Vector:
        return total[:, : self.length]


def multiproof(length: int, most: int, chunk: int = 0) -> SumVecCircuit:
    """SumVecWithMultiproof: vectors on the 64-bit field, with three proofs."""
    return SumVecCircuit(FIELD64, PROOFS, length, chunk, most)
