"""A query: one ciphertext, whoever asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.matching.evaluation_keys import EvaluationKeys
from discreet.crypto.matching.match_parameters import QUERY_SCALE, STRANGERS_SCALE, UNSEALED, MatchParameters, Vectors
from discreet.crypto.matching.matching_key import MatchingKey
from discreet.crypto.matching.seal_forms import ciphertext_of
from discreet.crypto.matching.seal_stream import Seal
from discreet.crypto.messages import framed, split

ASKED = "query"
VERSION = b"discreet match query 1"


@dataclass(frozen=True)
class QueryStamp:
    """What an answer says of the query that it answers.

    Parameters
    ----------
    parameters : MatchParameters
        Public.
    key : bytes
        Public. The digest of the key that it is under.
    digest : bytes
        Public. The query's.
    owned : bool
        Public. Whether it was made with the secret key. Where it was not, its answer has what shows its length, too: of
        a longer query all scores are larger.
    """

    parameters: MatchParameters
    key: bytes
    digest: bytes
    owned: bool

    @property
    def scale(self) -> float:
        """That of the query's numbers."""
        return QUERY_SCALE if self.owned else STRANGERS_SCALE


@dataclass(frozen=True)
class SealedQuery:
    """A template that is looked for, encrypted. Its coordinates repeat themselves in the slots.

    Parameters
    ----------
    parameters : MatchParameters
        Public.
    key : bytes
        Public. The digest of the key that it is under.
    body : bytes
        Public. The ciphertext. One by the owner of the key is half as long as one by anybody else.
    """

    parameters: MatchParameters
    key: bytes
    body: bytes = field(repr=False)

    @classmethod
    def by_owner(cls, vector: ArrayLike, key: MatchingKey) -> SealedQuery:
        """By whoever has the secret key."""
        values = _repeated(vector, key.parameters)
        return cls(key.parameters, key.keys.digest, key.sealed(values, QUERY_SCALE))

    @classmethod
    def by_anybody(cls, vector: ArrayLike, keys: EvaluationKeys) -> SealedQuery:
        """By somebody without it, who will learn a decision alone."""
        values = _repeated(vector, keys.parameters)
        return cls(keys.parameters, keys.digest, keys.sealed(values, STRANGERS_SCALE))

    @cached_property
    def stamp(self) -> QueryStamp:
        """What its answer says of it; one with a seed was made with the secret key."""
        digest, owned = sha256(self.to_bytes()).digest(), len(self.body) == self.parameters.seeded_size
        return QueryStamp(self.parameters, self.key, digest, owned)

    @cached_property
    def ciphertext(self) -> Seal:
        """What is computed with."""
        return ciphertext_of(self.parameters, self.body, self.stamp.scale)

    def to_bytes(self) -> bytes:
        """The form in which it travels."""
        return framed(VERSION, self.key, self.body)

    @classmethod
    def from_bytes(cls, data: bytes, keys: EvaluationKeys) -> SealedQuery:
        """The query in these bytes, under this key; nothing is computed before its numbers are right."""
        version, key, body = split(data, 3)
        if version != VERSION:
            raise _malformed("it has another version, or is none")
        if key != keys.digest:
            raise _malformed("it is under another key")
        if len(body) not in (keys.parameters.seeded_size, keys.parameters.sealed_size):
            raise _malformed(f"its ciphertext has {len(body)} bytes")
        found = cls(keys.parameters, key, body)
        _ = found.ciphertext
        return found


def _repeated(vector: ArrayLike, parameters: MatchParameters) -> Vectors:
    """The coordinates, again and again."""
    rows = parameters.comparable(vector)
    if len(rows) != 1:
        raise ParameterError(ASKED, f"there are {len(rows)} templates", "Ask for one at a time.", UNSEALED)
    return np.resize(rows[0], parameters.capacity)


def _malformed(obstacle: str) -> Malformed:
    return Malformed(ASKED, obstacle, "Make it with the keys of the gallery.", UNOPENED)
