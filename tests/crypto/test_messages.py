from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import ParameterError
from discreet.crypto import messages
from discreet.crypto.errors import BadSignature, Malformed, OutOfOrder, UnknownParty
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import (
    Message,
    ReplayGuard,
    Signed,
    framed,
    labelled,
    listed,
    split,
    text,
    unframed,
    unlabelled,
    unlisted,
)
from discreet.noise.deterministic import DeterministicBits

ANN, BOB = (Identity.drawn(name, DeterministicBits(seed)) for seed, name in enumerate(("ann", "bob")))
ROSTER = Roster.of([ANN, BOB])
MESSAGE = Message("r1", "ann", "keys", b"body")
SIGNED = MESSAGE.signed(ANN)
name = st.text(min_size=1, max_size=8).filter(lambda text: text.isprintable())
fields = st.lists(st.binary(max_size=20), max_size=6)


@given(name, name, st.binary(max_size=30))
def test_a_message_survives_the_wire(round: str, kind: str, body: bytes) -> None:
    signed = Message(round, "ann", kind, body).signed(ANN)
    again = Signed.from_bytes(signed.to_bytes(), "ann")
    assert again == signed
    assert again.verified(ROSTER) == signed.message == Message(round, "ann", kind, body)


def written(*fields: str | bytes) -> bytes:
    return framed(*(one if isinstance(one, bytes) else one.encode() for one in fields))


def test_a_signature_covers_every_field() -> None:
    for fields in (("r2", "ann", "keys", "body"), ("r1", "ann", "shares", "body"), ("r1", "ann", "keys", "other")):
        with pytest.raises(BadSignature):
            Signed("ann", written(*fields), SIGNED.signature).verified(ROSTER)


def test_a_signature_covers_the_sender() -> None:
    with pytest.raises(BadSignature):
        Signed("bob", SIGNED.written, SIGNED.signature).verified(ROSTER)
    with pytest.raises(UnknownParty):
        Signed("eve", SIGNED.written, SIGNED.signature).verified(ROSTER)
    with pytest.raises(Malformed, match="signed in another name"):
        signed_by_ann(written("r1", "bob", "keys", "body")).verified(ROSTER)


def signed_by_ann(data: bytes) -> Signed:
    """Whatever it is, under a signature that is right."""
    return Signed("ann", data, ANN.sign(messages._canonical(data)))


@given(st.integers(0, len(SIGNED.to_bytes()) - 1), st.integers(1, 255))
def test_no_byte_can_be_changed_on_the_way(place: int, by: int) -> None:
    data = bytearray(SIGNED.to_bytes())
    data[place] ^= by
    with pytest.raises(BadSignature):
        Signed.from_bytes(bytes(data), "ann").verified(ROSTER)


def test_bytes_cannot_be_cut_or_added() -> None:
    data = SIGNED.to_bytes()
    for other in (b"", data[:-1], data + b"\0", data + framed(b""), data + data, data[:30]):
        with pytest.raises(BadSignature):
            Signed.from_bytes(other, "ann").verified(ROSTER)


def test_nothing_is_read_before_the_signature_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(data: bytes) -> Message:
        raise AssertionError

    monkeypatch.setattr(Message, "read", read)
    for data in (b"", b"\xff" * 100, SIGNED.to_bytes()[:-1], SIGNED.to_bytes() + b"x"):
        with pytest.raises(BadSignature):
            Signed.from_bytes(data, "ann").verified(ROSTER)


def test_what_is_signed_may_still_be_no_message() -> None:
    wrong = [("", "ann", "keys", b""), ("r1", "", "keys", b""), ("r1", "ann", "", b""), ("r" * 201, "ann", "keys", b"")]
    for fields in wrong:
        with pytest.raises(ParameterError):
            Message(*fields)
    for data in (
        b"",
        b"junk",
        written("r1", "ann", "keys"),
        written(b"\xff", "ann", "keys", ""),
        *(written(*one) for one in wrong),
    ):
        with pytest.raises(Malformed):
            signed_by_ann(data).verified(ROSTER)


