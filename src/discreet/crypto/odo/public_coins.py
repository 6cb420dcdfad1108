"""Coins that everybody knows and nobody chose: from seeds that were shared before any was opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from discreet.crypto.fields.field import PRIME, Elements, uniform_elements
from discreet.crypto.messages import framed
from discreet.crypto.odo.odo_terms import KEYS, PIECES, TESTS, OdoTerms
from discreet.noise.system_bits import KeyStream

Flips = NDArray[np.bool_]


class PublicStream(KeyStream):
    """What everybody can compute from a key that everybody knows."""

    secret = False


def extracted(seeds: Mapping[int, list[int]], outputs: int) -> list[int]:
    """Elements that are uniform if those of any `outputs` parties are, whatever the others chose beforehand.

    The k-th is the sum of index^k times seed, for each element of the seeds. Any `outputs` columns of this Vandermonde
    matrix are independent: with the seeds of all others fixed it maps uniform seeds one to one (an extractor for
    sources that fix whole symbols; Dwork and others 2006 take one for bits).

    Examples
    --------
    >>> extracted({1: [10], 2: [20], 4: [1]}, 2)
    [31, 54]
    """
    columns = zip(*seeds.values(), strict=True)
    return [
        sum(pow(index, k, PRIME) * value for index, value in zip(seeds, column, strict=True)) % PRIME
        for column in columns
        for k in range(outputs)
    ]


@dataclass(frozen=True)
class PublicCoins:
    """What follows from the opened seeds of a round: the weights of all tests, and whose coins are turned over.

    Parameters
    ----------
    terms : OdoTerms
        Public. Of the round.
    seeds : mapping of int to list of int
        Public. The opened seeds, by the index of their party.
    transcript : bytes
        Public. What all have seen before the seeds were opened.
    """

    terms: OdoTerms
    seeds: Mapping[int, list[int]]
    transcript: bytes = field(repr=False)

    @cached_property
    def _keys(self) -> list[bytes]:
        found = extracted(self.seeds, self.terms.threshold)[: KEYS * PIECES]
        parts = [b"".join(one.to_bytes(8, "big") for one in found[i::KEYS]) for i in range(KEYS)]
        return [sha256(framed(self.transcript, bytes([i]), part)).digest() for i, part in enumerate(parts)]

    def weights(self, test: int) -> Elements:
        """A weight for each secret, in one of the tests."""
        key = sha256(framed(self._keys[0], bytes([test]))).digest()
        return uniform_elements(PublicStream(key), self.terms.secrets)

    @cached_property
    def all_weights(self) -> list[Elements]:
        """Those of all tests."""
        return [self.weights(test) for test in range(TESTS)]

    def flips(self, index: int) -> Flips:
        """Which coins of a party are turned over, of shape (coins, size)."""
        key = sha256(framed(self._keys[1], index.to_bytes(2, "big"))).digest()
        count = self.terms.coins * self.terms.size
        tossed = PublicStream(key).words(-(-count // 64)).astype("<u8").view(np.uint8)
        return np.unpackbits(tossed, bitorder="little")[:count].view(np.bool_).reshape(self.terms.coins, -1)
