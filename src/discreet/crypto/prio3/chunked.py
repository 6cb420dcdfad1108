"""Circuits whose elements are all zero or one, checked a chunk at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.errors import ParameterError
from discreet.crypto.fields.limb_field import FIELD128, TERMS
from discreet.crypto.fields.prime_field import PrimeField, Vector
from discreet.crypto.prio3.circuit import Circuit

PROOFS = 3  # on the 64-bit field with joint randomness: the draft's section 9.7 asks for as many


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
        field, ours = self.field, basis[:, 1 : self.calls + 1]
        ones = field.product(self._share_of_one(shares), field.total(ours))
        both = self._called(basis, measurement, seeds, joint)
        both[:, 1] -= ones
        return both.swapaxes(1, 2).reshape(field.limbs, self.arity, measurement.shape[-1])

    def _called(self, basis: Vector, measurement: Vector, seeds: Vector, joint: Vector) -> Vector:
        """The first and the second wires at the point, without what is taken from the second ones."""
        field, chunks, reports = self.field, self._chunks(measurement), measurement.shape[-1]
        found = field.zeros(2, self.chunk, reports)
        for start in range(0, self.calls, TERMS):
            columns = np.zeros((2 * field.limbs - 1, *found.shape[1:]), basis.dtype)
            ours = basis[:, start + 1 : min(start + TERMS, self.calls) + 1]
            here, drawn = (one[:, start : start + TERMS] for one in (chunks, joint))
            power = field.product(ours, drawn)
            for j in range(self.chunk):
                field.add_products(power, here[:, :, j], columns[:, 0, j], "kb,kb->b")
                field.add_products(ours, here[:, :, j], columns[:, 1, j], "kb,kb->b")
                if j + 1 < self.chunk:
                    power = field.product(power, drawn)
            if not start:
                pairs = seeds.reshape(field.limbs, self.chunk, 2, reports).swapaxes(1, 2)
                field.add_products(basis[:, 0], pairs, columns, "b,kjb->kjb")
            found += field.folded(columns)
        return found if self.calls <= TERMS else field.reduced(found)

    def outputs(self, measurement: Vector, gadgets: Vector, shares: int) -> Vector:
        return self.field.total(gadgets)

    def _share_of_one(self, shares: int) -> Vector:
        return self.field.constant(pow(shares, -1, self.field.prime))

    def _chunks(self, measurement: Vector) -> Vector:
        """The elements of each call, shape (limbs, calls, chunk, reports); zeros at the end of the last."""
        field, reports = self.field, measurement.shape[-1]
        spare = field.zeros(self.calls * self.chunk - self.measured, reports)
        return np.concatenate([measurement, spare], axis=1).reshape(field.limbs, self.calls, self.chunk, reports)


def best_chunk(elements: int) -> int:
    """The length of chunks that makes proofs shortest; those that need as few points are near the square root.

    Examples
    --------
    >>> best_chunk(100), best_chunk(800)
    (7, 26)
    """
    near = range(1, max(2, 2 * math.isqrt(elements) + 2))
    return min(near, key=lambda chunk: (2 * chunk + 2 * (1 << (-(-elements // chunk)).bit_length()), chunk))
