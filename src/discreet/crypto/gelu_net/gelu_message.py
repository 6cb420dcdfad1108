"""What client and server say to each other: signed, of one session, in order."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, ClassVar

from discreet.core.held import unheld
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.messages import framed, split

LONGEST_HEAD = 1 << 15  # bytes
NONCE = 32  # bytes
HELLO = "hello"  # in place of a session, before there is one
OPEN, OPENED, PRODUCT, ANSWER, UPDATE, UPDATED, REFUSAL = (
    "open",
    "opened",
    "product",
    "answer",
    "update",
    "updated",
    "refusal",
)


@dataclass(frozen=True)
class GeluBody:
    """A few public facts, and bytes that only one side can read.

    Parameters
    ----------
    facts : dict
        Public. Numbers and texts by name.
    payload : bytes
        Ciphertexts, gradients, a key.

    Examples
    --------
    >>> GeluBody.from_bytes(GeluBody({"number": 3}, b"...").to_bytes(), number=int).facts
    {'number': 3}
    """

    facts: dict[str, Any]
    payload: bytes = field(default=b"", repr=False)
    asked: ClassVar[str] = "message"

    def to_bytes(self) -> bytes:
        return framed(json.dumps(self.facts, sort_keys=True, separators=(",", ":")).encode(), self.payload)

    @classmethod
    def from_bytes(cls, data: bytes, **kinds: Any) -> GeluBody:
        """What was said, if it has exactly these facts, each of its kind."""
        head, payload = split(data, 2)
        try:
            if len(head) > LONGEST_HEAD:
                raise ValueError("it is too long")
            facts = json.loads(head)
            if set(facts) != set(kinds) or not all(_is(facts[name], kind) for name, kind in kinds.items()):
                raise ValueError("its facts are others")
        except (ValueError, TypeError, RecursionError) as why:
            raise Malformed(cls.asked, "it does not say what it should", "Send it again.", UNOPENED) from why
        return cls(facts, payload)


@unheld("part")
@dataclass
class Traffic:
    """What a client has sent and received so far.

    Parameters
    ----------
    sent, received, messages : int
        Public. Bytes, and how many messages were answered.
    """

    sent: int = 0
    received: int = 0
    messages: int = 0


def _is(value: Any, kind: Any) -> bool:
    """Whether a fact is of this type, and no boolean that passes for a number; numbers are short and not negative."""
    return type(value) is kind and (kind is not int or 0 <= value < 2**31)
