from __future__ import annotations

import dataclasses

import pytest

from discreet.crypto.errors import BadSignature, Disagreement, Malformed, UnknownParty
from discreet.crypto.messages import Message, framed
from discreet.crypto.rounds.agreement import (
    FIELD,
    SMALL_ORDER,
    AnnouncedKeys,
    PublicKeys,
    SecretKeys,
    exchanged,
    public_half,
)
from discreet.crypto.rounds.terms import Terms
from discreet.noise.deterministic import DeterministicBits
from tests.crypto.rehearsal import identity, roster, terms_of

TERMS = terms_of(3, 2)
BITS = DeterministicBits(1)
SECRETS = {name: SecretKeys.drawn(BITS) for name in TERMS.parties}
CIRCLE = AnnouncedKeys(TERMS, {name: one.public for name, one in SECRETS.items()})


def test_the_exchange_is_that_of_rfc_7748() -> None:
    """The example of its section 6.1."""
    alice = bytes.fromhex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
    bob = bytes.fromhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
    assert public_half(alice).hex() == "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
    shared = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
    assert exchanged(alice, public_half(bob)).hex() == exchanged(bob, public_half(alice)).hex() == shared


def test_weak_keys_are_refused() -> None:
    for weak in (point.to_bytes(32, "little") for point in SMALL_ORDER):
        with pytest.raises(Malformed, match="weak"):
            exchanged(SECRETS["p0"].mask, weak)


def test_both_of_a_pair_derive_the_same_key() -> None:
    assert CIRCLE.pair_key("p0", SECRETS["p0"].mask, "p1") == CIRCLE.pair_key("p1", SECRETS["p1"].mask, "p0")
    assert CIRCLE.pair_key("p0", SECRETS["p0"].mask, "p1") != CIRCLE.pair_key("p0", SECRETS["p0"].mask, "p2")


def test_no_two_keys_of_a_circle_are_equal() -> None:
    secret = SECRETS["p0"].mask
    keys = [CIRCLE.pair_key("p0", secret, peer) for peer in ("p1", "p2")]
    keys += [CIRCLE.self_key("p0", secret), CIRCLE.self_key("p1", secret), CIRCLE.commitment("p0", secret)]
    assert len(set(keys)) == len(keys)


def test_who_has_seen_other_keys_has_no_key_in_common() -> None:
    smaller = AnnouncedKeys(TERMS, {name: CIRCLE.keys[name] for name in ("p0", "p1")})
    other = AnnouncedKeys(dataclasses.replace(TERMS, threshold=3), CIRCLE.keys)
    keys = {one.pair_key("p0", SECRETS["p0"].mask, "p1") for one in (CIRCLE, smaller, other)}
    assert len(keys) == 3


def test_the_order_of_announcements_does_not_matter() -> None:
    assert AnnouncedKeys(TERMS, dict(reversed(list(CIRCLE.keys.items())))).transcript == CIRCLE.transcript


def test_a_key_that_two_announce_is_refused() -> None:
    keys = dict(CIRCLE.keys)
    for copied in (
        keys["p0"],
        PublicKeys(keys["p0"].seal, keys["p1"].seal),
        PublicKeys(keys["p1"].mask, keys["p0"].mask),
    ):
        with pytest.raises(Disagreement, match="the same one"):
            AnnouncedKeys(TERMS, keys | {"p1": copied})


def test_an_announcement_holds_signed_keys() -> None:
    public = SECRETS["p0"].public
    signed = public.announced(identity("p0"), TERMS)
    assert PublicKeys.of(signed.verified(roster(TERMS)), TERMS) == public


@pytest.mark.parametrize(
    "others",
    [
        dataclasses.replace(TERMS, parties=("p0", "p1", "p3")),
        dataclasses.replace(TERMS, threshold=3),
        dataclasses.replace(TERMS, size=4),
        dataclasses.replace(TERMS, round="r2"),
    ],
)
def test_an_announcement_for_other_terms_is_refused(others: Terms) -> None:
    signed = SECRETS["p0"].public.announced(identity("p0"), others)
    with pytest.raises(Disagreement, match="other terms"):
        PublicKeys.of(signed.message, TERMS)


def test_keys_that_are_none_are_refused() -> None:
    """Of another size, of a small order, or in a form that hides that two are the same."""
    good = SECRETS["p0"].public.mask
    small = [point.to_bytes(32, "little") for point in SMALL_ORDER]
    other_forms = [point.to_bytes(32, "little") for point in (FIELD, FIELD + 1, FIELD + 9, 2**255 - 1)]
    high_bit = (int.from_bytes(SECRETS["p1"].public.mask, "little") | 1 << 255).to_bytes(32, "little")
    for wrong in (b"short", b"", good, high_bit, *small, *other_forms):
        for halves in ((wrong, good), (good, wrong)):
            with pytest.raises(Malformed, match="not two keys"):
                PublicKeys.of(Message("r1", "p0", "keys", framed(TERMS.digest, *halves)), TERMS)


def box(content: bytes = b"content") -> bytes:
    return CIRCLE.sealed(BITS, "p0", SECRETS["p0"].seal, "p1", content)


def test_the_receiver_opens_a_box() -> None:
    assert CIRCLE.unsealed("p0", SECRETS["p1"].seal, "p1", box()) == b"content"
    assert b"content" not in box()
    assert box() != box()


def test_nobody_else_opens_a_box() -> None:
    smaller = AnnouncedKeys(TERMS, {name: CIRCLE.keys[name] for name in ("p0", "p1")})
    attempts = [
        (CIRCLE, "p0", "p2", "p2"),
        (CIRCLE, "p0", "p2", "p1"),
        (CIRCLE, "p2", "p1", "p1"),
        (CIRCLE, "p1", "p0", "p0"),  # one's own box, sent back
        (smaller, "p0", "p1", "p1"),
    ]
    for announced, sender, owner, receiver in attempts:
        with pytest.raises(BadSignature, match="not sealed by them"):
            announced.unsealed(sender, SECRETS[owner].seal, receiver, box())


def test_a_box_cannot_be_changed() -> None:
    whole = box()
    changed = [whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :] for place in range(len(whole))]
    for data in (*changed, whole[:-1], whole + b"\0", b"", whole[:5]):
        with pytest.raises(BadSignature):
            CIRCLE.unsealed("p0", SECRETS["p1"].seal, "p1", data)


def test_who_announced_nothing_is_unknown() -> None:
    smaller = AnnouncedKeys(TERMS, {name: CIRCLE.keys[name] for name in ("p0", "p1")})
    with pytest.raises(UnknownParty, match="'p2' has announced no keys"):
        smaller.pair_key("p0", SECRETS["p0"].mask, "p2")


def test_secret_keys_are_not_printed() -> None:
    assert repr(SECRETS["p0"].mask) not in repr(SECRETS["p0"])
