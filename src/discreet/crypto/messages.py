"""Signed messages that belong to one round, one sender and one step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock

from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed, OutOfOrder
from discreet.crypto.framing import framed, split, text
from discreet.crypto.identity import Identity, Roster, check_name

SIGNED = b"discreet message 1"
LARGEST = 1 << 35  # bytes of a body, whatever the receiver allows


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
    >>> from discreet.noise.bits import system_bits
    >>> ann = Identity.drawn("ann", system_bits())
    >>> signed = Message("r1", "ann", "greeting", b"hello").signed(ann)
    >>> Signed.from_bytes(signed.to_bytes(), most=5).verified(Roster.of([ann])).body
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

    @property
    def canonical(self) -> bytes:
        """What is signed: every field, the body by its SHA-256 digest."""
        return framed(SIGNED, *self._head, sha256(self.body).digest())

    def signed(self, identity: Identity) -> Signed:
        """The message with its sender's signature."""
        if identity.name != self.sender:
            raise ParameterError("message", f"{identity.name!r} cannot sign for {self.sender!r}", "Let the sender.")
        return Signed(self, identity.sign(self.canonical))

    @property
    def _head(self) -> tuple[bytes, bytes, bytes]:
        return self.round.encode(), self.sender.encode(), self.kind.encode()


@dataclass(frozen=True)
class Signed:
    """A message and a signature, which nobody has checked yet."""

    message: Message
    signature: bytes = field(repr=False)

    def to_bytes(self) -> bytes:
        """The form in which it travels."""
        return framed(*self.message._head, self.message.body, self.signature)

    @classmethod
    def from_bytes(cls, data: bytes, most: int = LARGEST) -> Signed:
        """Read what has travelled; a body of more than `most` bytes is refused."""
        round, sender, kind, body, signature = split(data, 5)
        if len(body) > most:
            raise Malformed("message", f"its body has {len(body)} bytes", f"Send at most {most}.", UNOPENED)
        try:
            return cls(Message(text(round), text(sender), text(kind), body), signature)
        except ParameterError as why:
            raise Malformed("message", why.obstacle, why.remedy, UNOPENED) from why

    def verified(self, roster: Roster) -> Message:
        """The message, if its sender is on the roster and has signed it."""
        roster.verify(self.message.sender, self.message.canonical, self.signature)
        return self.message


class Seen:
    """Who has said what in a round: lets every sender take every step once, and in order.

    Of several threads one takes a step. There is no pickle or deep copy, which could take it once more.

    Parameters
    ----------
    round : str
        Public. The only round whose messages are let in.
    kinds : str
        Public. The steps, in order.

    Examples
    --------
    >>> seen = Seen("r1", "keys", "shares")
    >>> seen.admit(Message("r1", "ann", "keys", b""))
    >>> seen.admit(Message("r1", "ann", "keys", b""))
    Traceback (most recent call last):
    discreet.crypto.errors.OutOfOrder: 'keys' of 'ann': it came before. Nothing was opened. Send each step once.
    """

    def __init__(self, round: str, *kinds: str) -> None:
        self.round, self.kinds = round, kinds
        self._taken: dict[str, int] = {}
        self._lock = Lock()

    def admit(self, message: Message) -> None:
        """Let this message in and remember it, or refuse it."""
        with self.admitting(message):
            pass

    @contextmanager
    def admitting(self, message: Message) -> Iterator[None]:
        """Refuse this message, or remember it once all that is done with it has gone well."""
        with self._lock:
            self.check(message)
            yield
            self._taken[message.sender] = self._taken.get(message.sender, 0) + 1

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
