"""A party as the server sees it at the other end of a line: its owner alone is heard, and only in turn."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import Any

import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import BadSignature, Disagreement, Malformed, OutOfOrder, ProtocolError, UnknownParty
from discreet.crypto.messages import Message, Signed
from discreet.trust.network.connections import LONGEST_HELLO, Remote
from discreet.trust.network.link import LONGEST_CALL
from discreet.trust.party import HELLO, REFUSAL
from discreet.trust.round import Refused
from tests.trust.network.stage import federation, identity, party

MOST = 1 << 20
NOISE_OF_A_LINE = [b"", b"garbage", b"\0" * 200]


class Line:
    """A line on which these frames wait; after the last it is broken, or silent."""

    def __init__(self, *frames: bytes, name: str = "north", silent: bool = False) -> None:
        self.name, self._frames, self._silent = name, list(frames), silent
        self.open, self.sent, self.allowed = True, list[bytes](), list[int]()

    async def send(self, data: bytes) -> None:
        self.sent.append(data)

    async def receive(self, most: int) -> bytes:
        self.allowed.append(most)
        if not self._frames:
            if self._silent:
                await asyncio.Event().wait()
            raise ConnectionError(f"the line to {self.name} is broken")
        return self._frames.pop(0)

    def cut(self) -> None:
        self.open = False


def said(kind: str, body: bytes = b"", round: str = "r1", sender: str = "north") -> Signed:
    return Message(round, sender, kind, body).signed(identity(sender))


def forged(signed: Signed) -> bytes:
    return dataclasses.replace(signed, signature=bytes(64)).to_bytes()


def hello(facts: Any, **fields: str) -> bytes:
    return said(fields.pop("kind", HELLO), json.dumps(facts).encode(), fields.pop("round", HELLO), **fields).to_bytes()


def met(line: Line) -> Remote:
    return asyncio.run(Remote.met(line, federation()))  # type: ignore[arg-type]


FACTS = {"federation": federation().digest.hex(), "units": None, "secret": True}


def test_a_party_says_who_it_is() -> None:
    line = Line(party("north").hello().to_bytes())
    found = met(line)
    assert (found.name, found.secret, found.present) == ("north", True, True)
    assert line.allowed == [LONGEST_HELLO]
    with pytest.raises(Disagreement, match="does not send"):
        assert found.units
    line.cut()
    assert not found.present


def test_the_number_of_units_is_told_where_it_is_public() -> None:
    assert met(Line(hello({**FACTS, "units": 7}))).units == 7


def test_only_true_is_a_claim_that_noise_is_secret() -> None:
    for claim in (False, None, 1, "yes"):
        assert not met(Line(hello({**FACTS, "secret": claim}))).secret
    assert not met(Line(hello({"federation": FACTS["federation"]}))).secret


VERIFIED = dataclasses.replace(federation(), scheme="odo", largest=100)
WRONG_HELLOS: dict[str, tuple[bytes, type[ProtocolError]]] = {
    "garbage": (b"garbage", BadSignature),
    "empty": (b"", BadSignature),
    "of another party": (party("west").hello().to_bytes(), BadSignature),
    "of another kind": (hello(FACTS, kind="keys"), Malformed),
    "of a round": (hello(FACTS, round="r1"), Malformed),
    "no JSON": (said(HELLO, b"{", HELLO).to_bytes(), Malformed),
    "no text": (said(HELLO, b"\xff", HELLO).to_bytes(), Malformed),
    "deep": (said(HELLO, b"[" * 60_000, HELLO).to_bytes(), Malformed),
    "a list": (hello([1]), Malformed),
    "nothing": (hello(None), Malformed),
    "another federation": (hello({**FACTS, "federation": "00"}), Disagreement),
    "another scheme": (hello({**FACTS, "federation": VERIFIED.digest.hex()}), Disagreement),
    "no federation": (hello({}), Disagreement),
    "signed by another": (
        forged(said(HELLO, json.dumps(FACTS).encode(), HELLO)),
        BadSignature,
    ),
}


@pytest.mark.parametrize("wrong", WRONG_HELLOS)
def test_a_wrong_hello_is_refused(wrong: str) -> None:
    data, kind = WRONG_HELLOS[wrong]
    with pytest.raises(kind):
        met(Line(data))


def test_the_server_is_no_party_of_its_own() -> None:
    with pytest.raises(UnknownParty, match="'server' is no party"):
        met(Line(hello(FACTS, sender="server"), name="server"))


class Ear:
    """Hears keys of round r1, once."""

    def __init__(self) -> None:
        self.heard: list[Message] = []

    def __call__(self, signed: Signed) -> None:
        message = signed.verified(federation().roster)
        if message.round != "r1" or message.kind != "keys" or self.heard:
            raise OutOfOrder("message", "it is not due", "")
        self.heard.append(message)


CALL = said("call", sender="server")


def exchanged(*frames: bytes) -> tuple[list[Message], Line]:
    line, ear = Line(hello(FACTS), *frames), Ear()
    asyncio.run(met(line).exchange(CALL, ear, MOST))
    return ear.heard, line


def test_a_message_is_passed_on_and_the_answer_heard() -> None:
    answer = said("keys", b"mine")
    heard, line = exchanged(answer.to_bytes())
    assert heard == [answer.message]
    assert line.sent == [CALL.to_bytes()]


def test_whatever_is_not_the_answer_is_passed_over() -> None:
    """Garbage, old and later messages, one's own, and those of others, however well signed."""
    answer = said("keys", b"mine")
    others = said("keys", b"mine", sender="west")
    frames = [*NOISE_OF_A_LINE, hello(FACTS), CALL.to_bytes(), forged(answer), others.to_bytes()]
    frames += [said("keys", round="r0").to_bytes(), said("shares").to_bytes(), said(REFUSAL, round="r0").to_bytes()]
    frames += [said(REFUSAL, sender="west").to_bytes(), forged(said(REFUSAL))]
    heard, _ = exchanged(*frames, answer.to_bytes())
    assert heard == [answer.message]


