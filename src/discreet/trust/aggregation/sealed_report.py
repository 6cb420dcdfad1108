"""Reports as they travel: each share is sealed for its aggregator, whoever passes it on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.fields.prime_field import Bytes
from discreet.crypto.messages import framed, unframed
from discreet.crypto.prio3.shares import NONCE
from discreet.trust.aggregation.aggregation_task import AggregationTask
from discreet.trust.aggregation.share_aggregator import Reports

KEY = 32  # bytes
SEALED = 48  # bytes that sealing adds: a public key and a tag
PURPOSE = b"discreet aggregation 1 input share"


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

    def opened(self, sealed: bytes, about: bytes) -> bytes | None:
        """What was sealed for this key and about this; None for anything else."""
        try:
            return _suite().decrypt(sealed, self._key, about)
        except (InvalidTag, ValueError):
            return None

    @cached_property
    def _key(self) -> X25519PrivateKey:
        return X25519PrivateKey.from_private_bytes(self.secret)


@dataclass(frozen=True)
class SealedReport:
    """One report: its nonce, its public share, and a sealed share for each aggregator.

    Parameters
    ----------
    nonce, public : bytes
        What everybody may see.
    shares : tuple of bytes
        One for each aggregator, in their order.
    """

    nonce: bytes
    public: bytes = field(repr=False)
    shares: tuple[bytes, ...] = field(repr=False)

    def written(self) -> bytes:
        """The form in which it travels."""
        return framed(self.nonce, self.public, *self.shares)

    @classmethod
    def read(cls, data: bytes, task: AggregationTask) -> SealedReport:
        """The report that was written for this task; anything else is refused by its lengths alone."""
        nonce, public, *shares = [*unframed(data), b"", b""]
        found = cls(nonce, public, tuple(shares[:-2]))
        due = [task.vdaf.input(number) + SEALED for number in range(task.aggregators)]
        right = len(nonce) == NONCE and len(public) == task.vdaf.public and [len(one) for one in found.shares] == due
        if not right:
            raise Malformed("report", "its parts are not as long as the task has them", "Ask for the task.", UNOPENED)
        return found


def sealed_reports(task: AggregationTask, reports: Reports, keys: Sequence[bytes]) -> list[SealedReport]:
    """Reports with their shares sealed, each for one of the aggregators' public keys."""
    if len(keys) != task.aggregators or len(set(keys)) != len(keys):
        obstacle = f"{len(set(keys))} keys are for {task.aggregators} aggregators"
        raise ParameterError("seal reports", obstacle, "Give one of each, in their order.")
    suite, those = _suite(), [X25519PublicKey.from_public_bytes(key) for key in keys]
    found = []
    for row, nonce in enumerate(map(bytes, reports.nonces)):
        public = reports.shares.public[row].tobytes()
        inputs = [one[row].tobytes() for one in reports.shares.inputs]
        shares = [suite.encrypt(one, those[k], _about(task, k, nonce, public)) for k, one in enumerate(inputs)]
        found.append(SealedReport(nonce, public, tuple(shares)))
    return found


@dataclass(frozen=True)
class OpenedShares:
    """What one aggregator makes of sealed reports, a row for each."""

    nonces: Bytes
    public: Bytes
    inputs: Bytes = field(repr=False)


def opened_shares(task: AggregationTask, number: int, key: ShareKey, reports: Sequence[SealedReport]) -> OpenedShares:
    """The shares of one aggregator; zeros for one that cannot be opened, whose proof then fails like any other."""
    width = task.vdaf.input(number)
    nonces, public = (_rows([getattr(one, name) for one in reports]) for name in ("nonce", "public"))
    inputs = np.zeros((len(reports), width), np.uint8)
    for row, one in enumerate(reports):
        share = key.opened(one.shares[number], _about(task, number, one.nonce, one.public))
        if share is not None and len(share) == width:
            inputs[row] = np.frombuffer(share, np.uint8)
    return OpenedShares(nonces.reshape(len(reports), NONCE), public.reshape(len(reports), task.vdaf.public), inputs)


def _rows(parts: Sequence[bytes]) -> Bytes:
    return np.frombuffer(b"".join(parts), np.uint8)


def _about(task: AggregationTask, number: int, nonce: bytes, public: bytes) -> bytes:
    """What a share is sealed about: with another task, aggregator, nonce or public share it does not open."""
    return framed(PURPOSE, task.digest, bytes([number]), nonce, public)
