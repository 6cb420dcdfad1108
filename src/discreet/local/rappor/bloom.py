"""Bloom filters of strings, one kind for each cohort."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Steps
from discreet.local.rappor.parameters import RapporParameters

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

BitRows = NDArray[np.uint8]
"""One row for each filter or report, one 0 or 1 for each bit."""


def bloom_positions(setup: RapporParameters, value: str, cohort: int) -> tuple[int, ...]:
    """The positions of the ones in the filter of a value: byte i of MD5(cohort, value) modulo the number of bits.

    The cohort is written as four bytes, the highest first, and the value in UTF-8, as in google/rappor, whose digests
    have 16 bytes too. Filters of more than 256 bits, which a byte cannot reach, take as many bytes for each position as
    they need, from MD5 of the digest with the number of the hash function.

    Examples
    --------
    >>> bloom_positions(RapporParameters(bits=16, hashes=2), "abc", cohort=0)
    (6, 13)
    """
    digest = hashlib.md5(struct.pack(">L", cohort) + value.encode(), usedforsecurity=False).digest()
    if setup.bits <= 256:
        return tuple(digest[place] % setup.bits for place in range(setup.hashes))
    longer = (hashlib.md5(digest + bytes([place]), usedforsecurity=False).digest() for place in range(setup.hashes))
    return tuple(int.from_bytes(one, "big") % setup.bits for one in longer)


def all_positions(setup: RapporParameters, values: Sequence[str]) -> Steps:
    """The positions of every value in every cohort: one row for each value, then cohorts, then hash functions."""
    if setup.bits > 256:
        found = [bloom_positions(setup, value, cohort) for value in values for cohort in range(setup.cohorts)]
        return np.array(found, dtype=np.int64).reshape(len(values), setup.cohorts, setup.hashes)
    cohorts, coded = [struct.pack(">L", cohort) for cohort in range(setup.cohorts)], [one.encode() for one in values]
    digests = b"".join(hashlib.md5(cohort + one, usedforsecurity=False).digest() for one in coded for cohort in cohorts)
    places = np.frombuffer(digests, np.uint8).reshape(len(values), setup.cohorts, 16)[:, :, : setup.hashes]
    return places.astype(np.int64) % setup.bits


def bloom_rows(setup: RapporParameters, positions: Steps) -> BitRows:
    """Filters with ones at these positions, one row for each row of positions."""
    rows = np.zeros((len(positions), setup.bits), np.uint8)
    rows[np.arange(len(positions))[:, None], positions] = 1
    return rows


def bloom_design(setup: RapporParameters, values: Sequence[str]) -> csc_matrix:
    """A 1 where the filter of a value has one: a row for each bit of each cohort, a column for each value.

    Examples
    --------
    >>> bloom_design(RapporParameters(bits=16, hashes=2, cohorts=4), ["abc", "abd", "x"]).shape
    (64, 3)
    """
    from scipy.sparse import csc_matrix

    positions = all_positions(setup, values) + setup.bits * np.arange(setup.cohorts)[:, None]
    rows, columns = positions.ravel(), np.repeat(np.arange(len(values)), setup.cohorts * setup.hashes)
    design = csc_matrix((np.ones(rows.size), (rows, columns)), shape=(setup.cohorts * setup.bits, len(values)))
    design.data[:] = 1.0  # two hash functions may agree
    return design
