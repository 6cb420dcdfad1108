"""What a proof is about: a circuit that is zero for measurements in range, with one gadget of degree two."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError
from discreet.crypto.fields.limb_field import FIELD64
from discreet.crypto.fields.prime_field import PrimeField, Vector

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Circuit(abc.ABC):
    """A validity circuit of draft-irtf-cfrg-vdaf-20, section 7.3.2.

    Measurements, shares and proofs are vectors whose last axis counts reports. The draft's names for the numbers are
    given with each.

    Parameters
    ----------
    field : PrimeField
        Public. The field of measurements and proofs.
    proofs : int
        Public. How many independent proofs a report has.
    """

    field: PrimeField = FIELD64
    proofs: int = 1

    identifier = 0
    """Of the algorithm: what separates its seeds from those of others."""
    joint = 0
    """JOINT_RAND_LEN."""
    lanes = 1
    """How many outputs the gadget has; one in the draft. Each has a polynomial of its own in the proof."""

    @property
    @abc.abstractmethod
    def measured(self) -> int:
        """MEAS_LEN: how many elements a measurement is encoded in."""

    @property
    @abc.abstractmethod
    def calls(self) -> int:
        """GADGET_CALLS."""

    @property
    @abc.abstractmethod
    def arity(self) -> int:
        """ARITY of the gadget: its number of wires."""

    @property
    def checks(self) -> int:
        """EVAL_OUTPUT_LEN: how many outputs the circuit has, all zero for a valid measurement."""
        return 1

    @property
    def size(self) -> int:
        """OUTPUT_LEN: how many numbers are added up over reports."""
        return 1

    @cached_property
    def points(self) -> int:
        """How many values determine a wire polynomial: one for each call and a seed, up to a power of two."""
        return 1 << self.calls.bit_length()

    @property
    def told(self) -> int:
        """How many values of each gadget polynomial are in the proof: as in the draft, all but one, which follows."""
        return 2 * self.points - 1

    @property
    def proof(self) -> int:
        """PROOF_LEN."""
        return self.arity + self.told * self.lanes

    @property
    def queried(self) -> int:
        """QUERY_RAND_LEN."""
        return 1 + (self.checks if self.checks > 1 else 0)

    @property
    def verifier(self) -> int:
        """VERIFIER_LEN."""
        return 1 + self.arity + self.lanes

    @abc.abstractmethod
    def encoded(self, measurements: Sequence[Any] | Integers) -> Integers:
        """The elements of each measurement, one row each; an error where one is out of range."""

    @abc.abstractmethod
    def gadget(self, wires: Vector) -> Vector:
        """What the gadget gives for wires along the axis of elements: as many elements as it has outputs."""

    @abc.abstractmethod
    def inputs(self, measurement: Vector, joint: Vector) -> Vector:
        """The wires of every call, shape (limbs, calls, arity, reports), for measurements that are not shared."""

    @abc.abstractmethod
    def wires(self, basis: Vector, measurement: Vector, seeds: Vector, joint: Vector, shares: int) -> Vector:
        """Shares of the wire polynomials at a point: `basis` is the Lagrange basis of the roots of unity there."""

    @abc.abstractmethod
    def outputs(self, measurement: Vector, gadgets: Vector, shares: int) -> Vector:
        """Shares of the outputs of the circuit, from what the gadget gives for every call, one call after another.

        They are reduced where there are several, to be multiplied.
        """

    def results(self, total: Vector) -> Vector:
        """From (sums of) encoded measurements to (sums of) what was measured."""
        return total


def in_range(what: str, values: Any, most: int, shape: tuple[int, ...]) -> Integers:
    """Measurements as whole numbers from 0 to `most`, or an error that quotes none of them."""
    array = np.asarray(values)
    if array.dtype == bool:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu" or array.shape[1:] != shape or (array.size and not _within(array, most)):
        form = "a whole number" if not shape else f"{shape[0]} whole numbers"
        raise ParameterError(what, "a measurement is not in range", f"Give {form} from 0 to {most}.")
    return array.astype(np.int64)


def _within(array: NDArray[Any], most: int) -> bool:
    return bool(array.min() >= 0 and array.max() <= most)


def weights(most: int) -> list[int]:
    """What the zeros and ones stand for that make a number from 0 to `most`, and no other: powers of two and a rest."""
    bits = most.bit_length()
    return [*(1 << k for k in range(bits - 1)), most - (1 << bits - 1) + 1]


def zeros_and_ones(values: Integers, most: int) -> Integers:
    """The draft's encoding of numbers from 0 to `most`: one more axis, as long as `weights`."""
    *powers, last = weights(most)
    high = values > sum(powers)
    rest = values - np.where(high, last, 0)
    return np.stack([*(rest >> k & 1 for k in range(len(powers))), high], axis=-1).astype(np.int64)


def checked_most(what: str, most: Any, field: PrimeField) -> None:
    """Refuse a largest measurement that makes no range, or whose sums could reach the prime."""
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most < min(field.prime, 2**62):
        raise ParameterError(what, f"the largest measurement is {most!r}", "Give a whole number from 1 to 2**62 - 1.")
