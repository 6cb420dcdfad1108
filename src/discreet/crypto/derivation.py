"""Keys that come from one secret, one for each use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from discreet.crypto.messages import framed

PROTOCOL = b"discreet masked sum 1"
KEY = 32  # bytes

Purpose = Literal["pair mask", "self mask", "seal", "commitment", "seed share", "key share", "both shares"]


@dataclass(frozen=True)
class KeyUse:
    """What a key is for; keys of two uses say nothing about each other.

    Parameters
    ----------
    round : str
        Public. The round in which it is used.
    first, second : str
        Public. Between whom; the same name twice for a key that one party has alone. Their order counts.
    purpose : {"pair mask", "self mask", "seal", "commitment", "seed share", "key share", "both shares"}
        Public. What it does.
    transcript : bytes
        Public. A digest of what both have seen of the round; keys agree only where it does.
    """

    round: str
    first: str
    second: str
    purpose: Purpose
    transcript: bytes = field(default=b"", repr=False)

    @property
    def info(self) -> bytes:
        """The use as bytes, in one way only."""
        names = (self.round, self.first, self.second, self.purpose)
        return framed(PROTOCOL, *(name.encode() for name in names), self.transcript)


def derived_key(secret: bytes, use: KeyUse) -> bytes:
    """The key of 32 bytes for this use: HKDF with SHA-256 (RFC 5869), without salt.

    Examples
    --------
    >>> first, second = KeyUse("r1", "ann", "bob", "seal"), KeyUse("r1", "bob", "ann", "seal")
    >>> derived_key(bytes(32), first) == derived_key(bytes(32), second)
    False
    """
    return HKDF(SHA256(), KEY, salt=None, info=use.info).derive(secret)
