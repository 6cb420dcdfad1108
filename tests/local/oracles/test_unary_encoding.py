"""Unary encodings: the chances of all bits."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.oracles.unary_encoding import OptimizedUnary, SymmetricUnary, bit_counts, bits_at, set_bits
from discreet.noise.deterministic import DeterministicBits
from tests.local.trial import ReportTrial

TRIAL = ReportTrial(
    [SymmetricUnary(), SymmetricUnary(0.7, 3), OptimizedUnary(), OptimizedUnary(2.0, 13)],
    fingerprints={"sue": "e6df8a45d2d4a46f", "oue": "5d6d64d0404fee4f"},
)


def test_bits_are_set_read_and_counted() -> None:
    bits = np.random.default_rng(1).random((3000, 21)) < 0.3
    packed = np.packbits(bits, axis=1, bitorder="little")
    assert np.array_equal(bit_counts(packed, 21), bits.sum(axis=0))
    assert bit_counts(packed[:0], 21).tolist() == [0] * 21
    assert np.array_equal(bit_counts(np.full((600, 2), 255, np.uint8), 16), np.full(16, 600))
    assert np.array_equal(bits_at(packed, 17), bits[:, 17])
    places, ones = np.arange(3000) % 21, np.arange(3000) % 2 == 0
    set_bits(packed, places, ones)
    bits[np.arange(3000), places] = ones
    assert np.array_equal(np.unpackbits(packed, axis=1, count=21, bitorder="little"), bits)


def test_every_bit_has_its_chance_and_they_are_independent() -> None:
    for oracle in (SymmetricUnary(1.5, 11), OptimizedUnary(1.5, 11)):
        reports = oracle.reports([4] * 50_000, DeterministicBits(1))
        bits = np.unpackbits(reports, axis=1, count=11, bitorder="little")
        chances = np.where(np.arange(11) == 4, oracle.own, oracle.other)
        assert np.abs(bits.mean(axis=0) - chances).max() < 5 * 0.5 / np.sqrt(50_000)
        assert np.abs(np.corrcoef(bits.T) - np.eye(11)).max() < 5 / np.sqrt(50_000)


def test_a_bit_beyond_the_domain_is_refused() -> None:
    with pytest.raises(ParameterError, match="beyond the domain"):
        OptimizedUnary(1.0, 11).accepted(np.array([[0, 8]], np.uint8))
