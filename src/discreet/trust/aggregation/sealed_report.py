"""Reports as they travel, in the shape of DAP: each share is sealed for its aggregator, whoever passes it on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.crypto.fields.prime_field import Bytes
from discreet.crypto.prio3.proof import Mask
from discreet.crypto.prio3.shares import NONCE
from discreet.trust.aggregation.dap import Ciphertext, FieldReader, HpkeConfig, Metadata, malformed, prefixed
from discreet.trust.aggregation.published_task import KEY, PublishedTask
from discreet.trust.aggregation.share_aggregator import Reports

TAG = 16  # bytes that sealing adds to a message
INPUT, SUM = b"discreet aggregation 1 input share", b"discreet aggregation 1 aggregate share"
COLLECTOR, DEVICE, LEADER = range(3)  # DAP's numbers of roles; a helper's is 3, and so on for more


def _suite() -> Suite:
    return Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)


@dataclass(frozen=True)
class ShareKey:
    """An aggregator's key, for which devices seal their shares: X25519, as HPKE (RFC 9180) has it.

    Parameters
    ----------
    secret : bytes
        The private key, 32 bytes.

    Examples
    --------
    >>> from discreet.noise.system_bits import system_bits
    >>> ShareKey.drawn(system_bits())
    ShareKey()
    """

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) != KEY:
            raise ParameterError("key of an aggregator", f"it has {len(self.secret)} bytes", f"Give {KEY}.")

    @classmethod
    def drawn(cls, bits: Bits) -> ShareKey:
        """A fresh key."""
        return cls(bits.integer(8 * KEY).to_bytes(KEY, "big"))

    @cached_property
    def public(self) -> bytes:
        """What devices seal with."""
        return self._key.public_key().public_bytes_raw()

    def opened(self, sealed: Ciphertext, about: bytes) -> bytes | None:
        """What was sealed for this key and about this; None for anything else."""
        try:
            return _suite().decrypt(sealed.encapsulated + sealed.payload, self._key, about)
        except (InvalidTag, ValueError):
            return None

    @cached_property
    def _key(self) -> X25519PrivateKey:
        return X25519PrivateKey.from_private_bytes(self.secret)


def sealed(config: HpkeConfig, message: bytes, about: bytes) -> Ciphertext:
    """A message that the owner of a key alone can read, and only as one about this."""
    both = _suite().encrypt(message, X25519PublicKey.from_public_bytes(config.public), about)
    return Ciphertext(config.number, both[:KEY], both[KEY:])


@dataclass(frozen=True)
class SealedReport:
    """DAP's Report: its identifier and time, its public share, and a sealed share for leader and helper.

    Parameters
    ----------
    metadata : Metadata
        What everybody may see, with the public share.
    public : bytes
        Prio3's public share.
    shares : tuple of Ciphertext
        The leader's and the helper's.
    """

    metadata: Metadata
    public: bytes = field(repr=False)
    shares: tuple[Ciphertext, ...] = field(repr=False)

    def written(self) -> bytes:
        """The form in which it travels."""
        parts = [self.metadata.written(), prefixed(self.public, 4), *(one.written() for one in self.shares)]
        return b"".join(parts)

    @classmethod
    def read(cls, reader: FieldReader, published: PublishedTask) -> SealedReport:
        """The next report, for this task; anything else is refused by its lengths alone."""
        metadata, public = Metadata.read(reader), reader.field(4)
        found = cls(metadata, public, tuple(Ciphertext.read(reader) for _ in range(published.task.aggregators)))
        vdaf = published.task.vdaf
        due = [(KEY, 6 + vdaf.input(number) + TAG) for number in range(published.task.aggregators)]
        lengths = [(len(one.encapsulated), len(one.payload)) for one in found.shares]
        if len(public) != vdaf.public or lengths != due:
            raise malformed("its parts are not as long as the task has them")
        return found


def sealed_reports(
    published: PublishedTask, reports: Reports, keys: Sequence[HpkeConfig], time: int
) -> list[SealedReport]:
    """Reports with their shares sealed, each for one of the aggregators' public keys."""
    many = published.task.aggregators
    if len(keys) != many or len({key.public for key in keys}) != many:
        raise ParameterError("seal reports", "not every aggregator has a key of its own", "Give one of each.")
    found = []
    for row, nonce in enumerate(map(bytes, reports.nonces)):
        metadata, public = Metadata(nonce, time), reports.shares.public[row].tobytes()
        inputs = [prefixed(b"", 2) + prefixed(one[row].tobytes(), 4) for one in reports.shares.inputs]
        shares = [sealed(keys[k], one, about_input(published, k, metadata, public)) for k, one in enumerate(inputs)]
        found.append(SealedReport(metadata, public, tuple(shares)))
    return found


@dataclass(frozen=True)
class OpenedShares:
    """What one aggregator makes of sealed reports, a row for each; `readable` are those that it could open."""

    nonces: Bytes
    public: Bytes
    inputs: Bytes = field(repr=False)
    readable: Mask


def opened_shares(
    published: PublishedTask,
    number: int,
    keys: Mapping[int, ShareKey],
    reports: Sequence[tuple[Metadata, bytes, Ciphertext]],
) -> OpenedShares:
    """The shares of one aggregator; zeros for one that cannot be opened."""
    vdaf, many = published.task.vdaf, len(reports)
    width = vdaf.input(number)
    inputs, readable = np.zeros((many, width), np.uint8), np.zeros(many, dtype=bool)
    for row, (metadata, public, share) in enumerate(reports):
        key = keys.get(share.number)
        message = None if key is None else key.opened(share, about_input(published, number, metadata, public))
        if message is not None and message[:6] == bytes(2) + width.to_bytes(4, "big") and len(message) == width + 6:
            inputs[row], readable[row] = np.frombuffer(message, np.uint8)[6:], True
    nonces, told = _rows([one[0].nonce for one in reports]), _rows([one[1] for one in reports])
    return OpenedShares(nonces.reshape(many, NONCE), told.reshape(many, vdaf.public), inputs, readable)


def _rows(parts: Sequence[bytes]) -> Bytes:
    return np.frombuffer(b"".join(parts), np.uint8)


def about_input(published: PublishedTask, number: int, metadata: Metadata, public: bytes) -> bytes:
    """What a share is sealed about: with another task, aggregator, report or time it does not open."""
    roles = bytes([DEVICE, LEADER + number])
    return INPUT + roles + published.identifier + metadata.written() + prefixed(public, 4)


def about_sum(published: PublishedTask, number: int, reports: int) -> bytes:
    """What a share of the sum is sealed about: as one of another aggregator, or of more reports, it does not open."""
    roles = bytes([LEADER + number, COLLECTOR])
    return SUM + roles + published.identifier + reports.to_bytes(8, "big")