def test_a_line_that_breaks_is_an_error() -> None:
    with pytest.raises(ConnectionError, match="the line to north is broken"):
        exchanged(*NOISE_OF_A_LINE)


def test_a_refusal_ends_the_wait_and_is_told_in_the_partys_words() -> None:
    with pytest.raises(Refused, match=r"it refuses: no more budget.\.$"):
        exchanged(said(REFUSAL, b"no more budget\xff.").to_bytes())
    with pytest.raises(Refused) as refused:
        exchanged(said(REFUSAL, b"\x1b[2J" + b"so much to say " * 10**5).to_bytes())
    assert "\x1b" not in str(refused.value)
    assert len(str(refused.value)) < 2000


def test_an_answer_is_no_longer_than_the_terms_allow() -> None:
    _, line = exchanged(said("keys", b"mine").to_bytes())
    assert line.allowed == [LONGEST_HELLO, MOST]


def test_who_says_all_but_what_is_due_is_not_listened_to_for_ever() -> None:
    with pytest.raises(ConnectionError, match="north says 100 things, and not what is due"):
        exchanged(*[b"garbage"] * 1000)


def test_a_call_that_no_party_would_take_is_not_sent() -> None:
    line = Line(hello(FACTS))
    long = said("call", bytes(LONGEST_CALL), sender="server")
    with pytest.raises(ParameterError, match=r"call: it has .* bytes, and parties take 16777216"):
        asyncio.run(met(line).exchange(long, Ear(), MOST))
    assert line.sent == []


def test_who_stops_waiting_cuts_the_line() -> None:
    """Else the answer that comes too late would be taken for that to the next message."""
    line = Line(hello(FACTS), silent=True)

    async def waited() -> None:
        remote = await Remote.met(line, federation())  # type: ignore[arg-type]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(remote.exchange(CALL, Ear(), MOST), 0.01)
        assert not remote.present

    asyncio.run(waited())
