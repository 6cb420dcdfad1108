"""A relay that drops, mixes up, forges or splits what it passes on gets no share that it should not have."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from discreet.crypto.errors import ProtocolError
from discreet.crypto.messages import Message, Signed, framed, labelled, split, unlabelled
from discreet.crypto.odo.proceedings import Header
from tests.crypto.odo.cheats import Accuser, Copier, Garbage, WrongShare, WrongToAll
from tests.crypto.odo.rehearsal import OdoRehearsal, terms_of
from tests.crypto.rehearsal import identity

TERMS = terms_of(4, 1)
Twist = Callable[[str, bytes], bytes]


class Lying(OdoRehearsal):
    """Carries everything truly, but for messages of one kind, which it twists for each receiver."""

    kind = ""
    twist: Twist

    def step(self, name: str, message: Signed) -> None:
        if message.message.kind == self.kind:
            body = self.twist(name, message.message.body)
            message = Message(TERMS.round, "server", self.kind, body).signed(identity("server"))
        super().step(name, message)


def lied(kind: str, twist: Twist, **cheats: type) -> Lying:
    run = Lying(TERMS, cheats)
    run.kind, run.twist = kind, twist
    try:
        run.run()
    except ProtocolError as why:
        run.gone["relay"] = str(why)
    return run


def disputed(kind: str) -> dict[str, type]:
    """An accord is asked for only where somebody complained."""
    return {"p1": Accuser} if kind == "accord" else {}


def without(*names: str) -> Callable[[bytes], bytes]:
    return lambda body: labelled({name: data for name, data in unlabelled(body).items() if name not in names})


def test_a_box_that_is_not_the_dealers_is_no_complaint() -> None:
    """Else a relay would have shares of honest dealers opened, until it has more than the threshold allows."""

    def swapped(name: str, body: bytes) -> bytes:
        headers, boxes = split(body, 2)
        sealed = unlabelled(boxes)
        if name == "p3":
            sealed["p0"] = bytes(len(sealed["p0"]))
        return framed(headers, labelled(sealed))

    run = lied("delivery", swapped)
    assert list(run.gone) == ["p3"]
    assert "the box is not the one that 'p0' has sealed" in run.gone["p3"]
    assert run.relay._proceedings.heard["complaints"]  # the others went on
    assert not any(run.relay._proceedings.complaints.values())


@pytest.mark.parametrize("kind", ["dealings", "openings", "proofs", "accusations", "defences", "accord"])
def test_whoever_is_shown_something_else_gets_no_further(kind: str) -> None:
    """One honest party is shown a list without one name: its view is another one then, and counts for nothing."""
    run = lied(kind, lambda name, body: without("p1")(body) if name == "p2" else body, **disputed(kind))
    assert "relay" not in run.gone  # the others are enough, and none was misled
    if kind not in ("defences", "accord"):  # after which nothing is said any more but the same share of the same sum
        assert "p2" in run.gone


def test_lists_in_another_order_say_the_same() -> None:
    """Half of the parties are shown every list backwards: they see what the others see, and the sum is right."""

    def backwards(name: str, body: bytes) -> bytes:
        return labelled(dict(reversed(unlabelled(body).items()))) if name in ("p0", "p1") else body

    for kind in ("announcements", "dealings", "openings", "proofs", "accusations", "defences"):
        run = Lying(TERMS, {"p2": WrongShare} if kind == "defences" else {})
        run.kind, run.twist = kind, backwards
        total = run.run()
        assert (run.gone, total.liars) == ({}, ()), kind
        assert (np.abs(run.noise(total)) <= TERMS.coins * len(TERMS.parties) // 2).all()


def test_two_groups_with_different_views_both_stop() -> None:
    """Half of the parties see the answers of all, the other half those of three: nobody gives a share of a sum away."""
    run = lied("defences", lambda name, body: without("p3")(body) if name in ("p0", "p1") else body, p1=WrongShare)
    assert "relay" in run.gone
    assert run.relay.step == "agreed" or "sum" not in run.relay._proceedings.heard


def test_too_short_lists_and_forged_names_are_refused() -> None:
    for kind in ("announcements", "dealings", "openings", "proofs", "accusations", "defences", "accord"):
        run = lied(kind, lambda name, body: without("p1", "p2")(body), **disputed(kind))
        assert set(run.gone) >= set(TERMS.parties), kind
    renamed = {"p1": "p9"}
    forged = lied(
        "openings",
        lambda name, body: labelled({renamed.get(one, one): data for one, data in unlabelled(body).items()}),
    )
    assert set(forged.gone) >= set(TERMS.parties)
    assert "takes no part" in forged.gone["p0"]


def test_what_was_said_at_another_step_is_refused() -> None:
    """Seeds in the place of proofs: signed by the right parties, in the right round."""
    kept: dict[str, bytes] = {}

    class Replaying(OdoRehearsal):
        def step(self, name: str, message: Signed) -> None:
            if message.message.kind == "proofs":
                message = Message(TERMS.round, "server", "proofs", kept["openings"]).signed(identity("server"))
            kept[message.message.kind] = message.message.body
            super().step(name, message)

    run = Replaying(TERMS)
    with pytest.raises(ProtocolError):
        run.run()
    assert set(run.gone) == set(TERMS.parties)
    assert "it belongs elsewhere" in run.gone["p0"]


def test_more_liars_than_are_borne_end_a_round_and_break_nothing() -> None:
    """All others deal what nobody can read, or say what is none: whoever is honest refuses, in the protocol's words."""
    for cheat in (Copier, Garbage, WrongToAll):
        run = lied("", lambda name, body: body, **dict.fromkeys(("p1", "p2", "p3"), cheat))
        assert "relay" in run.gone, cheat


def test_a_header_of_other_fields_is_refused() -> None:
    for data in (b"", framed(b""), framed(b"", b"", b"", b""), framed(b"", labelled({}), b"", b"")):
        with pytest.raises(ProtocolError):
            Header.from_bytes(data)
    assert Header.from_bytes(framed(b"", labelled({}))).points == []


def test_fuzzed_bytes_end_in_a_refusal() -> None:
    """One bit is changed, or some bytes go missing, in what each party hears: none of them goes on with that."""
    rng = random.Random(1)

    def broken(name: str, body: bytes) -> bytes:
        place = rng.randrange(len(body))
        return body[:place] + bytes([body[place] ^ (1 << rng.randrange(8))]) + body[place + 1 + rng.randrange(3) :]

    for kind in ("announcements", "delivery", "dealings", "openings", "proofs", "accusations", "defences", "accord"):
        for _ in range(4):
            assert set(lied(kind, broken, **disputed(kind)).gone) >= set(TERMS.parties), kind
