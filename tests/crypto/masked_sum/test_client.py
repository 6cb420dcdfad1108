"""What a client refuses to be talked into."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import ParameterError
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
from discreet.crypto.identity import Roster
from discreet.crypto.masked_sum.client import Client
from discreet.crypto.masked_sum.masks import ANSWERED
from discreet.crypto.masked_sum.server import Server
from discreet.crypto.messages import Message, Signed, framed, labelled, listed, split, unlabelled
from discreet.crypto.rounds.agreement import PublicKeys
from discreet.crypto.rounds.terms import Terms, UsedRounds
from discreet.noise.deterministic import DeterministicBits
from tests.crypto.rehearsal import client_of, from_server, identity, roster, server_of, terms_of, vector_of
from tests.noise.fit import ALARM

TERMS = terms_of(4, 3)


class Stage:
    """Four clients and all that an honest server has told them, up to the answer of this name."""

    def __init__(self, upto: str = "agreements", terms: Terms = TERMS, seed: int = 0) -> None:
        self.terms = terms
        self.clients = [client_of(terms, name, seed) for name in terms.parties]
        self.first = self.clients[0]
        self.answers: dict[str, dict[str, Signed]] = {}
        server, steps = server_of(terms), [self.advertise, self.share_keys, self.mask, self.agree]
        for step, kind in zip(steps, ANSWERED, strict=True):
            for client in self.clients:
                server.receive(step(client))
            self.answers[kind] = self.told(kind, server)
            if kind == upto:
                break

    def told(self, kind: str, server: Server) -> dict[str, Signed]:
        if kind == "delivery":
            return server.deliver()
        ending = {"announcements": server.announce, "survivors": server.survivors, "agreements": server.confirm}[kind]
        return dict.fromkeys(self.terms.parties, ending())

    def advertise(self, client: Client) -> Signed:
        return client.advertise()

    def share_keys(self, client: Client) -> Signed:
        return client.share_keys(self.answers["announcements"][client.name])

    def mask(self, client: Client) -> Signed:
        return client.mask(self.answers["delivery"][client.name], vector_of(self.terms, client.name))

    def agree(self, client: Client) -> Signed:
        return client.agree(self.answers["survivors"][client.name])

    def body(self, kind: str) -> bytes:
        return self.answers[kind]["p0"].message.body

    def lie(self, kind: str, body: bytes) -> Signed:
        return from_server(self.terms, kind, body)


def signed_agreement(name: str, body: bytes, round: str = "r1") -> bytes:
    return Message(round, name, "agreement", body).signed(identity(name)).to_bytes()


def test_a_round_is_joined_once() -> None:
    rounds = UsedRounds()
    Client(identity("p0"), TERMS, roster(TERMS), rounds)
    with pytest.raises(RoundReused):
        Client(identity("p0"), TERMS, roster(TERMS), rounds)


def test_only_parties_of_the_terms_take_part() -> None:
    with pytest.raises(UnknownParty):
        Client(identity("p7"), TERMS, roster(terms_of(8, 5)), UsedRounds())
    with pytest.raises(UnknownParty):
        Client(identity("p0"), TERMS, Roster.of([identity("p0")]), UsedRounds())


def test_a_roster_with_another_key_for_oneself_is_refused() -> None:
    keys = dict(roster(TERMS).keys) | {"p0": identity("p1").public}
    rounds = UsedRounds()
    with pytest.raises(ParameterError, match="another key"):
        Client(identity("p0"), TERMS, Roster(keys), rounds)
    rounds.claim("r1")  # what was refused did not use up the round


def test_answers_are_taken_once_and_in_order() -> None:
    stage = Stage("agreements")
    client = stage.first
    later = [stage.answers[kind]["p0"] for kind in ANSWERED]
    vector = vector_of(TERMS, "p0")
    with pytest.raises(OutOfOrder, match="'announcements' of 'server': it came before"):
        client.share_keys(later[0])
    with pytest.raises(OutOfOrder, match="'delivery' of 'server': it came before"):
        client.mask(later[1], vector)
    with pytest.raises(OutOfOrder, match="'survivors' of 'server': it came before"):
        client.agree(later[2])
    client.reveal(later[3])
    with pytest.raises(OutOfOrder, match="came before"):
        client.reveal(later[3])


def test_no_answer_is_skipped() -> None:
    stage = Stage("agreements")
    fresh = client_of(TERMS, "p0", seed=5)
    with pytest.raises(OutOfOrder, match="announcements is due"):
        fresh.mask(stage.answers["delivery"]["p0"], vector_of(TERMS, "p0"))
    with pytest.raises(OutOfOrder, match="announcements is due"):
        fresh.agree(stage.answers["survivors"]["p0"])
    with pytest.raises(OutOfOrder, match="announcements is due"):
        fresh.reveal(stage.answers["agreements"]["p0"])


def test_the_answer_to_another_step_does_not_pass() -> None:
    stage = Stage("survivors")
    with pytest.raises(OutOfOrder, match="survivors is due"):
        stage.first.agree(stage.lie("agreements", stage.body("survivors")))


def test_an_answer_from_another_round_is_refused() -> None:
    other = Stage("survivors", terms_of(4, 3, round="r2"))
    stage = Stage("survivors")
    with pytest.raises(OutOfOrder, match="belongs to round 'r2'"):
        stage.first.agree(other.answers["survivors"]["p0"])


def test_only_the_server_answers() -> None:
    stage = Stage("announcements")
    signed = Message("r1", "p1", "announcements", stage.body("announcements")).signed(identity("p1"))
    with pytest.raises(UnknownParty, match="'p1' is not the server"):
        stage.first.share_keys(signed)


def test_a_changed_answer_is_refused_and_the_true_one_still_passes() -> None:
    stage = Stage("announcements")
    true = stage.answers["announcements"]["p0"]
    with pytest.raises(BadSignature):
        stage.first.share_keys(dataclasses.replace(true, signature=bytes(64)))
    assert stage.first.share_keys(true).message.kind == "shares"


def test_announced_keys_must_be_signed_for_this_round() -> None:
    stage = Stage("announcements")
    others = Stage("announcements", terms_of(4, 3, round="r2"))
    replayed = unlabelled(others.body("announcements"))["p3"]
    with pytest.raises(OutOfOrder, match="belongs to round 'r2'"):
        stage.first.share_keys(stage.lie("announcements", changed(stage.body("announcements"), p3=replayed)))


def changed(body: bytes, **signed: bytes) -> bytes:
    """What the server passes on, with other messages of some; an empty one is left out."""
    return labelled({name: data for name, data in (unlabelled(body) | signed).items() if data})


def test_announced_keys_come_once_from_each() -> None:
    stage = Stage("announcements")
    signed = unlabelled(stage.body("announcements"))
    twice = framed(listed(signed) + listed(["p2"]), *signed.values(), signed["p2"])
    with pytest.raises(Malformed, match="a name comes twice"):
        stage.first.share_keys(stage.lie("announcements", twice))
    with pytest.raises(BadSignature):
        stage.first.share_keys(stage.lie("announcements", changed(stage.body("announcements"), p3=signed["p2"])))


def test_a_signature_on_keys_must_be_right() -> None:
    stage = Stage("announcements")
    true = unlabelled(stage.body("announcements"))["p3"]
    with pytest.raises(BadSignature):
        stage.first.share_keys(stage.lie("announcements", changed(stage.body("announcements"), p3=forged(true))))


def forged(data: bytes) -> bytes:
    return dataclasses.replace(Signed.from_bytes(data, ""), signature=bytes(64)).to_bytes()


def test_a_client_insists_on_its_own_keys() -> None:
    stage = Stage("announcements")
    body = stage.body("announcements")
    with pytest.raises(Disagreement, match="missing or not its own"):
        stage.first.share_keys(stage.lie("announcements", changed(body, p0=b"")))
    old = client_of(TERMS, "p0", seed=9).advertise().to_bytes()  # its own keys of an earlier run
    with pytest.raises(Disagreement, match="missing or not its own"):
        stage.first.share_keys(stage.lie("announcements", changed(body, p0=old)))


def test_too_few_keys_are_refused() -> None:
    stage = Stage("announcements")
    few = changed(stage.body("announcements"), p2=b"", p3=b"")
    with pytest.raises(TooFewSurvivors, match="2 parties are left at the step of keys"):
        stage.first.share_keys(stage.lie("announcements", few))


def test_a_vector_must_fit_before_anything_is_used_up() -> None:
    stage = Stage("delivery")
    for vector in (np.zeros(4, np.uint64), np.zeros(3), np.zeros((3, 1), np.int64), np.zeros(3, np.int32)):
        with pytest.raises(ParameterError, match="vector of 'p0'"):
            stage.first.mask(stage.answers["delivery"]["p0"], vector)  # type: ignore[arg-type]
    assert stage.mask(stage.first).message.kind == "masked"


def test_masking_leaves_the_vector_alone() -> None:
    stage = Stage("delivery")
    vector = vector_of(TERMS, "p0")
    stage.first.mask(stage.answers["delivery"]["p0"], vector)
    assert np.array_equal(vector, vector_of(TERMS, "p0"))


def test_too_few_sharers_are_refused() -> None:
    stage = Stage("delivery")
    boxes = unlabelled(stage.body("delivery"))
    with pytest.raises(TooFewSurvivors, match="2 parties are left at the step of shares"):
        stage.first.mask(stage.lie("delivery", labelled({"p1": boxes["p1"]})), vector_of(TERMS, "p0"))


def test_boxes_of_another_run_do_not_open() -> None:
    """Even for the same round, parties and senders: their keys were others."""
    stage, earlier = Stage("delivery"), Stage("delivery", seed=7)
    boxes, old = (unlabelled(one.body("delivery")) for one in (stage, earlier))
    for mixed in (boxes | {"p2": old["p2"]}, boxes | {"p2": boxes["p3"]}, boxes | {"p2": b""}):
        with pytest.raises(BadSignature, match="sealed shares of 'p2'"):
            stage.first.mask(stage.lie("delivery", labelled(mixed)), vector_of(TERMS, "p0"))
    stage.mask(stage.first)


def test_boxes_of_strangers_and_own_boxes_are_refused() -> None:
    stage = Stage("delivery")
    boxes = unlabelled(stage.body("delivery"))
    for name in ("p0", "p9"):
        with pytest.raises(Disagreement, match="announced no keys"):
            stage.first.mask(stage.lie("delivery", labelled(boxes | {name: boxes["p1"]})), vector_of(TERMS, "p0"))


def test_a_box_that_holds_no_shares_is_refused_by_its_receiver() -> None:
    stage = Stage("announcements")
    shares = {client.name: stage.share_keys(client) for client in stage.clients}
    boxes = {name: unlabelled(split(shares[name].message.body, 2)[1])["p0"] for name in ("p1", "p2", "p3")}
    cheat = stage.clients[3]
    for content in (framed(bytes(104), bytes(103)), framed(b"\xff" * 104, bytes(104)), framed(bytes(104)), b"junk"):
        bad = cheat._announced_keys.sealed(DeterministicBits(1), "p3", cheat._keys.seal, "p0", content)
        with pytest.raises((Malformed, WrongShares)):
            stage.first.mask(stage.lie("delivery", labelled(boxes | {"p3": bad})), vector_of(TERMS, "p0"))


def test_shares_that_their_dealer_did_not_sign_are_refused_before_the_vector_is_asked_for() -> None:
    """Else their holder would later be taken for the liar."""
    stage = Stage("announcements")
    shares = {client.name: stage.share_keys(client) for client in stage.clients}
    boxes = {name: unlabelled(split(shares[name].message.body, 2)[1])["p0"] for name in ("p1", "p2", "p3")}
    cheat = stage.clients[3]
    seed, key = split(cheat._announced_keys.unsealed("p3", stage.first._keys.seal, "p0", boxes["p3"]), 2)
    for content in (framed(key, seed), framed(seed[:-64] + bytes(64), key), framed(seed, bytes(8) + key[8:])):
        bad = cheat._announced_keys.sealed(DeterministicBits(1), "p3", cheat._keys.seal, "p0", content)
        with pytest.raises(BadSignature, match="'p3' has not signed them"):
            stage.first.mask(stage.lie("delivery", labelled(boxes | {"p3": bad})), never)


def never() -> np.ndarray:
    raise AssertionError


def test_a_weak_key_is_refused_before_the_vector_is_asked_for() -> None:
    """One with which no masks can be agreed on, whichever of the two it is."""
    stage = Stage("announcements")
    good, weak = stage.clients[3]._keys.public.mask, bytes(32)
    for halves in ((weak, good), (good, weak)):
        signed = PublicKeys(*halves).announced(identity("p3"), TERMS)
        with pytest.raises(Malformed, match="keys of 'p3': they are not two keys"):
            server_of(TERMS).receive(signed)
        with pytest.raises(Malformed, match="keys of 'p3': they are not two keys"):
            stage.first.share_keys(
                stage.lie("announcements", changed(stage.body("announcements"), p3=signed.to_bytes()))
            )


@pytest.mark.parametrize(
    ("names", "refused"),
    [
        (("p1", "p2", "p3"), Disagreement),
        (("p0", "p1", "p9"), Disagreement),
        (("p0", "p1"), TooFewSurvivors),
        (("p0", "p1", "p1"), Malformed),
        ((), Disagreement),
    ],
)
def test_lists_of_survivors_that_cannot_be_are_not_signed(names: tuple[str, ...], refused: type[Exception]) -> None:
    stage = Stage("survivors")
    with pytest.raises(refused):
        stage.first.agree(stage.lie("survivors", listed(names)))


def test_one_list_only_is_signed() -> None:
    stage = Stage("survivors")
    stage.first.agree(stage.lie("survivors", listed(("p0", "p1", "p2"))))
    with pytest.raises(OutOfOrder, match="came before"):
        stage.first.agree(stage.lie("survivors", listed(("p0", "p1", "p3"))))


def test_of_many_threads_one_has_a_list_signed() -> None:
    stage = Stage("survivors")
    lists = [stage.lie("survivors", listed(names)) for names in (("p0", "p1", "p2"), ("p0", "p1", "p3")) * 8]

    def signed(survivors: Signed) -> bytes | None:
        try:
            return stage.first.agree(survivors).message.body
        except OutOfOrder:
            return None

    with ThreadPoolExecutor(8) as pool:
        assert sum(body is not None for body in pool.map(signed, lists)) == 1


def test_a_client_cannot_be_copied_to_sign_twice() -> None:
    stage = Stage("survivors")
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            copied(stage.first)


def test_nothing_is_revealed_for_lists_that_differ() -> None:
    """A server that shows two lists gets too few signatures on either."""
    stage = Stage("survivors")
    one, other = listed(("p0", "p1", "p2")), listed(("p0", "p1", "p2", "p3"))
    lists = {"p0": one, "p1": one, "p2": other, "p3": other}
    signed = {c.name: c.agree(stage.lie("survivors", lists[c.name])).to_bytes() for c in stage.clients}
    for client in stage.clients:
        alike = [signed[name] for name in signed if lists[name] == lists[client.name]]
        for count in range(5):
            for some in itertools.combinations(signed.items(), count):
                with pytest.raises((TooFewSurvivors, Disagreement)):
                    client.reveal(stage.lie("agreements", labelled(dict(some))))
        assert len(alike) < TERMS.threshold


def test_nothing_is_revealed_without_enough_signatures() -> None:
    stage = Stage("agreements")
    signed = unlabelled(stage.body("agreements"))
    own = Signed.from_bytes(signed["p0"], "p0").message.body
    attempts: list[tuple[dict[str, bytes], type[Exception]]] = [
        ({}, TooFewSurvivors),
        ({"p2": b""}, BadSignature),
        ({"p2": signed["p1"]}, BadSignature),
        ({"p2": signed_agreement("p2", bytes(32))}, Disagreement),
        ({"p2": signed_agreement("p2", own, round="r2")}, OutOfOrder),
        ({"p2": forged(signed["p2"])}, BadSignature),
        ({"p2": Message("r1", "p2", "masked", own).signed(identity("p2")).to_bytes()}, OutOfOrder),
        ({"server": Message("r1", "server", "agreement", own).signed(identity("server")).to_bytes()}, UnknownParty),
    ]
    two = {name: signed[name] for name in ("p0", "p1")}
    for more, refused in attempts:
        with pytest.raises(refused):
            stage.first.reveal(stage.lie("agreements", labelled(two | more)))
    assert stage.first.reveal(stage.answers["agreements"]["p0"]).message.kind == "reveal"


def test_signatures_of_those_not_on_the_list_do_not_count() -> None:
    stage = Stage("survivors")
    survivors = stage.lie("survivors", listed(("p0", "p1", "p2")))
    signed = {client.name: client.agree(survivors) for client in stage.clients[:3]}
    passed_on = {name: one.to_bytes() for name, one in signed.items()}
    outsider = signed_agreement("p3", signed["p0"].message.body)
    with pytest.raises(Disagreement, match="'p3' signed another list, or is not on it"):
        stage.first.reveal(stage.lie("agreements", labelled(passed_on | {"p3": outsider})))


def test_who_was_shown_other_sharers_signs_another_statement() -> None:
    """The same survivors, but one client was shown fewer sharers."""
    stage = Stage("delivery")
    boxes = unlabelled(stage.body("delivery"))
    fewer = stage.lie("delivery", labelled({name: boxes[name] for name in ("p1", "p2")}))
    stage.first.mask(fewer, vector_of(TERMS, "p0"))
    for client in stage.clients[1:]:
        stage.mask(client)
    survivors = stage.lie("survivors", listed(("p0", "p1", "p2")))
    bodies = [client.agree(survivors).message.body for client in stage.clients[:3]]
    assert bodies[0] != bodies[1] == bodies[2]


def test_who_was_shown_other_keys_signs_another_statement() -> None:
    one, other = (Stage("survivors", seed=seed) for seed in (0, 7))
    assert one.agree(one.first).message.body != other.agree(other.first).message.body


@pytest.mark.parametrize("survivors", [names for k in (3, 4) for names in itertools.combinations(TERMS.parties, k)])
def test_of_each_peer_one_kind_of_share_is_revealed(survivors: tuple[str, ...]) -> None:
    stage = Stage("survivors")
    left = [client for client in stage.clients if client.name in survivors]
    signed = {client.name: client.agree(stage.lie("survivors", listed(survivors))).to_bytes() for client in left}
    for client in left:
        revealed = client.reveal(stage.lie("agreements", labelled(signed)))
        seeds, keys = (unlabelled(part) for part in split(revealed.message.body, 2))
        assert set(seeds) == set(survivors)
        assert set(keys) == set(TERMS.parties) - set(survivors)
        for name, one in client._held.items():
            withheld = one.key if name in survivors else one.seed
            assert withheld.to_bytes() not in revealed.message.body


def test_masked_vectors_are_uniform() -> None:
    """Whatever is masked: here zeros, whose masks would show any pattern. Secrets are fixed, so this cannot alarm."""
    terms = terms_of(3, 2, size=1 << 15)
    stage = Stage("delivery", terms)
    masked = []
    for client in stage.clients:
        body = client.mask(stage.answers["delivery"][client.name], np.zeros(terms.size, np.int64)).message.body
        masked.append(np.frombuffer(body, np.uint64))
    sums = [masked[0] + masked[1], masked[0] - masked[1], masked[0] + masked[1] + masked[2]]
    for words in (*masked, *sums):
        assert stats.chisquare(np.bincount(words.view(np.uint8), minlength=256)).pvalue > ALARM
        assert stats.chisquare(np.bincount((words >> np.uint64(55)).astype(int), minlength=512)).pvalue > ALARM


def test_no_two_runs_use_the_same_masks() -> None:
    zeros = np.zeros(TERMS.size, np.uint64)
    bodies = set()
    for _ in range(3):
        client = Client(identity("p0"), TERMS, roster(TERMS), UsedRounds())
        server = server_of(TERMS)
        others = [client_of(TERMS, name) for name in TERMS.parties[1:]]
        for one in (client, *others):
            server.receive(one.advertise())
        announcements = server.announce()
        for one in (client, *others):
            server.receive(one.share_keys(announcements))
        bodies.add(client.mask(server.deliver()["p0"], zeros).message.body)
    assert len(bodies) == 3
