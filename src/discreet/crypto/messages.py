"""Signed messages that belong to one round, one sender and one step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

from discreet.core.errors import ParameterError
from discreet.core.held import Held, exclusive
from discreet.crypto.errors import UNOPENED, Malformed, OutOfOrder
from discreet.crypto.identity import SIGNATURE, Identity, Roster, check_name

LENGTH = 8  # bytes of the length of a field
AGAIN = "Ask for it again."
SIGNED = b"discreet message 2"
LARGEST = 1 << 35  # bytes of a body


def framed(*fields: bytes) -> bytes:
    """Each field after its length: different fields never give the same bytes.

    Examples
    --------
    >>> framed(b"ab", b"c") == framed(b"a", b"bc")
    False
    """
    return b"".join([part for one in fields for part in (len(one).to_bytes(LENGTH, "big"), one)])


def unframed(data: bytes) -> list[bytes]:
    """The fields that `framed` put together.

    Examples
    --------
    >>> unframed(framed(b"ab", b"", b"c"))
    [b'ab', b'', b'c']
    """
    fields, place = [], 0
    while place < len(data):
        start = place + LENGTH
        place = start + int.from_bytes(data[start - LENGTH : start], "big")
        if start > len(data) or place > len(data):
            raise Malformed("message", "it ends in the middle of a field", AGAIN, UNOPENED)
        fields.append(data[start:place])
    return fields


def split(data: bytes, count: int) -> list[bytes]:
    """The fields, which must be of this number."""
    fields = unframed(data)
    if len(fields) != count:
        raise Malformed("message", f"it has {len(fields)} fields and needs {count}", AGAIN, UNOPENED)
    return fields


def listed(names: Iterable[str]) -> bytes:
    """Names as fields."""
    return framed(*(name.encode() for name in names))


def unlisted(data: bytes) -> list[str]:
    """Names from fields; each may come once."""
    names = [text(field) for field in unframed(data)]
    if len(set(names)) < len(names):
        raise Malformed("message", "a name comes twice in it", AGAIN, UNOPENED)
    return names


def labelled(fields: Mapping[str, bytes]) -> bytes:
    """A field for each name."""
    return framed(listed(fields), *fields.values())


def unlabelled(data: bytes) -> dict[str, bytes]:
    """The field of each name.

    Examples
    --------
    >>> unlabelled(labelled({"ann": b"1", "bob": b"2"}))
    {'ann': b'1', 'bob': b'2'}
    """
    fields = unframed(data)
    names = unlisted(fields.pop(0)) if fields else ["nobody"]
    if len(names) != len(fields):
        raise Malformed("message", f"it has {len(names)} names for {len(fields)} fields", AGAIN, UNOPENED)
    return dict(zip(names, fields, strict=True))


def text(field: bytes) -> str:
    """A field that holds a name."""
    try:
        return field.decode()
    except UnicodeDecodeError as why:
        raise Malformed("message", "a name in it is not UTF-8", AGAIN, UNOPENED) from why


@dataclass(frozen=True)
class Message:
    """What one party says at one step of one round.

    Parameters
    ----------
    round : str
        Public. The round it belongs to.
    sender : str
        Public. Who says it.
    kind : str
        Public. Which step it is.
    body : bytes
        What is said.

    Examples
    --------
    >>> from discreet.noise.system_bits import system_bits
    >>> ann = Identity.drawn("ann", system_bits())
    >>> signed = Message("r1", "ann", "greeting", b"hello").signed(ann)
    >>> Signed.from_bytes(signed.to_bytes(), "ann").verified(Roster.of([ann])).body
    b'hello'
    """

    round: str
    sender: str
    kind: str
    body: bytes = field(repr=False)

    def __post_init__(self) -> None:
        for name in (self.round, self.sender, self.kind):
            check_name("message", name)
        if len(self.body) > LARGEST:
            raise ParameterError("message", f"its body has {len(self.body)} bytes", f"Send at most {LARGEST}.")

    def signed(self, identity: Identity) -> Signed:
        """The message with its sender's signature."""
        if identity.name != self.sender:
            raise ParameterError(
                "message", f"{identity.name!r} cannot sign for {self.sender!r}", "Let the sender sign it."
            )
        written = framed(self.round.encode(), self.sender.encode(), self.kind.encode(), self.body)
        return Signed(self.sender, written, identity.sign(_canonical(written)))

    @classmethod
    def read(cls, written: bytes) -> Message:
        """The message in these bytes, which somebody must answer for."""
        round, sender, kind, body = split(written, 4)
        try:
            return cls(text(round), text(sender), text(kind), body)
        except ParameterError as why:
            raise Malformed("message", why.obstacle, why.remedy, UNOPENED) from why