def test_nobody_signs_for_another() -> None:
    with pytest.raises(ParameterError, match="'bob' cannot sign for 'ann'"):
        MESSAGE.signed(BOB)


def said(kind: str, sender: str = "ann", round: str = "r1") -> Message:
    return Message(round, sender, kind, b"")


def test_steps_are_taken_once_and_in_order() -> None:
    seen = ReplayGuard("r1", "keys", "shares", "masked")
    for kind in seen.kinds:
        seen.admit(said(kind))
        for before in seen.kinds[: seen.kinds.index(kind) + 1]:
            with pytest.raises(OutOfOrder, match="it came before"):
                seen.admit(said(before))
    with pytest.raises(OutOfOrder, match="nothing is due"):
        seen.admit(said("more"))


def test_no_step_is_left_out() -> None:
    seen = ReplayGuard("r1", "keys", "shares")
    with pytest.raises(OutOfOrder, match="keys is due"):
        seen.admit(said("shares"))
    with pytest.raises(OutOfOrder, match="keys is due"):
        seen.admit(said("strange"))


def test_another_round_is_refused() -> None:
    with pytest.raises(OutOfOrder, match="belongs to round 'r0'"):
        ReplayGuard("r1", "keys").admit(said("keys", round="r0"))


def test_senders_do_not_wait_for_one_another() -> None:
    seen = ReplayGuard("r1", "keys", "shares")
    seen.admit(said("keys"))
    seen.admit(said("shares"))
    with pytest.raises(OutOfOrder, match="keys is due"):
        seen.admit(said("shares", "bob"))
    seen.admit(said("keys", "bob"))


def test_what_goes_wrong_is_not_remembered() -> None:
    seen = ReplayGuard("r1", "keys")
    with pytest.raises(ZeroDivisionError), seen.admitting(said("keys")):
        raise ZeroDivisionError
    seen.admit(said("keys"))


@given(fields)
def test_fields_come_back(some: list[bytes]) -> None:
    assert unframed(framed(*some)) == some


@given(fields, fields)
def test_different_fields_give_different_bytes(some: list[bytes], others: list[bytes]) -> None:
    assert (framed(*some) == framed(*others)) == (some == others)


@given(st.binary(max_size=60))
def test_bytes_are_read_in_one_way_or_refused(data: bytes) -> None:
    with contextlib.suppress(Malformed):
        assert framed(*unframed(data)) == data


@given(st.lists(st.binary(max_size=9), min_size=1, max_size=3), st.data())
def test_a_cut_is_noticed(some: list[bytes], data: st.DataObject) -> None:
    """Unless it falls between two fields, where the number of fields tells."""
    whole = framed(*some)
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]
    with pytest.raises(Malformed):
        split(cut, len(some))


@given(st.dictionaries(st.text(max_size=5), st.binary(max_size=9), max_size=5))
def test_labels_come_back(some: dict[str, bytes]) -> None:
    assert unlabelled(labelled(some)) == some
    assert unlisted(listed(some)) == list(some)


def test_labels_and_fields_must_pair_up() -> None:
    for data in (b"", framed(listed(["a", "b"]), b"1"), framed(listed(["a"]), b"1", b"2"), framed(listed([]), b"1")):
        with pytest.raises(Malformed, match="names for"):
            unlabelled(data)


def test_a_name_does_not_come_twice() -> None:
    with pytest.raises(Malformed, match="twice"):
        unlisted(listed(["a", "b", "a"]))
    with pytest.raises(Malformed, match="twice"):
        unlabelled(framed(listed(["a", "a"]), b"1", b"2"))


def test_names_are_text() -> None:
    assert text("é".encode()) == "é"
    with pytest.raises(Malformed, match="UTF-8"):
        text(b"\xff")
