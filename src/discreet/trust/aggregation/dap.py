"""The messages of devices, leader, helper and collector, in the shapes of draft-ietf-ppm-dap-13 and its numbers.

Numbers have their high bytes first. A field of variable length comes after its length, in as many bytes as the draft
has. `docs/wire/prio3.md` says what is left out, and has test vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from discreet.core.held import unheld
from discreet.crypto.errors import UNOPENED, Malformed, ProtocolError
from discreet.crypto.prio3.shares import NONCE

KEM, KDF, AEAD = 0x20, 0x01, 0x01  # X25519, HKDF-SHA256, AES-128-GCM
TASK = BATCH = 32  # bytes of an identifier
CHECKSUM = 32
LEADER_SELECTED = 2  # the batch mode: the leader says which reports are in a batch; here, there is one
CONTINUED, FINISHED, REJECTED = range(3)
REPLAYED, UNKNOWN_KEY, UNOPENABLE, UNPROVED, EXPIRED, EARLY = 2, 4, 5, 6, 7, 9  # why a report is rejected
Read = TypeVar("Read")


@unheld("one call")
class FieldReader:
    """Takes fields off the front of bytes; what is cut short is refused."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def taken(self, size: int) -> bytes:
        """The next bytes."""
        found = self._data[self._at : self._at + size]
        if len(found) < size:
            raise malformed("it ends too early")
        self._at += size
        return found

    def number(self, size: int) -> int:
        """The next number, of this many bytes."""
        return int.from_bytes(self.taken(size), "big")

    def field(self, prefix: int) -> bytes:
        """The next field, after its length in this many bytes."""
        return self.taken(self.number(prefix))

    def expect(self, value: int, size: int, what: str) -> None:
        """Read a number of which one value alone is known here."""
        if self.number(size) != value:
            raise malformed(f"{what} is not one that is known here")

    @property
    def left(self) -> bool:
        """Whether there is more."""
        return self._at < len(self._data)


class Rejected(ProtocolError):
    """A request that is refused for a reason that DAP has a name for: its `kind`."""


def rejected(kind: str, obstacle: str, remedy: str) -> Rejected:
    """The refusal of a request; it changed nothing."""
    return Rejected("a request to an aggregator", obstacle, remedy, UNOPENED, kind=kind)


def malformed(obstacle: str) -> Malformed:
    """The refusal of bytes; it quotes none of them."""
    return Malformed("a message of an aggregation", obstacle, "Send it in the form of docs/wire/prio3.md.", UNOPENED)


def whole(data: bytes, read: Callable[[FieldReader], Read]) -> Read:
    """What these bytes are, with nothing behind it."""
    reader = FieldReader(data)
    found = read(reader)
    if reader.left:
        raise malformed("something follows it")
    return found


def each(data: bytes, read: Callable[[FieldReader], Read]) -> Iterator[Read]:
    """What these bytes are, one after the other."""
    reader = FieldReader(data)
    while reader.left:
        yield read(reader)


def prefixed(data: bytes, prefix: int) -> bytes:
    """A field after its length."""
    return len(data).to_bytes(prefix, "big") + data


@dataclass(frozen=True)
class HpkeConfig:
    """A public key for which shares are sealed, and its number."""

    number: int
    public: bytes

    def written(self) -> bytes:
        suite = b"".join(one.to_bytes(2, "big") for one in (KEM, KDF, AEAD))
        return bytes([self.number]) + suite + prefixed(self.public, 2)

    @classmethod
    def read(cls, reader: FieldReader) -> HpkeConfig:
        number = reader.number(1)
        for one in (KEM, KDF, AEAD):
            reader.expect(one, 2, "a part of the suite")
        public = reader.field(2)
        if len(public) != 32:
            raise malformed("a public key has not 32 bytes")
        return cls(number, public)


def written_configs(configs: Sequence[HpkeConfig]) -> bytes:
    """HpkeConfigList: the first is the one to use."""
    return prefixed(b"".join(one.written() for one in configs), 2)


def read_configs(data: bytes) -> list[HpkeConfig]:
    """What `written_configs` wrote."""
    found = list(each(whole(data, lambda reader: reader.field(2)), HpkeConfig.read))
    if not found:
        raise malformed("it has no key")
    return found


@dataclass(frozen=True)
class Ciphertext:
    """HpkeCiphertext: what is sealed, with the number of the key and what HPKE encapsulates."""

    number: int
    encapsulated: bytes = field(repr=False)
    payload: bytes = field(repr=False)

    def written(self) -> bytes:
        return bytes([self.number]) + prefixed(self.encapsulated, 2) + prefixed(self.payload, 4)

    @classmethod
    def read(cls, reader: FieldReader) -> Ciphertext:
        return cls(reader.number(1), reader.field(2), reader.field(4))


@dataclass(frozen=True)
class Metadata:
    """ReportMetadata: the identifier, which is the nonce, and a time that was rounded down; no extensions."""

    nonce: bytes
    time: int

    def written(self) -> bytes:
        return self.nonce + self.time.to_bytes(8, "big") + bytes(2)

    @classmethod
    def read(cls, reader: FieldReader) -> Metadata:
        found = cls(reader.taken(NONCE), reader.number(8))
        reader.expect(0, 2, "an extension")
        return found


