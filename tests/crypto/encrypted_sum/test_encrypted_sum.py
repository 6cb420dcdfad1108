"""Encrypted sums: exact, with liars named; a relay that lies, copies or replays opens nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.encrypted_sum.encrypted_sum import EncryptedTerms, KeyHolder
from discreet.crypto.encrypted_sum.sealing_party import SealingParty
from discreet.crypto.encrypted_sum.sum_relay import SumRelay
from discreet.crypto.errors import (
    Disagreement,
    Malformed,
    OutOfOrder,
    ProtocolError,
    RoundReused,
    TooFewSurvivors,
    WrongShares,
)
from discreet.crypto.identity import Roster
from discreet.crypto.messages import Message, Signed, labelled, unlabelled
from discreet.crypto.paillier.decryptor import Decryptor, PartialDecryption, check_partial, combined, opened
from discreet.crypto.paillier.encrypted_array import EncryptedArray
from discreet.crypto.paillier.proven_array import ProvenArray
from discreet.crypto.paillier.threshold_key import dealt_from
from discreet.crypto.rounds.speaker import Total
from discreet.crypto.rounds.terms import UsedRounds
from tests.crypto.paillier.small_keys import small_key
from tests.crypto.rehearsal import NAMES, identity

PARTIES, THRESHOLD, SIZE = NAMES[:5], 4, 9


@cache
def holders() -> dict[str, KeyHolder]:
    shares = dealt_from(small_key(), PARTIES, THRESHOLD, "dora")
    return {name: KeyHolder(name, identity(name).secret, shares[name]) for name in PARTIES}


@cache
def roster() -> Roster:
    return Roster.of(identity(name) for name in (*PARTIES, "server"))


def terms(round: str = "r1") -> EncryptedTerms:
    return EncryptedTerms(round, PARTIES, THRESHOLD, SIZE, key=holders()["p0"].dealt.key)


def vector(name: str) -> np.ndarray:
    """Numbers of all sizes, some of which wrap around."""
    rng = np.random.default_rng(sum(name.encode()))
    return rng.integers(-(2**63), 2**63 - 1, SIZE)


class Rehearsal:
    """One run, with these parties in the places of honest ones."""

    def __init__(self, cheats: Mapping[str, type[SealingParty]] | None = None, round: str = "r1") -> None:
        self.relay = SumRelay(identity("server"), terms(round), roster(), UsedRounds())
        kinds = cheats or {}
        self.members = {
            name: kinds.get(name, SealingParty)(holders()[name], terms(round), roster(), UsedRounds())
            for name in PARTIES
        }
        self.gone: dict[str, ProtocolError] = {}
        self.said: dict[str, list[Signed]] = {name: [] for name in PARTIES}

    def run(
        self, leave: Mapping[str, str] | None = None, passed: Callable[[Signed], Signed] = lambda one: one
    ) -> Total:
        """Take all steps; who leaves says nothing any more from that step on."""
        for member in self.members.values():
            self.relay.receive(member.begin())
        while messages := self.relay.passed_on():
            for name, message in messages.items():
                if (leave or {}).get(name) == message.message.kind:
                    self.gone[name] = OutOfOrder("", "", "")
                if name not in self.gone:
                    self.step(name, passed(message))
        return self.relay.total()

    def step(self, name: str, message: Signed) -> None:
        assert len(message.to_bytes()) <= self.members[name].most
        try:
            said = self.members[name].answer(message, lambda: vector(name))
            assert len(said.to_bytes()) <= self.relay.most
            self.said[name].append(said)
            self.relay.receive(Signed.from_bytes(said.to_bytes(), name))
        except ProtocolError as why:
            self.gone[name] = why


def truth(names: tuple[str, ...] = PARTIES) -> np.ndarray:
    return np.array([vector(name).view(np.uint64) for name in names]).sum(axis=0, dtype=np.uint64)


def test_the_sum_is_exact_modulo_two_to_the_64() -> None:
    total = Rehearsal().run()
    assert (total.vector == truth()).all()
    assert total.survivors == PARTIES
    assert total.liars == ()
    assert terms().ciphertexts == 2


def test_who_leaves_late_is_in_the_sum_and_too_many_end_it() -> None:
    early = Rehearsal().run({"p3": "roll"})
    assert early.survivors == ("p0", "p1", "p2", "p4")
    assert (early.vector == truth(early.survivors)).all()
    late = Rehearsal().run({"p3": "sums"})
    assert late.survivors == PARTIES
    assert (late.vector == truth()).all()
    for step in ("roll", "sums"):
        with pytest.raises(TooFewSurvivors, match="4 are needed"):
            Rehearsal().run({"p3": step, "p0": step})


def test_a_share_of_another_key_takes_no_part() -> None:
    """Dealt once more, to the same parties, from the same primes: the public key is the same, the shares are not."""
    again = dealt_from(small_key(), PARTIES, THRESHOLD, "dora")["p0"]
    stranger = KeyHolder("p0", identity("p0").secret, again)
    rounds = UsedRounds()
    for wrong in (stranger, identity("p0")):
        with pytest.raises(ParameterError, match="'p0' has no share of this key"):
            SealingParty(wrong, terms(), roster(), rounds)
    SealingParty(holders()["p0"], terms(), roster(), rounds)


class FalsePart(SealingParty):
    """Gives another number in the place of its part."""

    def _open(self, body: bytes) -> Signed:
        honest = super()._open(body)
        data = bytearray(honest.message.body)
        data[200] ^= 1
        return self._signed("opened", bytes(data))


class Copier(SealingParty):
    """Sends what another has sealed as its own."""

    copied: bytes = b""

    def _seal(self, body: bytes, vector: Callable[[], np.ndarray]) -> Signed:
        super()._seal(body, vector)
        return self._signed("sealed", Copier.copied)


def test_a_party_that_gives_a_false_part_is_named_and_does_no_harm() -> None:
    run = Rehearsal({"p2": FalsePart})
    total = run.run()
    assert (total.vector == truth()).all()
    assert total.liars == ("p2",)
    assert isinstance(run.gone["p2"], WrongShares)
    with pytest.raises(TooFewSurvivors):
        Rehearsal({"p2": FalsePart, "p3": FalsePart}).run()


def test_a_party_that_sends_what_others_have_sealed_is_left_out_and_named() -> None:
    first = Rehearsal()
    first.run()
    Copier.copied = first.said["p1"][0].message.body
    run = Rehearsal({"p4": Copier})
    total = run.run()
    assert total.liars == ("p4",)
    assert (total.vector == truth(PARTIES[:4])).all()


def test_a_relay_cannot_have_fewer_opened_or_one_twice_or_anothers() -> None:
    """What it passes on in the place of all that was sealed; every party refuses, and nothing is opened."""
    old = Rehearsal(round="r0")
    old.run()

    def lied(change: Callable[[dict[str, bytes]], dict[str, bytes]]) -> dict[str, ProtocolError]:
        run = Rehearsal()

        def passed(message: Signed) -> Signed:
            if message.message.kind != "sums":
                return message
            body = labelled(change(unlabelled(message.message.body)))
            return Message("r1", "server", "sums", body).signed(identity("server"))

        with pytest.raises(TooFewSurvivors):
            run.run(passed=passed)
        assert set(run.gone) == set(PARTIES)
        return run.gone

    for name in ("p0", "p1"):
        assert all(isinstance(why, TooFewSurvivors) for why in lied(lambda s, n=name: {n: s[n]}).values())  # type: ignore[misc]
    swapped = lied(lambda s: {**s, "p0": s["p1"], "p1": s["p0"]})
    assert isinstance(swapped["p0"], Disagreement)
    assert "BadSignature" in {type(why).__name__ for why in swapped.values()}
    replayed = lied(lambda s: {name: old.said[name][0].to_bytes() for name in s})
    assert all(isinstance(why, Disagreement) for why in replayed.values())
    mixed = lied(lambda s: {**s, "p0": old.said["p0"][0].to_bytes(), "p1": old.said["p1"][0].to_bytes()})
    assert isinstance(mixed["p2"], OutOfOrder)
    lied(lambda s: {"eve": s["p0"], **{name: s[name] for name in PARTIES[1:]}})


def test_two_different_sums_are_never_both_opened() -> None:
    """The relay shows the sum of all to some and a smaller one to others: at most one has enough parts."""
    run = Rehearsal()
    for member in run.members.values():
        run.relay.receive(member.begin())
    for name, message in run.relay.passed_on().items():
        run.step(name, message)
    sums = unlabelled(next(iter(run.relay.passed_on().values())).message.body)
    smaller = Message("r1", "server", "sums", labelled({n: s for n, s in sums.items() if n != "p0"}))
    larger = Message("r1", "server", "sums", labelled(sums))
    for name in PARTIES[3:]:
        run.step(name, smaller.signed(identity("server")))
    for name in PARTIES[:3]:
        run.step(name, larger.signed(identity("server")))
    assert {name for name, why in run.gone.items() if isinstance(why, WrongShares)} == {"p3", "p4"}
    with pytest.raises(TooFewSurvivors):
        run.relay.total()
    with pytest.raises(OutOfOrder):
        run.members["p3"].answer(larger.signed(identity("server")), lambda: vector("p3"))


def test_rounds_are_run_once_and_on_one_set_of_terms() -> None:
    rounds = UsedRounds()
    SealingParty(holders()["p0"], terms(), roster(), rounds)
    with pytest.raises(RoundReused):
        SealingParty(holders()["p0"], terms(), roster(), rounds)
    other = dataclasses.replace(terms(), size=SIZE + 1)
    relay = SumRelay(identity("server"), other, roster(), UsedRounds())
    with pytest.raises(Disagreement, match="other terms"):
        relay.receive(SealingParty(holders()["p1"], terms(), roster(), UsedRounds()).begin())
    assert other.digest != terms().digest


def test_only_holders_of_this_key_take_part() -> None:
    plain = identity("p0")
    with pytest.raises(ParameterError, match="no share of this key"):
        SealingParty(plain, terms(), roster(), UsedRounds())
    with pytest.raises(ParameterError, match="was dealt no share"):
        SealingParty(KeyHolder("p0", plain.secret), terms(), roster(), UsedRounds())
    with pytest.raises(ParameterError, match="was dealt no share"):
        SealingParty(KeyHolder("p0", plain.secret, holders()["p1"].share), terms(), roster(), UsedRounds())
    with pytest.raises(ParameterError, match="dealt to others"):
        _ = dataclasses.replace(terms(), threshold=5).digest
    shown = repr(holders()["p0"])
    assert str(holders()["p0"].dealt._secret) not in shown


def test_vectors_of_another_shape_are_refused() -> None:
    own = terms()
    for values, packing in (
        (np.zeros(SIZE + 1, int), own.packing),
        (np.zeros(SIZE, int), dataclasses.replace(own.packing, headroom=3)),
    ):
        sent = ProvenArray.made(values, packing, own.held.public, own.sender("p0"))
        with pytest.raises(ProtocolError, match="no vector of this round"):
            own.sealed("p0", sent.to_bytes())


def test_colluders_below_the_threshold_cannot_open_a_single_user() -> None:
    """Three holders and the relay have what p0 sealed, and the honest part of p4 for the sum; four parts are needed."""
    run = Rehearsal()
    run.run()
    single = terms().sealed("p0", run.said["p0"][0].message.body)
    total = EncryptedArray.total(terms().sealed(name, run.said[name][0].message.body) for name in PARTIES)
    key = holders()["p0"].dealt.key
    parts = [Decryptor(holders()[name].dealt).partial("r1", single) for name in PARTIES[1:4]]
    honest = PartialDecryption.from_bytes(run.said["p4"][1].message.body, key)
    check_partial(key, "r1", total, honest)
    with pytest.raises(TooFewSurvivors):
        opened(key, "r1", single, parts)
    with pytest.raises(WrongShares, match="'p4'"):
        opened(key, "r1", single, [*parts, honest])
    try:
        found = combined(key, single, [*parts, honest])
    except (Malformed, WrongShares):
        found = None
    assert found is None or not (found == vector("p0")).all()
    fourth = Decryptor(holders()["p4"].dealt).partial("r1", single)
    assert (opened(key, "r1", single, [*parts, fourth]) == vector("p0")).all()  # what the threshold is there for


def fuzzed(body: bytes, rng: np.random.Generator, whole: bool) -> bytes:
    """Some bytes changed, mostly where lengths are; some cut off."""
    data = bytearray(body)
    for place in rng.integers(0, len(data) if whole else min(len(data), 60), rng.integers(1, 4)):
        data[place] = rng.integers(0, 256)
    return bytes(data if rng.random() < 0.7 else data[: int(rng.integers(0, len(data)))])


def test_ten_thousand_fuzzed_messages_of_each_step_are_refused_or_taken() -> None:
    """At the relay and at a party; whatever happens is an error of the protocol, and the round ends well after it."""
    run, rng = Rehearsal(), np.random.default_rng(17)
    for member in run.members.values():
        run.relay.receive(member.begin())
    victim, parted = run.members["p0"], 0
    while messages := run.relay.passed_on():
        kind = next(iter(messages.values())).message.kind
        good = messages["p0"].message.body
        for turn in range(10_000):
            body = fuzzed(good, rng, turn % 50 == 0)
            wrong = Message("r1", "server", kind, body).signed(identity("server"))
            if kind == "roll" and turn % 100 == 0:  # one that names enough is taken
                victim = SealingParty(holders()["p0"], terms(), roster(), UsedRounds())
            member = victim if kind == "roll" else run.members["p0"]
            if body != good:
                parted += refused(lambda wrong=wrong, member=member: member.answer(wrong, lambda: vector("p0")))  # type: ignore[misc]
        for name, message in messages.items():
            said = run.members[name].answer(message, lambda name=name: vector(name))  # type: ignore[misc]
            for turn in range(10_000 if name == "p1" else 0):
                body = fuzzed(said.message.body, rng, turn % 50 == 0)
                if body != said.message.body:
                    wrong = Message("r1", name, said.message.kind, body).signed(identity(name))
                    parted += refused(lambda wrong=wrong: run.relay.receive(wrong))  # type: ignore[misc]
            run.relay.receive(said)
    assert (run.relay.total().vector == truth()).all()
    assert parted > 35_000


def refused(job: Callable[[], object]) -> bool:
    """Whether it was refused as an error of the protocol."""
    try:
        job()
    except ProtocolError:
        return True
    return False
