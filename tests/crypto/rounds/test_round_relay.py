"""What every relay does that hears parties step by step: who is heard, when, and when a step may end."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import (
    BadSignature,
    Disagreement,
    OutOfOrder,
    RoundReused,
    TooFewSurvivors,
    UnknownParty,
    WrongShares,
)
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Message, Signed
from discreet.crypto.rounds.round_relay import RoundRelay
from discreet.crypto.rounds.speaker import Total
from discreet.crypto.rounds.terms import Terms, UsedRounds
from discreet.noise.deterministic import DeterministicBits

NAMES = ("ann", "bob", "cas")
PEOPLE = {name: Identity.drawn(name, DeterministicBits(place)) for place, name in enumerate((*NAMES, "server"))}
ROSTER, TERMS = Roster.of(PEOPLE.values()), Terms("r1", NAMES, threshold=2, size=1)


class Adding(RoundRelay[Terms]):
    """Two steps: a greeting, and a number that must be small."""

    def __init__(self, identity: Identity = PEOPLE["server"], rounds: UsedRounds | None = None) -> None:
        super().__init__(identity, TERMS, ROSTER, rounds or UsedRounds(), ("hello", "number"))
        self.sum = 0

    def passed_on(self) -> Mapping[str, Signed]:
        said = self._ended()
        self.step = "number" if self.step == "hello" else "nothing"
        return dict.fromkeys(said, self._signed("go", b"on"))

    def total(self) -> Total:
        self._check_step("nothing", "total")
        return Total(np.array([self.sum], np.uint64), NAMES, ())

    def _take(self, message: Message) -> None:
        if message.kind == "number" and len(message.body) != 1:
            raise WrongShares("number", "it is large", "")
        self.sum += int.from_bytes(message.body, "big")


def said(name: str, kind: str, body: bytes = b"") -> Signed:
    return Message("r1", name, kind, body).signed(PEOPLE[name])


def test_steps_are_taken_by_enough_and_in_turn() -> None:
    relay = Adding()
    for name in ("ann", "bob"):
        relay.receive(said(name, "hello"))
    answer = relay.passed_on()
    assert list(answer) == ["ann", "bob"]
    assert answer["ann"].verified(ROSTER).body == b"on"
    with pytest.raises(OutOfOrder):
        relay.receive(said("cas", "hello"))  # too late
    relay.receive(said("ann", "number", b"\3"))
    with pytest.raises(OutOfOrder):
        relay.total()
    with pytest.raises(TooFewSurvivors):
        relay.passed_on()
    relay.receive(said("bob", "number", b"\4"))
    relay.passed_on()
    assert relay.total().vector.tolist() == [7]
    assert relay.most == TERMS.most


def test_nobody_is_ahead_of_the_relay() -> None:
    relay = Adding()
    relay.receive(said("ann", "hello"))
    with pytest.raises(OutOfOrder, match="the relay is at the step of hello"):
        relay.receive(said("ann", "number", b"\3"))
    with pytest.raises(TooFewSurvivors):
        relay.passed_on()
    assert relay.sum == 0


def test_who_is_not_who_it_says_is_not_heard() -> None:
    relay = Adding()
    forged = dataclasses.replace(said("ann", "hello"), signature=said("bob", "hello").signature)
    with pytest.raises(BadSignature):
        relay.receive(forged)
    with pytest.raises(UnknownParty):
        relay.receive(said("server", "hello"))
    relay.receive(said("ann", "hello"))  # what was refused has used up nothing
    with pytest.raises(OutOfOrder):
        relay.receive(said("ann", "hello"))


def test_what_is_refused_for_what_it_says_may_be_said_again() -> None:
    relay = Adding()
    for name in NAMES:
        relay.receive(said(name, "hello"))
    relay.passed_on()
    with pytest.raises(WrongShares):
        relay.receive(said("ann", "number", b"12"))
    relay.receive(said("ann", "number", b"\1"))
    assert relay.sum == 1


def test_only_the_server_of_the_terms_relays_and_each_round_once() -> None:
    with pytest.raises(Disagreement):
        Adding(PEOPLE["ann"])
    with pytest.raises(ParameterError):
        Adding(Identity.drawn("server", DeterministicBits(99)))
    rounds = UsedRounds()
    Adding(rounds=rounds)
    with pytest.raises(RoundReused):
        Adding(rounds=rounds)
