"""The public parameters of a RAPPOR collection, and what one report and all reports of a value cost."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import ULP
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.core.parameters import CheckedParameters

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix


MOST_BITS, MOST_HASHES, MOST_COHORTS = 2**16, 16, 2**16
ROUNDING = 64 * ULP  # of a loss that is computed in float64
BitRows = NDArray[np.uint8]
"""One row for each filter or report, one 0 or 1 for each bit."""


@dataclass(frozen=True)
class RapporParameters(CheckedParameters):
    """What clients and collector agree on.

    Parameters
    ----------
    bits : int
        Public. The length k of the Bloom filter.
    hashes : int
        Public. The number h of hash functions, at most 16: one for each byte of an MD5 digest.
    cohorts : int
        Public. The number m of cohorts; each has hash functions of its own.
    f : float
        Public. The probability with which a bit of the permanent response is a coin toss; 0, or from 2**-10 to 1.
    p, q : float
        Public. The probability with which a report has a 1 where the permanent response has a 0, or a 1.

    Guarantee
    ---------
    `epsilon_one` for one report of one value and `epsilon_infinity` for any number of reports of that value, for any
    two values: Erlingsson, Pihur and Korolova 2014, Theorems 2 and 1. Two values differ in at most h bits that are 1
    for the first alone and h that are 1 for the second alone. Another value later costs as much again, and so does
    another metric; values that change together may give away more than either.

    Examples
    --------
    >>> setting = RapporParameters(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75)
    >>> round(setting.epsilon_one, 4), round(setting.epsilon_infinity, 4)
    (1.0743, 4.3944)
    """

    bits: int = 128
    hashes: int = 2
    cohorts: int = 16
    f: float = 0.5
    p: float = 0.5
    q: float = 0.75

    def __post_init__(self) -> None:
        check_whole("RAPPOR", "bits", self.bits, most=MOST_BITS)
        check_whole("RAPPOR", "hashes", self.hashes, most=MOST_HASHES)
        check_whole("RAPPOR", "cohorts", self.cohorts, most=MOST_COHORTS)
        check_positive("RAPPOR", "f", self.f, 2.0**-10 if self.f else 0.0, 1.0)
        for name in ("p", "q"):
            check_positive("RAPPOR", name, getattr(self, name), 0.0, 1.0)
        if self.p == self.q or self.f == 1:
            obstacle = f"p is {self.p}, q is {self.q} and f is {self.f}: reports would say nothing"
            raise ParameterError("RAPPOR", obstacle, "Give different p and q, and f below 1.")

    @property
    def one_if_set(self) -> float:
        """The probability q* of a 1 in a report where the value's Bloom filter has one."""
        return self.f / 2 * (self.p + self.q) + (1 - self.f) * self.q

    @property
    def one_if_clear(self) -> float:
        """The probability p* of a 1 in a report where the value's Bloom filter has none."""
        return self.f / 2 * (self.p + self.q) + (1 - self.f) * self.p

    @property
    def slope(self) -> float:
        """The difference q* - p*."""
        return (1 - self.f) * (self.q - self.p)

    @property
    def epsilon_one(self) -> float:
        """The pure loss of one report: h ln(q*(1 - p*) / (p*(1 - q*))), rounded up."""
        return self.epsilon_of(1)

    @property
    def epsilon_infinity(self) -> float:
        """The pure loss of the permanent response, so of any number of reports: 2 h ln((1 - f/2) / (f/2))."""
        kept = self.f / 2
        return math.inf if kept == 0 else 2 * self.hashes * math.log((1 - kept) / kept) * (1 + ROUNDING)

    def epsilon_of(self, reports: int) -> float:
        """The pure loss of this number of reports of one value.

        The likelihood of a bit's reports depends on their number of ones alone, and its ratio is monotone in it: the
        greatest losses are those of reports that are all ones, or all zeros. It grows from `epsilon_one` to
        `epsilon_infinity`.

        Examples
        --------
        >>> setting = RapporParameters(f=0.5, p=0.5, q=0.75)
        >>> [round(setting.epsilon_of(n), 3) for n in (1, 2, 10, 1000)]
        [1.074, 2.017, 4.299, 4.394]
        """
        check_whole("RAPPOR", "reports", reports)
        rise = abs(bit_loss(self.f, reports * log_ratio(self.q, self.p)))
        fall = abs(bit_loss(self.f, reports * log_ratio(1 - self.q, 1 - self.p)))
        return self.hashes * (rise + fall) * (1 + ROUNDING)


def bit_loss(f: float, log_ratio: float) -> float:
    """The log-likelihood ratio of a bit that is 1 against one that is 0, from that of the permanent response.

    Both are mixtures of the two permanent responses, with weights 1 - f/2 and f/2.

    Examples
    --------
    >>> round(bit_loss(0.5, math.inf), 4), bit_loss(0.5, 0.0), bit_loss(0.0, -3.0)
    (1.0986, 0.0, -3.0)
    """
    if log_ratio < 0:
        return -bit_loss(f, -log_ratio)
    if f == 0:
        return log_ratio
    less, small = f / (2 - f), math.exp(-log_ratio)
    return math.log1p((1 - less) * (1 - small) / (less + small))


def log_ratio(first: float, second: float) -> float:
    """The logarithm of a ratio of probabilities, of which one may be 0; 0 where both are equal.

    Examples
    --------
    >>> log_ratio(0.0, 0.5), log_ratio(0.5, 0.5), log_ratio(0.5, 0.0)
    (-inf, 0.0, inf)
    """
    if first == second:
        return 0.0
    if first == 0 or second == 0:
        return math.inf if first else -math.inf
    return math.log(first / second)


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
