"""A party's end of the line: answers what is due, is silent about the rest, and never dies of a question."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import discreet.trust.network.serving as serving_module
from discreet.core.neighbors import Neighbors
from discreet.crypto.errors import TooFewSurvivors
from discreet.crypto.masked_sum.server import Server
from discreet.crypto.messages import Message, Signed, labelled
from discreet.crypto.rounds.terms import UsedRounds
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.questions.recipe import Recipe
from discreet.trust.call import Call
from discreet.trust.network.link import Link, called
from discreet.trust.network.serving import Serving
from discreet.trust.party import REFUSAL, Party, Seat
from tests.trust.network.stage import HEADS, NAMES, NOISE, Stage, counted, federation, heads_of, identity, party, server


def call(noise: Gaussian = NOISE) -> Call:
    return Call.of(HEADS, noise.event, federation())


def asked(round: str, body: bytes | None = None, kind: str = "call", sender: str = "server") -> bytes:
    body = call().written() if body is None else body
    return Message(round, sender, kind, body).signed(identity(sender)).to_bytes()


class Hall:
    """Four parties and the server of one round, who pass bytes to each other by hand."""

    def __init__(self, round: str = "r1") -> None:
        self.told: list[str] = []
        self.parties = {name: party(name) for name in NAMES}
        self.servings = {name: Serving(one, self.told.append) for name, one in self.parties.items()}
        self.seats: dict[str, Seat | None] = dict.fromkeys(NAMES)
        terms = federation().terms(round, 3, call().about(federation()))
        self.server = Server(identity("server"), terms, federation().roster, UsedRounds())

    def says(self, name: str, data: bytes) -> Signed | None:
        self.seats[name], answer = self.servings[name]._answered(self.seats[name], data)
        return answer

    def step(self, messages: dict[str, bytes]) -> None:
        for name, data in messages.items():
            answer = self.says(name, data)
            assert answer is not None
            self.server.receive(answer)


def test_a_round_by_hand_gives_the_sum() -> None:
    hall = Hall()
    hall.step(dict.fromkeys(NAMES, asked("r1")))
    hall.step(dict.fromkeys(NAMES, hall.server.announce().to_bytes()))
    hall.step({name: one.to_bytes() for name, one in hall.server.deliver().items()})
    hall.step(dict.fromkeys(NAMES, hall.server.survivors().to_bytes()))
    hall.step(dict.fromkeys(NAMES, hall.server.confirm().to_bytes()))
    assert hall.server.total().survivors == NAMES
    assert "takes part: heads() with" in hall.told[0]


def test_every_byte_of_a_message_counts() -> None:
    """A message with any one byte changed is not answered, and does no harm to the round."""
    hall, data = Hall(), asked("r1")
    for place in range(len(data)):
        assert hall.says("north", data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]) is None
    hall.step(dict.fromkeys(NAMES, data))
    announcements = hall.server.announce().to_bytes()
    for place in range(0, len(announcements), 7):
        changed = announcements[:place] + bytes([announcements[place] ^ 128]) + announcements[place + 1 :]
        assert hall.says("north", changed) is None
    assert hall.says("north", announcements) is not None


def test_what_is_not_due_is_not_answered() -> None:
    hall = Hall()
    assert hall.says("north", asked("r1", b"", "announcements")) is None
    hall.step(dict.fromkeys(NAMES, asked("r1")))
    seat = hall.seats["north"]
    for data in (
        asked("r1"),
        asked("r1", b"", "survivors"),
        asked("r1", b"", "keys"),
        asked("r0", b"", "announcements"),
        asked("r1", b"", "no such step"),
        asked("r2", sender="west"),
        b"",
        b"garbage",
    ):
        assert hall.says("north", data) is None
        assert hall.seats["north"] is seat


def test_an_old_call_is_refused_and_the_present_seat_kept() -> None:
    hall = Hall("r2")
    hall.says("north", asked("r1"))
    hall.step(dict.fromkeys(NAMES, asked("r2")))
    answer = hall.says("north", asked("r1"))
    assert answer is not None
    assert (answer.message.kind, answer.message.round) == (REFUSAL, "r1")
    assert b"it was run already" in answer.message.body
    assert hall.says("north", hall.server.announce().to_bytes()) is not None


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "it is not one"),
        (b"\xff", "it is not one"),
        (b"[" * 100_000, "it is not one"),
        (b'["{}", "{}"]', "it is not one"),
        (Call(Recipe("os:system", {"x": 1}), NOISE.event).written(), "not among the packages"),
        (Call(Recipe("nothing", {}), NOISE.event).written(), "has no recipe"),
        (
            Call(Recipe("count", {"column": "zip"}), NOISE.event).written(),
            "'zip': the schema has none",
        ),
        (dataclasses.replace(call(), event=Gaussian(1e-9).event).written(), "share of noise"),
        (dataclasses.replace(call(), built="something else").written(), "the asker has something else"),
    ],
)
def test_a_call_that_cannot_be_answered_is_refused_in_words(body: bytes, words: str) -> None:
    hall = Hall()
    answer = hall.says("north", asked("r1", body))
    assert answer is not None
    assert answer.message.kind == REFUSAL
    assert words in answer.message.body.decode()
    assert hall.seats["north"] is None


def test_a_lying_server_is_told_off_and_the_seat_given_up() -> None:
    hall = Hall()
    hall.step(dict.fromkeys(NAMES, asked("r1")))
    short = Message("r1", "server", "announcements", labelled({})).signed(identity("server"))
    answer = hall.says("north", short.to_bytes())
    assert answer is not None
    assert "0 parties are left at the step of keys" in answer.message.body.decode()
    assert hall.seats["north"] is None


class Torn:
    """A table that cannot be read any more."""

    def __init__(self, table: Any) -> None:
        self.schema, self.unit, self._table = table.schema, table.unit, table

    def sum(self, question: Any) -> np.ndarray:
        raise RuntimeError("could not convert 'Ann Smith, 1971' to a number")

    def units(self) -> int:
        raise RuntimeError("could not convert 'Ann Smith, 1971' to a number")


def torn(name: str, **options: Any) -> Party:
    one = party(name, **options)
    one.source = Torn(one.source)  # type: ignore[assignment]
    return one


def test_a_table_that_cannot_be_read_is_told_to_its_owner_alone_and_quotes_no_record() -> None:
    """To the server it is a table without records."""
    with Stage() as stage:
        playing = {name: stage.listens(torn(name) if name == "north" else party(name)) for name in NAMES}
        with server([one.address for one in playing.values()]) as trust:
            assert counted(trust.ask(HEADS, NOISE)) == heads_of("east", "south", "west")
        told = playing["north"].tells("FAILED to add up its records and sent noise alone")
        assert "RuntimeError" in told
        assert "Smith" not in "".join(playing["north"].told)
        assert not any("refuses" in line for line in playing["north"].told)


def test_one_who_cannot_count_its_units_says_no_hello_and_tells_its_owner() -> None:
    agreed = dataclasses.replace(federation(4), neighbors=Neighbors.REPLACE)
    with Stage() as stage:
        playing = stage.listens(torn("north", federation=agreed))
        with server([playing.address], patience=0.2) as trust, pytest.raises(TooFewSurvivors):
            trust.ask(HEADS, NOISE)
        told = playing.tells("could not be read")
    assert "Smith" not in told


def test_a_party_answers_the_server_alone() -> None:
    with Stage() as stage:
        playing = stage.listens(party("north"))

        async def knock() -> None:
            link = await called(playing.address, identity("west"), federation())
            with pytest.raises(ConnectionError):
                await link.receive(1 << 20)
            await link.down()

        stage.run(knock())
        playing.tells("west is at the other end, who is not the server")


def test_a_party_takes_no_more_than_a_call_and_then_what_the_terms_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed: list[int] = []
    receive = Link.receive

    async def noted(link: Link, most: int) -> bytes:
        allowed.append(most)
        return await receive(link, most)

    monkeypatch.setattr(serving_module, "LONGEST_CALL", 1000)
    with Stage() as stage:
        playing = stage.listens(party("north"))

        async def ask() -> None:
            link = await called(playing.address, identity("server"), federation())
            await link.receive(1 << 16)
            monkeypatch.setattr(Link, "receive", noted)
            await link.send(asked("r1"))
            await link.receive(1 << 16)
            await link.send(bytes(10_000))
            with pytest.raises(ConnectionError):
                await link.receive(1 << 16)

        stage.run(ask())
        terms = federation().terms("r1", 3, b"")
        told = playing.tells("is broken")
        assert f"a frame of 10000 bytes where {terms.passed_on} are the most" in told
        assert {one for one in allowed if one < 1 << 16} == {terms.passed_on}


def test_a_refusal_is_short() -> None:
    hall = Hall()
    body = Call(Recipe("count", {"column": "zip" * 10_000}), NOISE.event).written()
    answer = hall.says("north", asked("r1", body))
    assert answer is not None
    assert len(answer.message.body) == 1024
