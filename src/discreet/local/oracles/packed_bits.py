"""Reports of d bits, eight in a byte: who set which, and how many did."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Steps
from discreet.local.oracle import PureOracle
from discreet.local.randomizer import Reports, refused
from discreet.noise.bernoulli import Packed

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
        """How many reports have each bit."""
        return bit_counts(reports, self.size)
