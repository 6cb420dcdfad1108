"""Bits in bytes."""

from __future__ import annotations

import numpy as np

from discreet.local.oracles.packed_bits import bit_counts, bits_at, set_bits


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
