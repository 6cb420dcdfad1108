"""Unary encodings: a bit for each value, every bit with noise of its own."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.grid import Steps
from discreet.local.miss_chance import miss_chance
from discreet.local.oracle import PureOracle
from discreet.local.randomizer import Reports, refused
from discreet.noise.bernoulli import Packed, bernoulli, packed_coins

ROWS = 255  # whose bits add up in a byte without a carry
STRIPS = 3  # of so many rows that are unpacked at a time


def bits_at(packed: Packed, places: Any) -> NDArray[np.bool_]:
    """The bit at one place in each row."""
    places = np.broadcast_to(places, len(packed))
    return (packed[np.arange(len(packed)), places >> 3] >> (places & 7).astype(np.uint8) & 1).astype(np.bool_)


def set_bits(packed: Packed, places: Steps, ones: NDArray[np.bool_]) -> None:
    """Set the bit at one place in each row."""
    rows, mask = np.arange(len(packed)), np.uint8(1) << (places & 7).astype(np.uint8)
    cells = packed[rows, places >> 3]
    packed[rows, places >> 3] = np.where(ones, cells | mask, cells & ~mask)


def bit_counts(packed: Packed, size: int) -> Steps:
    """How many rows have each bit, for the first `size` bits.

    Examples
    --------
    >>> bit_counts(np.array([[5], [4]], np.uint8), 4)
    array([1, 0, 2, 0])
    """
    total = np.zeros(8 * packed.shape[1], np.int64)
    for start in range(0, len(packed), ROWS * STRIPS):
        bits = np.unpackbits(packed[start : start + ROWS * STRIPS], axis=1, bitorder="little")
        for strip in range(0, len(bits), ROWS):  # eight counters of a byte each in a word
            total += bits[strip : strip + ROWS].view(np.uint64).sum(axis=0).view(np.uint8)
    return total[:size]


@dataclass(frozen=True)
class BitOracle(PureOracle):
    """An oracle that reports one bit for each value of the domain; a bit that is set supports the value."""

    @cached_property
    def form(self) -> np.dtype[Any]:
        """The bits, eight in a byte; the first value is the lowest bit of the first byte."""
        return np.dtype((np.uint8, (-(-self.size // 8),)))

    @abstractmethod
    def misfit(self, reports: Packed) -> str:
        """What is wrong with reports of the right type; nothing, where this is empty."""

    def supports(self, reports: Reports, place: int) -> NDArray[np.bool_]:
        """Whether the bit of this value is set."""
        return bits_at(reports, place)

    def accepted(self, reports: Reports) -> Reports:
        """Rows of bytes, with zeros after the last bit."""
        if reports.dtype != np.uint8 or reports.shape[1:] != self.form.shape:
            raise refused(self, f"they have the type {reports.dtype} and the shape {reports.shape}")
        unused = -self.size % 8
        wrong = "a bit beyond the domain is set" if unused and (reports[:, -1] >> (8 - unused)).any() else ""
        if wrong := wrong or self.misfit(reports):
            raise refused(self, wrong)
        return reports

    def tallied(self, reports: Reports) -> Steps:
        return bit_counts(reports, self.size)


@dataclass(frozen=True)
class UnaryEncoding(BitOracle):
    """Reports a bit for each value: the own one is set with a high probability, the others with a low one."""

    @property
    @abstractmethod
    def dropped(self) -> float:
        """The probability that the own bit is not set."""

    @property
    def own(self) -> float:
        """The probability that the own bit is set."""
        return 1 - self.dropped

    def reports(self, values: Any, bits: Bits) -> Reports:
        places = self.places(values)
        packed = packed_coins(bits, len(places), self.size, self.other)
        set_bits(packed, places, ~bernoulli(bits, len(places), self.dropped))
        return packed

    def misfit(self, reports: Packed) -> str:
        return ""


@dataclass(frozen=True)
class SymmetricUnary(UnaryEncoding):
    """Report a bit for each value, every bit flipped with the same probability: the basic one-time RAPPOR.

    A report is d / 8 bytes.

    Guarantee
    ---------
    Pure, epsilon, where one value is replaced by any other: two bits change, and each is at most exp(epsilon / 2) times
    as likely kept as flipped. The probability of a flip is rounded up and tossed exactly (`miss_chance`).
    Erlingsson, Pihur and Korolova 2014, Theorem 1, with one hash; Wang, Blocki, Li and Jha 2017, symmetric encoding.

    Examples
    --------
    >>> SymmetricUnary(epsilon=1.0, domain=128).noise.__round__(2)
    3.92
    """

    kind: ClassVar[str] = "sue"

    @cached_property
    def other(self) -> float:
        return miss_chance(self.epsilon / 2)

    @property
    def dropped(self) -> float:
        return self.other


@dataclass(frozen=True)
class OptimizedUnary(UnaryEncoding):
    """Report a bit for each value: the own bit is a fair coin, the others are set rarely.

    A report is d / 8 bytes. The variance is the least of all unary encodings.

    Guarantee
    ---------
    Pure, epsilon, where one value is replaced by any other: two bits change, from a fair coin to one that is set with
    probability q and back, so that the likelihood ratio is at most (1 - q) / q <= exp(epsilon). q is rounded up and
    tossed exactly (`miss_chance`). Wang, Blocki, Li and Jha 2017, optimised unary encoding.

    Examples
    --------
    >>> OptimizedUnary(epsilon=1.0, domain=128).noise.__round__(2)
    3.68
    """

    kind: ClassVar[str] = "oue"

    @cached_property
    def other(self) -> float:
        """The probability that the bit of another value is set."""
        return miss_chance(self.epsilon)

    @property
    def dropped(self) -> float:
        return 0.5
