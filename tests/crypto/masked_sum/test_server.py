"""What a server refuses, and what it makes of what it accepts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from discreet.core.bits import Bits
from discreet.crypto.errors import (
    BadSignature,
    Disagreement,
    Malformed,
    OutOfOrder,
    RoundReused,
    TooFewSurvivors,
    UnknownParty,
    WrongShares,
)
from discreet.crypto.fields.field import Elements, add, elements, uniform_elements
from discreet.crypto.masked_sum import client as client_module
from discreet.crypto.masked_sum.client import Client
from discreet.crypto.masked_sum.server import Server
from discreet.crypto.messages import Message, Signed, framed, labelled, split, unlabelled
from discreet.crypto.rounds.terms import UsedRounds
from discreet.crypto.sharing.shamir import Deal, ShamirShare, share
from tests.crypto.rehearsal import Rehearsal, client_of, identity, roster, server_of, sum_of, terms_of, vector_of

TERMS = terms_of(4, 3)


def signed_by(name: str, kind: str, body: bytes, round: str = "r1") -> Signed:
    return Message(round, name, kind, body).signed(identity(name))


def at_masked() -> tuple[Server, list[Client], dict[str, Signed]]:
    run = Rehearsal(TERMS)
    clients = list(run.clients.values())
    for client in clients:
        run.carry(client.advertise())
    announcements = run.server.announce()
    for client in clients:
        run.carry(client.share_keys(announcements))
    boxes = run.server.deliver()
    return run.server, clients, {c.name: c.mask(boxes[c.name], vector_of(TERMS, c.name)) for c in clients}


def at_reveal(vanished: int = 0) -> tuple[Server, dict[str, Signed]]:
    server, clients, masked = at_masked()
    left = clients[vanished:]
    for client in left:
        server.receive(masked[client.name])
    survivors = server.survivors()
    for client in left:
        server.receive(client.agree(survivors))
    agreements = server.confirm()
    return server, {client.name: client.reveal(agreements) for client in left}


def test_a_round_is_run_once() -> None:
    rounds = UsedRounds()
    Server(identity("server"), TERMS, roster(TERMS), rounds)
    with pytest.raises(RoundReused):
        Server(identity("server"), TERMS, roster(TERMS), rounds)


def test_only_the_server_of_the_terms_serves() -> None:
    with pytest.raises(Disagreement, match="'p0' is not the server"):
        Server(identity("p0"), TERMS, roster(TERMS), UsedRounds())


def test_a_message_counts_once() -> None:
    server, clients, masked = at_masked()
    server.receive(masked["p0"])
    with pytest.raises(OutOfOrder, match="'masked' of 'p0': it came before"):
        server.receive(masked["p0"])
    for name in ("p1", "p2"):
        server.receive(masked[name])
    survivors = server.survivors()
    for client in clients[:3]:
        server.receive(client.agree(survivors))
    agreements = server.confirm()
    for client in clients[:3]:
        server.receive(client.reveal(agreements))
    assert np.array_equal(server.total().vector, sum_of(TERMS, ("p0", "p1", "p2")))


def test_messages_out_of_order_are_refused() -> None:
    server, clients, masked = at_masked()
    with pytest.raises(OutOfOrder, match="'keys' of 'p0': it came before"):
        server.receive(clients[0].advertise())
    with pytest.raises(OutOfOrder, match="masked is due"):
        server.receive(signed_by("p0", "reveal", b""))
    fresh = server_of(TERMS)
    with pytest.raises(OutOfOrder, match="keys is due"):
        fresh.receive(masked["p0"])


def test_who_comes_too_late_is_refused() -> None:
    server = server_of(TERMS)
    clients = [client_of(TERMS, name) for name in TERMS.parties]
    for client in clients[:3]:
        server.receive(client.advertise())
    announcements = server.announce()
    with pytest.raises(OutOfOrder, match="the server is at the step of shares"):
        server.receive(clients[3].advertise())
    with pytest.raises(Disagreement, match="missing or not its own"):
        clients[3].share_keys(announcements)


def test_a_late_vector_is_not_added() -> None:
    server, _, masked = at_masked()
    for name in ("p0", "p1", "p2"):
        server.receive(masked[name])
    server.survivors()
    with pytest.raises(OutOfOrder, match="the server is at the step of agreement"):
        server.receive(masked["p3"])
    assert np.array_equal(server._masked, sum(np.frombuffer(masked[f"p{i}"].message.body, np.uint64) for i in range(3)))


def test_messages_of_other_rounds_are_refused() -> None:
    server = server_of(TERMS)
    other = client_of(terms_of(4, 3, round="r0"), "p0").advertise()
    with pytest.raises(OutOfOrder, match="belongs to round 'r0'"):
        server.receive(other)
    moved = dataclasses.replace(signed_by("p0", "keys", other.message.body), signature=other.signature)
    with pytest.raises(BadSignature):
        server.receive(moved)


def test_keys_for_other_terms_are_refused() -> None:
    with pytest.raises(Disagreement, match="other terms"):
        server_of(TERMS).receive(client_of(terms_of(4, 4), "p0").advertise())


def test_strangers_are_refused() -> None:
    server = server_of(TERMS)
    with pytest.raises(UnknownParty):
        server.receive(signed_by("p9", "keys", b""))
    with pytest.raises(UnknownParty, match="'server' takes no part"):
        server.receive(signed_by("server", "keys", b""))


def test_a_refused_message_can_be_sent_again_rightly() -> None:
    server = server_of(TERMS)
    clients = [client_of(TERMS, name) for name in TERMS.parties]
    true = clients[0].advertise()
    with pytest.raises(BadSignature):
        server.receive(dataclasses.replace(true, signature=bytes(64)))
    with pytest.raises(Malformed):
        server.receive(signed_by("p0", "keys", b"junk"))
    server.receive(true)


def test_a_copied_key_is_refused() -> None:
    server, one = server_of(TERMS), client_of(TERMS, "p0")
    server.receive(one.advertise())
    with pytest.raises(Disagreement, match="the same one"):
        server.receive(one._keys.public.announced(identity("p1"), TERMS))


@pytest.mark.parametrize("kind", ["shares", "masked", "agreement", "reveal"])
@pytest.mark.parametrize("body", [b"", b"junk", framed(b"1", b"2"), framed(bytes(32), labelled({})), bytes(32)])
def test_bodies_that_cannot_be_are_refused(kind: str, body: bytes) -> None:
    run = Rehearsal(TERMS)
    refused = []

    def carry(signed: Signed) -> None:
        if signed.message.kind == kind:
            with pytest.raises((Malformed, Disagreement)):
                run.server.receive(signed_by(signed.message.sender, kind, body))
            refused.append(signed.message.sender)
        Rehearsal.carry(run, signed)

    run.carry = carry  # type: ignore[method-assign]
    assert np.array_equal(run.run().vector, sum_of(TERMS, TERMS.parties))
    assert len(refused) == 4


def test_boxes_must_be_for_all_others() -> None:
    run = Rehearsal(TERMS)
    for client in run.clients.values():
        run.carry(client.advertise())
    true = run.clients["p0"].share_keys(run.server.announce())
    commitment, part = split(true.message.body, 2)
    boxes = unlabelled(part)
    for wrong in (
        {name: boxes[name] for name in ("p1", "p2")},
        boxes | {"p0": b""},
        boxes | {"p9": b""},
    ):
        with pytest.raises(Malformed, match="one for each other party"):
            run.server.receive(signed_by("p0", "shares", framed(commitment, labelled(wrong))))
    run.server.receive(true)


def test_an_agreement_to_something_else_is_refused() -> None:
    server, clients, masked = at_masked()
    for client in clients:
        server.receive(masked[client.name])
    server.survivors()
    with pytest.raises(Disagreement, match="shown other keys, sharers or survivors"):
        server.receive(signed_by("p0", "agreement", bytes(32)))


@pytest.mark.parametrize("step", ["announce", "deliver", "survivors", "confirm", "total"])
def test_no_step_ends_before_its_turn(step: str) -> None:
    server = server_of(TERMS)
    refused = TooFewSurvivors if step == "announce" else OutOfOrder
    with pytest.raises(refused):
        getattr(server, step)()


def test_too_few_can_be_waited_for() -> None:
    server, revealed = at_reveal()
    for name in ("p0", "p1"):
        server.receive(revealed[name])
        with pytest.raises(TooFewSurvivors, match="at the step of reveal and 3 are needed"):
            server.total()
    server.receive(revealed["p3"])
    assert np.array_equal(server.total().vector, sum_of(TERMS, TERMS.parties))


def test_there_is_one_total() -> None:
    server, revealed = at_reveal()
    for signed in revealed.values():
        server.receive(signed)
    assert server.total().survivors == TERMS.parties
    with pytest.raises(OutOfOrder, match="at the step of nothing"):
        server.total()


def revealed_with(true: Signed, part: int, change: bytes | None) -> Signed:
    """What was revealed, with a share of p1 or p0 changed, left out or moved to the other kind."""
    parts = [unlabelled(data) for data in split(true.message.body, 2)]
    owner = next(iter(parts[part]))
    if change is None:
        parts[1 - part][owner] = parts[part].pop(owner)
    else:
        parts[part][owner] = change
    return signed_by(true.message.sender, "reveal", framed(*(labelled(one) for one in parts)))


@pytest.mark.parametrize("part", [0, 1])
def test_a_share_of_the_wrong_kind_is_refused(part: int) -> None:
    server, revealed = at_reveal(vanished=1)
    with pytest.raises(Malformed, match="not a seed's of every survivor"):
        server.receive(revealed_with(revealed["p1"], part, None))
    server.receive(revealed["p1"])


def test_shares_of_both_kinds_are_not_taken() -> None:
    """Nor is a key left out: a server that follows the protocol does not even want to know more."""
    server, revealed = at_reveal(vanished=1)
    seeds, keys = (unlabelled(data) for data in split(revealed["p1"].message.body, 2))
    for wrong in (keys | {"p1": keys["p0"]}, {}):
        with pytest.raises(Malformed, match="a key's of everyone else"):
            server.receive(signed_by("p1", "reveal", framed(labelled(seeds), labelled(wrong))))


FALSE = [bytes(8) * 5, (1).to_bytes(8, "little") * 5]


@pytest.mark.parametrize("part", [0, 1])
def test_a_false_share_that_is_needed_gives_an_error_that_names_the_liar(part: int) -> None:
    """With no share to spare, and for seeds and keys alike."""
    for liar in ("p1", "p2", "p3"):
        for change in FALSE:
            server, revealed = at_reveal(vanished=1)
            for name, one in revealed.items():
                server.receive(revealed_with(one, part, signed_over(one, part, change)) if name == liar else one)
            with pytest.raises(WrongShares, match=f"'{liar}' gave false shares, 2 true ones are left") as refused:
                server.total()
            assert refused.value.values["liars"] == (liar,)
            assert "Nothing was opened" in str(refused.value)


def signed_over(true: Signed, part: int, values: bytes) -> bytes:
    """Other values before the signature on the true ones."""
    return values + next(iter(unlabelled(split(true.message.body, 2)[part]).values()))[-64:]


def test_one_false_share_of_four_does_no_harm_and_its_giver_is_named() -> None:
    for liar in TERMS.parties:
        server, revealed = at_reveal()
        for name, one in revealed.items():
            server.receive(revealed_with(one, 0, signed_over(one, 0, FALSE[0])) if name == liar else one)
        total = server.total()
        assert np.array_equal(total.vector, sum_of(TERMS, TERMS.parties))
        assert total.liars == (liar,)


def test_as_many_may_lie_as_may_drop_out() -> None:
    """Seven parties of whom four are enough: one drops out, and two lie about everybody."""
    terms = terms_of(7, 4)
    run, liars = Rehearsal(terms, steps={"p6": 2}), ("p0", "p3")
    carry = run.carry

    def lied(signed: Signed) -> None:
        if signed.message.kind == "reveal" and signed.sender in liars:
            parts = [unlabelled(data) for data in split(signed.message.body, 2)]
            false = [labelled({name: FALSE[1] + bytes(64) for name in part}) for part in parts]
            signed = signed_by(signed.sender, "reveal", framed(*false))
        carry(signed)

    run.carry = lied  # type: ignore[method-assign]
    total = run.run()
    assert np.array_equal(total.vector, sum_of(terms, terms.parties[:6]))
    assert total.liars == liars


def test_a_true_share_of_something_else_is_false() -> None:
    """Of another dealer, or of the same dealer's other secret."""
    server, revealed = at_reveal(vanished=1)
    seeds, keys = (unlabelled(data) for data in split(revealed["p1"].message.body, 2))
    for wrong in (seeds | {"p2": seeds["p3"]}, seeds | {"p2": keys["p0"]}):
        server, revealed = at_reveal(vanished=1)
        server.receive(signed_by("p1", "reveal", framed(labelled(wrong), labelled(keys))))
        for name in ("p2", "p3"):
            server.receive(revealed[name])
        with pytest.raises(WrongShares, match="'p1' gave false shares"):
            server.total()


