"""The scores of a gallery, encrypted: what its keeper answers, and what the key's owner reads in it."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np

from discreet.core.checks import is_number, shown
from discreet.core.errors import ParameterError
from discreet.core.held import Secret
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.matching.match_parameters import Vectors
from discreet.crypto.matching.matching_key import MatchingKey
from discreet.crypto.matching.query_checks import FAR, checks_size, is_template
from discreet.crypto.matching.seal_forms import ciphertext_of
from discreet.crypto.matching.sealed_query import QueryStamp
from discreet.crypto.messages import framed, split

ASKED = "scores"
VERSION = b"discreet match scores 1"
COUNT = struct.Struct("<I")
MOST_BLOCKS = 1 << 16
ROUNDING = 2.0**-8  # of scores that leave the key's owner


@dataclass(frozen=True)
class SealedScores:
    """The scores of the templates of some blocks, encrypted.

    Parameters
    ----------
    query : QueryStamp
        Public. Which query they answer.
    templates : tuple of int
        Public. How many templates each block has.
    bodies : tuple of bytes
        Public. A ciphertext for each block.
    checks : bytes
        Public. What shows whether a stranger's query is a template, encrypted; empty where its asker has the key.
    """

    query: QueryStamp
    templates: tuple[int, ...]
    bodies: tuple[bytes, ...] = field(repr=False)
    checks: bytes = field(repr=False, default=b"")

    def to_bytes(self) -> bytes:
        """The form in which they travel."""
        counts = b"".join(COUNT.pack(count) for count in self.templates)
        return framed(VERSION, self.query.digest, counts, b"".join(self.bodies), self.checks)

    @classmethod
    def from_bytes(cls, data: bytes, query: QueryStamp) -> SealedScores:
        """The scores in these bytes, which have to answer this query."""
        version, asked, counts, bodies, checks = split(data, 5)
        if version != VERSION:
            raise _malformed("they have another version, or are none")
        if asked != query.digest:
            raise _malformed("they answer another query")
        parameters, size = query.parameters, query.parameters.answer_size
        blocks, rest = divmod(len(counts), COUNT.size)
        if rest or not 1 <= blocks <= MOST_BLOCKS or len(bodies) != blocks * size:
            raise _malformed("their lengths cannot be")
        templates = tuple(int(count) for (count,) in COUNT.iter_unpack(counts))
        if not all(1 <= count <= parameters.capacity for count in templates):
            raise _malformed("a block has more templates than it can, or none")
        if len(checks) != (0 if query.owned else checks_size(parameters)):
            raise _malformed("what shows the length of the query is missing, or not asked for")
        each = tuple(bodies[at : at + size] for at in range(0, len(bodies), size))
        return cls(query, templates, each, checks)

    def opened(self, key: MatchingKey) -> MatchScores:
        """What they are. Whatever cannot be scores of templates and of a query of length one is refused, all alike:
        of a query that is longer than that all scores would be larger.

        The refusal tells something of what was encrypted, as any reaction does: the keeper is not told of it.
        """
        query, parameters = self.query, self.query.parameters
        if key.keys.digest != query.key:
            raise _malformed("they are under another key")
        found, longest, fine = [], parameters.longest + FAR, True
        for count, body in zip(self.templates, self.bodies, strict=True):
            scores = self._opened(key, body, parameters.reduced_scale(query.scale))
            fine &= bool(np.abs(scores[:count]).max() <= longest) and bool(np.abs(scores[count:]).max(initial=0) <= FAR)
            found.append(scores[:count])
        if self.checks:
            fine &= is_template(key, self.checks)
        if not fine:
            raise _malformed("what was encrypted are no scores")
        return MatchScores(np.concatenate(found))

    def _opened(self, key: MatchingKey, body: bytes, scale: float) -> Vectors:
        found = key.opened(ciphertext_of(key.parameters, body, scale, primes=1))
        return key.parameters.score(found)


class MatchScores(Secret):
    """Scores of a gallery, in the hands of the key's owner; they rebuild templates, and their last digits the key.

    Parameters
    ----------
    unrounded : array
        The scores as they were decrypted, for the key's owner alone.

    Examples
    --------
    >>> scores = MatchScores(np.array([0.1, 0.7, 0.9]))
    >>> scores.found(0.6), scores.is_match(0.95)
    ([2, 1], False)
    """

    def __init__(self, unrounded: Vectors) -> None:
        self.unrounded = unrounded

    @property
    def rounded(self) -> Vectors:
        """To multiples of 1/256: no further digit may leave the key's owner."""
        return np.rint(self.unrounded / ROUNDING) * ROUNDING

    def found(self, threshold: float) -> list[int]:
        """The templates with at least this score, the best first."""
        check_threshold(threshold)
        places = np.flatnonzero(self.unrounded >= threshold)
        return [int(place) for place in places[np.argsort(-self.unrounded[places], kind="stable")]]

    def is_match(self, threshold: float) -> bool:
        """Whether there is one."""
        check_threshold(threshold)
        return bool((self.unrounded >= threshold).any())

    def __len__(self) -> int:
        return len(self.unrounded)

    def __repr__(self) -> str:
        return f"MatchScores(of {len(self)} templates)"


def check_threshold(threshold: float) -> None:
    """Refuse what is no score that a match could have."""
    if not is_number(threshold) or not 0 < threshold < 1:
        raise ParameterError("matching", f"the threshold is {shown(threshold)}", "Give a number between 0 and 1.")


def _malformed(obstacle: str) -> Malformed:
    return Malformed(ASKED, obstacle, "Ask again.", UNOPENED)
