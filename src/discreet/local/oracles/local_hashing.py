"""Optimised local hashing: randomised response on a hash of the value, by a hash function of one's own."""

from __future__ import annotations

import hashlib
import math
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
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform_integers

HALF = np.uint64(32)
Words = NDArray[np.uint64]
MOST_BUCKETS = 2**16
CELLS = 1 << 14  # of reports times values that are hashed at a time


def hashed(factor: Any, shift: Any, values: Any, buckets: int) -> Steps:
    """The bucket of each value: the upper 32 bits of factor * value + shift modulo 2**64, scaled to the buckets.

    With factor and shift uniform in [0, 2**64), the upper halves of any two different values below 2**32 are uniform
    and independent (Dietzfelbinger 1996), so that a bucket has the probability 1 / buckets up to 2**-32.

    Parameters
    ----------
    factor, shift : array of uint64
        Public. Of each hash function.
    values : array of whole numbers below 2**32
        They broadcast with the functions.
    buckets : int
        Public. At most 2**32.

    Examples
    --------
    >>> hashed(np.uint64(0x9E3779B97F4A7C15), np.uint64(7), np.arange(6), 4)
    array([0, 2, 0, 3, 1, 0])
    """
    with np.errstate(over="ignore"):  # modulo 2**64
        mixed = np.asarray(factor, np.uint64) * np.asarray(values).astype(np.uint64) + np.asarray(shift, np.uint64)
        return ((mixed >> HALF) * np.uint64(buckets) >> HALF).astype(np.int64)


def starts(bucket: Any, buckets: int) -> Words:
    """The least upper half whose value is in a bucket: ceil(bucket * 2**32 / buckets)."""
    return -(-np.asarray(bucket, np.int64) * 2**32 // buckets).astype(np.uint64)


def public_functions(seed: int, count: int) -> tuple[Words, Words]:
    """Factors and shifts of hash functions that everybody can compute: SHA-256 of "discreet hash SEED NUMBER"."""
    digests = b"".join(hashlib.sha256(f"discreet hash {seed} {i}".encode()).digest()[:16] for i in range(count))
    words = np.frombuffer(digests, "<u8").astype(np.uint64).reshape(count, 2)
    return words[:, 0], words[:, 1]


@dataclass(frozen=True)
class LocalHashing(PureOracle):
    """Report a hash function, drawn by the device, and randomised response on the hash of the value under it.

    A report is 18 bytes for any domain; counting it takes time in proportion to d. The hash function is `hashed`, with
    round(exp(epsilon)) + 1 buckets, which minimises the variance.

    Guarantee
    ---------
    Pure, epsilon, where one value is replaced by any other: the hash function does not depend on the value, and given
    it the report is randomised response, whose probability of a lie is rounded up and tossed exactly (`miss_chance`).
    Wang, Blocki, Li and Jha 2017, optimised local hashing.

    Examples
    --------
    >>> LocalHashing(epsilon=1.0, domain=1000).buckets
    4
    """

    kind: ClassVar[str] = "olh"

    @cached_property
    def buckets(self) -> int:
        """The number of hashes."""
        return min(round(math.exp(self.epsilon)) + 1, MOST_BUCKETS)

    @cached_property
    def lie(self) -> float:
        """The probability of a bucket that is not the hash."""
        return miss_chance(self.epsilon, 1, self.buckets - 1)

    @property
    def own(self) -> float:
        return 1 - self.lie

    @property
    def other(self) -> float:
        """The probability that another value has the bucket of the report."""
        return 1 / self.buckets

    @cached_property
    def form(self) -> np.dtype[Any]:
        return np.dtype([("factor", "<u8"), ("shift", "<u8"), ("bucket", "<u2")])

    def reports(self, values: Any, bits: Bits) -> Reports:
        """A hash function and a bucket for each."""
        places = self.places(values)
        made = np.empty(len(places), self.form)
        for name in ("factor", "shift"):
            made[name] = bits.words(len(places))
        truth = hashed(made["factor"], made["shift"], places, self.buckets)
        others = uniform_integers(bits, len(places), self.buckets - 1)
        others += others >= truth
        made["bucket"] = np.where(bernoulli(bits, len(places), self.lie), others, truth)
        return made

    def supports(self, reports: Reports, place: int) -> NDArray[np.bool_]:
        """Whether the value has the bucket of the report."""
        return hashed(reports["factor"], reports["shift"], place, self.buckets) == reports["bucket"]

    def accepted(self, reports: Reports) -> Reports:
        """Any hash function, with a bucket that exists."""
        if reports.dtype != self.form or reports.ndim != 1:
            raise refused(self, f"they have the type {reports.dtype} and the shape {reports.shape}")
        if reports.size and reports["bucket"].max() >= self.buckets:
            raise refused(self, f"one has a bucket above {self.buckets - 1}")
        return reports

    def tallied(self, reports: Reports) -> Steps:
        """How many reports have the bucket of each value.

        A value has the bucket where factor * value + shift is at most `length` above the start of the bucket, modulo
        2**64: one product, one sum and one comparison.
        """
        low, high = (starts(reports["bucket"] + more, self.buckets) << HALF for more in (np.int64(0), np.int64(1)))
        factor, offset, last = reports["factor"][:, None], (reports["shift"] - low)[:, None], (high - low - 1)[:, None]
        values, total = np.arange(self.size, dtype=np.uint64), np.zeros(self.size, np.int64)
        rows = max(1, min(255, CELLS // self.size))
        for start in range(0, len(reports), rows):
            part = slice(start, start + rows)
            hits = factor[part] * values
            hits += offset[part]
            total += (hits <= last[part]).view(np.uint8).sum(axis=0, dtype=np.uint8)
        return total
