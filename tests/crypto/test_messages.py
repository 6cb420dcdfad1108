from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import ParameterError
from discreet.crypto.errors import BadSignature, Malformed, OutOfOrder, ProtocolError, UnknownParty
from discreet.crypto.framing import framed
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Message, Seen, Signed
from discreet.noise.deterministic import DeterministicBits

ANN, BOB = (Identity.drawn(name, DeterministicBits(seed)) for seed, name in enumerate(("ann", "bob")))
ROSTER = Roster.of([ANN, BOB])
MESSAGE = Message("r1", "ann", "keys", b"body")
SIGNED = MESSAGE.signed(ANN)

name = st.text(min_size=1, max_size=8).filter(lambda text: text.isprintable())


@given(name, name, st.binary(max_size=30))
def test_a_message_survives_the_wire(round: str, kind: str, body: bytes) -> None:
    signed = Message(round, "ann", kind, body).signed(ANN)
    again = Signed.from_bytes(signed.to_bytes())
    assert again == signed
    assert again.verified(ROSTER) == signed.message


@pytest.mark.parametrize("field", ["round", "kind", "body"])
def test_a_signature_covers_every_field(field: str) -> None:
    changes: dict[str, Any] = {field: b"other" if field == "body" else "other"}
    other = dataclasses.replace(MESSAGE, **changes)
    with pytest.raises(BadSignature):
        Signed(other, SIGNED.signature).verified(ROSTER)


def test_a_signature_covers_the_sender() -> None:
    with pytest.raises(BadSignature):
        Signed(dataclasses.replace(MESSAGE, sender="bob"), SIGNED.signature).verified(ROSTER)
    with pytest.raises(UnknownParty):
        Signed(dataclasses.replace(MESSAGE, sender="eve"), SIGNED.signature).verified(ROSTER)


@given(st.integers(0, len(SIGNED.to_bytes()) - 1), st.integers(1, 255))
def test_no_byte_can_be_changed_on_the_way(place: int, by: int) -> None:
    data = bytearray(SIGNED.to_bytes())
    data[place] ^= by
    with pytest.raises(ProtocolError):
        Signed.from_bytes(bytes(data)).verified(ROSTER)


def test_bytes_cannot_be_cut_or_added() -> None:
    data = SIGNED.to_bytes()
    for other in (b"", data[:-1], data + b"\0", data + framed(b""), data + data):
        with pytest.raises(Malformed):
            Signed.from_bytes(other)


def test_long_bodies_are_refused() -> None:
    assert Signed.from_bytes(SIGNED.to_bytes(), most=4) == SIGNED
    with pytest.raises(Malformed, match="4 bytes"):
        Signed.from_bytes(SIGNED.to_bytes(), most=3)


def test_names_are_neither_empty_nor_long() -> None:
    for fields in (("", "ann", "keys"), ("r1", "", "keys"), ("r1", "ann", ""), ("r" * 201, "ann", "keys")):
        with pytest.raises(ParameterError):
            Message(*fields, b"")
        with pytest.raises(Malformed):
            Signed.from_bytes(framed(*(field.encode() for field in fields), b"", b""))


def test_nobody_signs_for_another() -> None:
    with pytest.raises(ParameterError, match="'bob' cannot sign for 'ann'"):
        MESSAGE.signed(BOB)


def said(kind: str, sender: str = "ann", round: str = "r1") -> Message:
    return Message(round, sender, kind, b"")


def test_steps_are_taken_once_and_in_order() -> None:
    seen = Seen("r1", "keys", "shares", "masked")
    for kind in seen.kinds:
        seen.admit(said(kind))
        for before in seen.kinds[: seen.kinds.index(kind) + 1]:
            with pytest.raises(OutOfOrder, match="it came before"):
                seen.admit(said(before))
    with pytest.raises(OutOfOrder, match="nothing is due"):
        seen.admit(said("more"))


def test_no_step_is_left_out() -> None:
    seen = Seen("r1", "keys", "shares")
    with pytest.raises(OutOfOrder, match="keys is due"):
        seen.admit(said("shares"))
    with pytest.raises(OutOfOrder, match="keys is due"):
        seen.admit(said("strange"))


def test_another_round_is_refused() -> None:
    with pytest.raises(OutOfOrder, match="belongs to round 'r0'"):
        Seen("r1", "keys").admit(said("keys", round="r0"))


def test_senders_do_not_wait_for_one_another() -> None:
    seen = Seen("r1", "keys", "shares")
    seen.admit(said("keys"))
    seen.admit(said("shares"))
    with pytest.raises(OutOfOrder, match="keys is due"):
        seen.admit(said("shares", "bob"))
    seen.admit(said("keys", "bob"))


def test_what_goes_wrong_is_not_remembered() -> None:
    seen = Seen("r1", "keys")
    with pytest.raises(ZeroDivisionError), seen.admitting(said("keys")):
        raise ZeroDivisionError
    seen.admit(said("keys"))