@dataclass(frozen=True)
class PreparedReport:
    """PrepareInit: what a leader hands on of a report, with its own verifier share."""

    metadata: Metadata
    public: bytes = field(repr=False)
    share: Ciphertext = field(repr=False)
    verifier: bytes = field(repr=False)

    def written(self) -> bytes:
        handed = self.metadata.written() + prefixed(self.public, 4) + self.share.written()
        return handed + prefixed(self.verifier, 4)

    @classmethod
    def read(cls, reader: FieldReader) -> PreparedReport:
        return cls(Metadata.read(reader), reader.field(4), Ciphertext.read(reader), reader.field(4))


@dataclass(frozen=True)
class HelperAnswer:
    """PrepareResp: what a helper says of a report: its verifier share, or nothing, or why it rejects it."""

    nonce: bytes
    state: int
    verifier: bytes = field(default=b"", repr=False)
    reason: int = 0

    def written(self) -> bytes:
        tail = {CONTINUED: prefixed(self.verifier, 4), FINISHED: b"", REJECTED: bytes([self.reason])}
        return self.nonce + bytes([self.state]) + tail[self.state]

    @classmethod
    def read(cls, reader: FieldReader) -> HelperAnswer:
        nonce, state = reader.taken(NONCE), reader.number(1)
        if state == CONTINUED:
            return cls(nonce, state, reader.field(4))
        if state == FINISHED:
            return cls(nonce, state)
        if state != REJECTED:
            raise malformed("a state is not one that is known here")
        return cls(nonce, state, b"", reader.number(1))


def written_job(reports: Sequence[PreparedReport]) -> bytes:
    """AggregationJobInitReq: no aggregation parameter, the one batch, and the reports."""
    head = prefixed(b"", 4) + bytes([LEADER_SELECTED]) + prefixed(bytes(BATCH), 2)
    return head + prefixed(b"".join(one.written() for one in reports), 4)


def read_job(data: bytes) -> list[PreparedReport]:
    """What `written_job` wrote."""
    return list(each(whole(data, _reports), PreparedReport.read))


def _reports(reader: FieldReader) -> bytes:
    reader.expect(0, 4, "an aggregation parameter")
    _expect_batch(reader)
    return reader.field(4)


def _expect_batch(reader: FieldReader) -> None:
    reader.expect(LEADER_SELECTED, 1, "a batch mode")
    if reader.field(2) != bytes(BATCH):
        raise malformed("there is one batch alone")


def written_answers(answers: Sequence[HelperAnswer]) -> bytes:
    """AggregationJobResp."""
    return prefixed(b"".join(one.written() for one in answers), 4)


def read_answers(data: bytes) -> list[HelperAnswer]:
    """What `written_answers` wrote."""
    return list(each(whole(data, lambda reader: reader.field(4)), HelperAnswer.read))


def written_accepted(nonces: Sequence[bytes]) -> bytes:
    """AggregationJobContinueReq: step 1, and the reports that the leader accepts."""
    return (1).to_bytes(2, "big") + prefixed(b"".join(nonce + bytes(4) for nonce in nonces), 4)


def read_accepted(data: bytes) -> list[bytes]:
    """What `written_accepted` wrote."""

    def accepted(reader: FieldReader) -> bytes:
        nonce = reader.taken(NONCE)
        reader.expect(0, 4, "a payload")
        return nonce

    def body(reader: FieldReader) -> bytes:
        reader.expect(1, 2, "a step")
        return reader.field(4)

    return list(each(whole(data, body), accepted))


@dataclass(frozen=True)
class Counted:
    """AggregateShareReq: how many reports are in a sum, and the exclusive or of the hashes of their identifiers."""

    reports: int
    checksum: bytes

    def written(self) -> bytes:
        batch = bytes([LEADER_SELECTED]) + prefixed(bytes(BATCH), 2)
        return batch + prefixed(b"", 4) + self.reports.to_bytes(8, "big") + self.checksum

    @classmethod
    def read(cls, reader: FieldReader) -> Counted:
        _expect_batch(reader)
        reader.expect(0, 4, "an aggregation parameter")
        return cls(reader.number(8), reader.taken(CHECKSUM))


@dataclass(frozen=True)
class Collection:
    """Collection: how many reports are in the sum, when they were made, and both aggregate shares, sealed."""

    reports: int
    start: int
    duration: int
    leader: Ciphertext
    helper: Ciphertext

    def written(self) -> bytes:
        batch = bytes([LEADER_SELECTED]) + prefixed(bytes(BATCH), 2)
        numbers = (self.reports, self.start, self.duration)
        told = b"".join(one.to_bytes(8, "big") for one in numbers)
        return batch + told + self.leader.written() + self.helper.written()

    @classmethod
    def read(cls, reader: FieldReader) -> Collection:
        _expect_batch(reader)
        reports, start, duration = (reader.number(8) for _ in range(3))
        return cls(reports, start, duration, Ciphertext.read(reader), Ciphertext.read(reader))
