"""Keeper, judge and desk over TLS: answers, refusals, and what comes of frames that nobody should send."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from discreet.core.errors import DiscreetError, NotPermitted
from discreet.crypto.errors import BadSignature, Malformed, ProtocolError
from discreet.crypto.messages import Message, Signed
from discreet.trust.matching.match_line import FAILED, Answer, MatchService, answered
from discreet.trust.matching.match_members import SCORES_OF, MatchMembers
from discreet.trust.matching.match_question import MatchQuestion
from discreet.trust.network.link import called
from tests.trust.matching.made_members import card, cast, identity, near

DESKS = (card("desk"), card("gate"))


@asynccontextmanager
async def listening(name: str, answer: Answer, told: list[str], longest: int = 1 << 20) -> AsyncIterator[str]:
    service = MatchService(identity(name), MatchMembers(card(name), DESKS), answer, told.append, longest)
    task = asyncio.ensure_future(service.listen("127.0.0.1:0"))
    while not told:
        await asyncio.sleep(0.01)
    try:
        yield told[0].rpartition(" ")[2]
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def test_a_desk_asks_the_keeper_and_has_the_judge_decide(tmp_path: Path) -> None:
    play = cast(tmp_path, most=2)

    async def walk() -> list[bool]:
        desk, found = identity("desk"), []
        keepers, judges = MatchMembers(card("keeper"), DESKS), MatchMembers(card("judge"), DESKS)
        async with (
            listening("keeper", play.keeper.answer, []) as keeper_at,
            listening("judge", play.judge.answer, []) as judge_at,
        ):
            for template in (5, 4):
                question = MatchQuestion.by_anybody(near(5), desk, card("keeper"), play.key.keys, template)
                scores = await answered(keeper_at, desk, keepers, question.asked)
                said = await answered(judge_at, desk, judges, question.to_judge(scores))
                found.append(question.decision(said, card("judge")))
            with pytest.raises(NotPermitted, match="2 are the most"):
                await answered(keeper_at, desk, keepers, question.asked)
        return found

    assert asyncio.run(walk()) == [True, False]


def test_refusals_come_as_errors_of_their_kind_and_mistakes_show_nothing(tmp_path: Path) -> None:
    told: list[str] = []

    def answer(signed: Signed) -> Signed:
        match signed.message.body:
            case b"malformed":
                raise Malformed("query", "it is wrong")
            case b"other":
                raise DiscreetError("something", "it is not so")
            case _:
                raise ZeroDivisionError("the secret is 42")

    async def refused(body: bytes) -> DiscreetError:
        desk = identity("desk")
        asked = Message("0" * 32, "desk", SCORES_OF, body).signed(desk)
        async with listening("keeper", answer, told) as at:
            with pytest.raises(DiscreetError) as caught:
                await answered(at, desk, MatchMembers(card("keeper"), DESKS), asked)
        return caught.value

    assert type(asyncio.run(refused(b"malformed"))) is Malformed
    told.clear()
    assert type(asyncio.run(refused(b"other"))) is ProtocolError
    told.clear()
    mistake = asyncio.run(refused(b"mistake"))
    assert FAILED in str(mistake)
    assert "42" not in str(mistake) + " ".join(told)
    assert told[-1] == "desk: ZeroDivisionError"


def test_frames_that_are_too_long_forged_or_garbled_end_in_a_refusal_or_a_broken_line(tmp_path: Path) -> None:
    play, told = cast(tmp_path), list[str]()

    async def walk() -> None:
        desk, members = identity("desk"), MatchMembers(card("keeper"), DESKS)
        async with listening("keeper", play.keeper.answer, told, longest=100_000) as at:
            link = await called(at, desk, members)
            await link.send(bytes(100_001))
            with pytest.raises(ConnectionError):
                await link.receive(1 << 20)
            question = MatchQuestion.by_owner(near(0), desk, card("keeper"), play.key)
            with pytest.raises(ProtocolError):
                await answered(at, desk, members, Signed("desk", question.asked.written, bytes(64)))
            with pytest.raises(ProtocolError):
                await answered(at, desk, members, Signed("desk", b"", b""))
            assert len(question.scores(await answered(at, desk, members, question.asked)).opened(play.key)) == 6

    asyncio.run(walk())
    assert any("100001 bytes" in line for line in told)


def test_an_answer_of_somebody_else_is_refused(tmp_path: Path) -> None:
    play = cast(tmp_path)

    def forged(signed: Signed) -> Signed:
        said = play.keeper.answer(signed)
        return Signed(said.sender, said.written, identity("gate").sign(said.written))

    async def walk() -> None:
        desk = identity("desk")
        async with listening("keeper", forged, []) as at:
            question = MatchQuestion.by_owner(near(0), desk, card("keeper"), play.key)
            with pytest.raises(BadSignature):
                await answered(at, desk, MatchMembers(card("keeper"), DESKS), question.asked)

    asyncio.run(walk())