@pytest.mark.parametrize("lie", ["shares of something else", "shares of no polynomial"])
def test_a_dealer_whose_true_shares_give_nothing_is_named(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not those who hold them."""
    deal = share

    def false(bits: Bits, secret: Elements, terms: Deal) -> list[ShamirShare]:
        dealt = deal(bits, secret, terms)
        if lie == "shares of something else":
            return [ShamirShare(terms, one.index, add(one.values, elements([1] * one.values.size))) for one in dealt]
        return [ShamirShare(terms, one.index, uniform_elements(bits, one.values.size)) for one in dealt]

    run = Rehearsal(TERMS)
    share_keys = run.clients["p2"].share_keys

    def falsely(announcements: Signed) -> Signed:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(client_module, "share", false)
            return share_keys(announcements)

    monkeypatch.setattr(run.clients["p2"], "share_keys", falsely)
    with pytest.raises(WrongShares, match="'p2' dealt shares that do not give what it committed to") as refused:
        run.run()
    assert refused.value.values["liars"] == ("p2",)


@pytest.mark.parametrize("part", [0, 1])
def test_small_changes_of_a_share_are_noticed_too(part: int) -> None:
    """Such as leave every piece of the secret in its range, so that the bytes look right."""
    server, revealed = at_reveal(vanished=1)
    shares = unlabelled(split(revealed["p1"].message.body, 2)[part])
    values = np.frombuffer(next(iter(shares.values()))[:-64], "<u8").copy()
    weight = _weight(TERMS.index("p1"), [TERMS.index(name) for name in revealed])
    values[1] = (int(values[1]) + pow(weight, -1, 2**61 - 1)) % (2**61 - 1)  # moves the second piece by one
    server.receive(revealed_with(revealed["p1"], part, signed_over(revealed["p1"], part, values.tobytes())))
    for name in ("p2", "p3"):
        server.receive(revealed[name])
    with pytest.raises(WrongShares, match="'p1' gave false shares"):
        server.total()


def _weight(index: int, indices: list[int]) -> int:
    prime, above, below = 2**61 - 1, 1, 1
    for other in indices:
        if other != index:
            above, below = above * -other % prime, below * (index - other) % prime
    return above * pow(below, -1, prime) % prime


def test_shares_of_elements_out_of_range_are_refused() -> None:
    server, revealed = at_reveal()
    for change in (b"\xff" * 104, bytes(96), bytes(112), bytes(40), b""):
        with pytest.raises((WrongShares, Malformed)):
            server.receive(revealed_with(revealed["p0"], 0, change))
