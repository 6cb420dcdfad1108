"""Coins that everybody knows and nobody chose: from seeds that were shared before any was opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from discreet.crypto.fields.share_field import Shares
from discreet.crypto.messages import framed
from discreet.crypto.odo.odo_terms import KEYS, OdoTerms
from discreet.noise.system_bits import KeyStream

Flips = NDArray[np.bool_]


class PublicStream(KeyStream):
    """What everybody can compute from a key that everybody knows."""

    secret = False


def extracted(seeds: Mapping[int, list[int]], outputs: int, prime: int) -> list[int]:
    """Elements that are uniform if those of any `outputs` parties are, whatever the others chose beforehand.

    The k-th is the sum of index^k times seed, for each element of the seeds. Any `outputs` columns of this Vandermonde
    matrix are independent: with the seeds of all others fixed it maps uniform seeds one to one (an extractor for
    sources that fix whole symbols; Dwork and others 2006 take one for bits).

    Examples
    --------
    >>> extracted({1: [10], 2: [20], 4: [1]}, 2, 101)
    [31, 54]
    """
    columns = zip(*seeds.values(), strict=True)
    return [
        sum(pow(index, k, prime) * value for index, value in zip(seeds, column, strict=True)) % prime
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
        modulo = self.terms.field
        found = extracted(self.seeds, self.terms.threshold, modulo.prime)[: KEYS * self.terms.pieces]
        parts = [modulo.elements(found[i::KEYS]).tobytes() for i in range(KEYS)]
        return [sha256(framed(self.transcript, bytes([i]), part)).digest() for i, part in enumerate(parts)]

    @cached_property
    def weights(self) -> Shares:
        """A weight for each secret, in each of the tests: shape (tests, secrets)."""
        return self.terms.field.uniform(PublicStream(self._keys[0]), self.terms.field.tests, self.terms.secrets)

    @cached_property
    def links(self) -> Shares:
        """A weight for each number, in each combination that commitments are tested by: shape (links, size)."""
        key = sha256(framed(self._keys[0], b"links")).digest()
        return self.terms.field.uniform(PublicStream(key), self.terms.links, self.terms.size)

    @cached_property
    def degree_weights(self) -> Shares:
        """The weights of all combinations of degree `faults`: of tests, then of links, where a bit counts its place."""
        places = self.terms.field.elements(self.terms.places)[:, None]
        linked = [self.terms.field.multiply(places, row[None, :]).reshape(-1) for row in self.links]
        return np.concatenate([self.weights, np.stack(linked)]) if linked else self.weights

    def flips(self, index: int) -> Flips:
        """Which coins of a party are turned over, of shape (coins, size)."""
        key = sha256(framed(self._keys[1], index.to_bytes(2, "big"))).digest()
        count = self.terms.coins * self.terms.size
        tossed = PublicStream(key).words(-(-count // 64)).astype("<u8").view(np.uint8)
        return (
            np.unpackbits(tossed, bitorder="little")[:count].view(np.bool_).reshape(self.terms.coins, self.terms.size)
        )