@dataclass(frozen=True)
class Signed:
    """A message as it travels. Nobody has checked the signature yet, and nothing is read before that is done.

    Parameters
    ----------
    sender : str
        Public. Whose it is said to be: by the line on which it came, or by whoever passes it on.
    written : bytes
        The message.
    signature : bytes
        Of the bytes, under the sender's key.
    """

    sender: str
    written: bytes = field(repr=False)
    signature: bytes = field(repr=False)

    def to_bytes(self) -> bytes:
        """The form in which it travels."""
        return self.signature + self.written

    @classmethod
    def from_bytes(cls, data: bytes, sender: str) -> Signed:
        """What has travelled, said to be of this sender."""
        return cls(sender, data[SIGNATURE:], data[:SIGNATURE])

    def verified(self, roster: Roster) -> Message:
        """The message, if its sender is on the roster and has signed it."""
        roster.verify(self.sender, _canonical(self.written), self.signature)
        if self.message.sender != self.sender:
            raise Malformed(f"message of {self.sender!r}", "it is signed in another name", "", UNOPENED)
        return self.message

    @cached_property
    def message(self) -> Message:
        """What it says, for whoever has signed or verified it."""
        return Message.read(self.written)


def _canonical(written: bytes) -> bytes:
    """What is signed: a message by its SHA-256 digest."""
    return framed(SIGNED, sha256(written).digest())


class ReplayGuard(Held):
    """Who has said what in a round: lets every sender take every step once, and in order.

    Of several threads one takes a step. There is no pickle, copy or fork, which could take it once more.

    Parameters
    ----------
    round : str
        Public. The only round whose messages are let in.
    kinds : str
        Public. The steps, in order.

    Examples
    --------
    >>> seen = ReplayGuard("r1", "keys", "shares")
    >>> seen.admit(Message("r1", "ann", "keys", b""))
    >>> seen.admit(Message("r1", "ann", "keys", b""))
    Traceback (most recent call last):
    discreet.crypto.errors.OutOfOrder: 'keys' of 'ann': it came before. Nothing was opened. Send each step once.
    """

    def __init__(self, round: str, *kinds: str) -> None:
        self.round, self.kinds = round, kinds
        self._taken: dict[str, int] = {}

    def admit(self, message: Message) -> None:
        """Let this message in and remember it, or refuse it."""
        with self.admitting(message):
            pass

    @contextmanager
    def admitting(self, message: Message) -> Iterator[None]:
        """Refuse this message, or remember it once all that is done with it has gone well."""
        self.check_process()
        with self._lock:
            self.check(message)
            yield
            self._taken[message.sender] = self._taken.get(message.sender, 0) + 1

    @exclusive
    def skip(self, kind: str) -> None:
        """Leave a step out, for all who have not taken it: none has, if it is still to come."""
        self.kinds = tuple(one for one in self.kinds if one != kind)

    def check(self, message: Message) -> None:
        """Refuse a message of another round, one that came before, and one whose turn it is not."""
        asked, taken = f"{message.kind!r} of {message.sender!r}", self._taken.get(message.sender, 0)
        if message.round != self.round:
            obstacle = f"it belongs to round {message.round!r} and not to {self.round!r}"
            raise OutOfOrder(asked, obstacle, "Send no message again in another round.", UNOPENED)
        if message.kind in self.kinds[:taken]:
            raise OutOfOrder(asked, "it came before", "Send each step once.", UNOPENED)
        if message.kind not in self.kinds[taken : taken + 1]:
            due = self.kinds[taken] if taken < len(self.kinds) else "nothing"
            raise OutOfOrder(asked, f"{due} is due", "Take the steps in order.", UNOPENED, due=due)
