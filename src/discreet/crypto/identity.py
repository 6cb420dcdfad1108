"""Who is who: long-term signing keys, and the roster on which everybody is listed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.held import unheld
from discreet.crypto.errors import UNOPENED, BadSignature, UnknownParty

KEY, SIGNATURE = 32, 64  # bytes
LONGEST_NAME = 200  # bytes
REMEMBERED = 1 << 14  # signatures
FIELD = 2**255 - 19
SMALL_ORDER = {0, 1, FIELD - 1} | {
    0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
    0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
}
"""The second coordinates of the eight points of Ed25519 whose signatures anybody can make."""


def check_name(asked: str, name: str) -> None:
    """Refuse a name that is empty or too long to travel with every message."""
    if not 1 <= len(name.encode()) <= LONGEST_NAME:
        raise ParameterError(asked, f"the name {name[:20]!r} is empty or long", f"Give 1 to {LONGEST_NAME} bytes.")


def check_public(asked: str, name: str, key: bytes) -> None:
    """Refuse a public key that is not one, or under which anybody could sign."""
    place = int.from_bytes(key, "little") % 2**255
    if len(key) != KEY or place >= FIELD or place in SMALL_ORDER:
        remedy = f"Give {KEY} bytes that an identity was drawn with."
        raise ParameterError(asked, f"the key of {name!r} is no Ed25519 key of a large order", remedy, name=name)


@dataclass(frozen=True)
class Identity:
    """A party and its long-term Ed25519 key.

    Parameters
    ----------
    name : str
        Public. As on the roster.
    secret : bytes
        The private key, 32 bytes.
    """

    name: str
    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        check_name("identity", self.name)
        if len(self.secret) != KEY:
            raise ParameterError("identity", f"the key has {len(self.secret)} bytes", f"Give {KEY}.")

    @classmethod
    def drawn(cls, name: str, bits: Bits) -> Identity:
        """An identity with a fresh key."""
        return cls(name, bits.integer(8 * KEY).to_bytes(KEY, "big"))

    @cached_property
    def public(self) -> bytes:
        """The public key, for the roster."""
        return self._key.public_key().public_bytes_raw()

    def sign(self, data: bytes) -> bytes:
        """The signature of these bytes (RFC 8032)."""
        return self._key.sign(data)

    @cached_property
    def _key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.secret)


@unheld("cache")
class Signatures:
    """Digests of what has proved to be signed, in this process: of ten parties in it, one verifies what all are shown.

    A signature is right or not whoever asks. What was signed cannot be told from the digest, and false ones are tried
    again each time.

    Examples
    --------
    >>> right = Signatures(most=2)
    >>> for digest in (b"1", b"2", b"3"):
    ...     right.add(digest)
    >>> b"1" in right, b"3" in right
    (False, True)
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._digests: set[bytes] = set()

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._digests

    def add(self, digest: bytes) -> None:
        """Remember this one; where there are too many, forget the others."""
        if len(self._digests) >= self.most:
            self._digests.clear()
        self._digests.add(digest)


_RIGHT = Signatures(REMEMBERED)


@dataclass(frozen=True)
class Roster:
    """The public key of everybody who may take part, handed out beforehand by someone whom all believe.

    Whoever writes the roster can put keys of his own behind every name: no protocol on top of it can notice.

    Parameters
    ----------
    keys : mapping of str to bytes
        Public. The Ed25519 key of each name, 32 bytes.
    """

    keys: Mapping[str, bytes]

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", MappingProxyType(dict(self.keys)))
        for name, key in self.keys.items():
            check_name("roster", name)
            check_public("roster", name, key)

    @classmethod
    def of(cls, identities: Iterable[Identity]) -> Roster:
        """The roster of these identities."""
        return cls({one.name: one.public for one in identities})

    def check_lists(self, name: str) -> None:
        """Refuse a name that is not on the roster."""
        if name not in self.keys:
            raise UnknownParty("roster", f"{name!r} is not on it", "Take only parties that are.", UNOPENED, name=name)

    def verify(self, name: str, data: bytes, signature: bytes) -> None:
        """Refuse bytes that this party did not sign."""
        self.check_lists(name)
        digest = sha256(self.keys[name] + sha256(data).digest() + signature).digest()
        if digest in _RIGHT:
            return
        try:
            Ed25519PublicKey.from_public_bytes(self.keys[name]).verify(signature, data)
            _RIGHT.add(digest)
        except InvalidSignature as why:
            raise BadSignature(
                f"message of {name!r}", "the signature is not theirs", "Ask for it again.", UNOPENED, name=name
            ) from why
