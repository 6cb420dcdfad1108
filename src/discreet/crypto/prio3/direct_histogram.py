"""Histograms on the 64-bit field with one proof, as nothing in it can be tried out without the aggregators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.errors import ParameterError
from discreet.crypto.fields.prime_field import Vector
from discreet.crypto.prio3.circuit import Circuit, Integers, in_range

OWN = 0xFFFFFFFB  # algorithms from 0xFFFF0000 on are for private use


@dataclass(frozen=True)
class DirectHistogramCircuit(Circuit):
    """One of `length` buckets, by its number; every element is checked by itself, without joint randomness.

    The gadget squares several elements at once, x to x (x - 1), and each has its own polynomial in the proof. So the
    outputs of the circuit are all of these and the sum of the elements less one: all are zero for one of the buckets,
    and for nothing else. `direct_histogram.md` has the proof, and what it costs.

    Parameters
    ----------
    field, proofs
        Public. See `Circuit`.
    length : int
        Public. How many buckets there are.
    lanes : int, optional
        Public. How many elements are checked in each call; about their square root where not given.

    Examples
    --------
    >>> DirectHistogramCircuit(length=3).encoded([2, 0]).tolist()
    [[0, 0, 1], [1, 0, 0]]
    """

    length: int = 1
    lanes: int = 0

    identifier = OWN

    def __post_init__(self) -> None:
        if not 1 <= self.length < 2**24:
            raise ParameterError("circuit", f"there are {self.length} buckets", "Have 1 to 2**24 - 1.")
        if not self.lanes:
            object.__setattr__(self, "lanes", best_lanes(self.length))
        if not 1 <= self.lanes <= 2**24:
            raise ParameterError("circuit", f"{self.lanes} elements are checked in a call", "Take their square root.")

    @property
    def measured(self) -> int:
        return self.length

    @property
    def calls(self) -> int:
        return -(-self.length // self.lanes)

    @property
    def arity(self) -> int:
        return self.lanes

    @property
    def told(self) -> int:
        """All values: to compute one for each element would be a third of the work."""
        return 2 * self.points

    @property
    def checks(self) -> int:
        return self.length + 1

    @property
    def size(self) -> int:
        return self.length

    def encoded(self, measurements: Sequence[Any] | Integers) -> Integers:
        values = in_range("histogram", measurements, self.length - 1, ())
        return (values[:, None] == np.arange(self.length)).astype(np.int64)

    def gadget(self, wires: Vector) -> Vector:
        return self.field.product(wires, wires) - wires

    def inputs(self, measurement: Vector, joint: Vector) -> Vector:
        field, reports = self.field, measurement.shape[-1]
        spare = field.zeros(self.calls * self.lanes - self.length, reports)
        return np.concatenate([measurement, spare], axis=1).reshape(field.limbs, self.calls, self.lanes, reports)

    def wires(self, basis: Vector, measurement: Vector, seeds: Vector, joint: Vector, shares: int) -> Vector:
        wires = np.concatenate([seeds[:, None], self.inputs(measurement, joint)], axis=1)
        return self.field.dot(basis[:, : self.calls + 1, None], wires)[:, 0]

    def outputs(self, measurement: Vector, gadgets: Vector, shares: int) -> Vector:
        field = self.field
        ones = field.total(measurement) - field.constant(pow(shares, -1, field.prime))
        return np.concatenate([gadgets[:, : self.length], field.reduced(ones)], axis=1)


def best_lanes(length: int) -> int:
    """How many elements are checked in each call: so many that all calls and a seed are a power of two.

    More points make proofs a little shorter and their basis longer to compute; what is near the root is fastest.

    Examples
    --------
    >>> best_lanes(4), best_lanes(100), best_lanes(10_000)
    (2, 7, 79)
    """
    points = 4
    while points * points < length:
        points *= 2
    return -(-length // (points - 1))
