"""Bloom filters as google/rappor makes them."""

from __future__ import annotations

import hashlib
import struct

import numpy as np

from discreet.local.rappor.bloom import all_positions, bloom_design, bloom_positions, bloom_rows
from discreet.local.rappor.parameters import RapporParameters


def test_positions_are_bytes_of_md5() -> None:
    for bits, cohort, value in ((16, 0, "abc"), (32, 3, "foo"), (128, 15, "naïve")):
        digest = hashlib.md5(struct.pack(">L", cohort) + value.encode()).digest()
        found = bloom_positions(RapporParameters(bits=bits, hashes=3), value, cohort)
        assert found == tuple(byte % bits for byte in digest[:3])


def test_long_filters_are_used_to_their_end() -> None:
    setup = RapporParameters(bits=5000, hashes=2, cohorts=100)
    positions = all_positions(setup, [f"v{i}" for i in range(20)])
    assert positions.min() < 100
    assert positions.max() > 4900
    assert positions.max() < 5000


def test_the_design_has_the_filters_in_its_columns() -> None:
    setup = RapporParameters(bits=8, hashes=2, cohorts=64)
    values = ["a", "b", "c"]
    design = bloom_design(setup, values).toarray()
    for place, value in enumerate(values):
        rows = bloom_rows(setup, np.array([bloom_positions(setup, value, cohort) for cohort in range(64)]))
        assert (design[:, place] == rows.ravel()).all()
    assert design.max() == 1
    assert design.sum(axis=0).min() < 128  # some hash functions agree
