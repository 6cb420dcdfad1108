"""The keeper: answers its members, each session once, and refuses what is malformed before it counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.core.errors import NotPermitted, ParameterError
from discreet.crypto.errors import BadSignature, Malformed, OutOfOrder, RoundReused, UnknownParty
from discreet.crypto.messages import Message, Signed, framed, split
from discreet.trust.matching.gallery_keeper import GalleryKeeper
from discreet.trust.matching.match_members import SCORES, SCORES_OF, MatchMembers
from discreet.trust.matching.match_question import BlockQuestion, MatchQuestion
from tests.crypto.matching.made_galleries import key_of
from tests.trust.matching.made_members import NAMES, ROWS, account, card, cast, identity, near


def test_whoever_has_the_key_finds_names_and_the_keeper_has_seen_ciphertexts_alone(tmp_path: Path) -> None:
    play = cast(tmp_path)
    question = MatchQuestion.by_owner(near(5), identity("desk"), card("keeper"), play.key)
    scores = question.scores(play.keeper.answer(question.asked))
    play.register.check_whole(scores)
    opened = scores.opened(play.key)
    assert [NAMES[place] for place in opened.found(0.9)][:1] == ["lee"]
    assert np.abs(opened.rounded - ROWS @ near(5) / np.linalg.norm(near(5))).max() < 2**-8
    one = MatchQuestion.by_owner(near(5), identity("desk"), card("keeper"), play.key, template=5)
    heard = play.keeper.answer(one.asked)
    assert one.slot(heard) == play.register.seat(5)[1]
    assert one.scores(heard).opened(play.key).found(0.9) == [one.slot(heard)]
    fetched = BlockQuestion(identity("desk"), card("keeper"), 5)
    block = fetched.block(play.keeper.answer(fetched.asked))
    assert play.register.confirmed(play.key, 5, block, near(5)) > 0.9


def test_a_replayed_session_is_refused_and_one_too_many(tmp_path: Path) -> None:
    play = cast(tmp_path, most=2)
    question = MatchQuestion.by_owner(near(0), identity("desk"), card("keeper"), play.key)
    play.keeper.answer(question.asked)
    with pytest.raises(RoundReused):
        play.keeper.answer(question.asked)
    fetched = BlockQuestion(identity("desk"), card("keeper"), 0)
    play.keeper.answer(fetched.asked)
    with pytest.raises(NotPermitted, match="2 are the most"):
        play.keeper.answer(MatchQuestion.by_owner(near(0), identity("desk"), card("keeper"), play.key).asked)
    play.keeper.answer(MatchQuestion.by_owner(near(0), identity("gate"), card("keeper"), play.key).asked)


def test_strangers_and_forged_or_malformed_questions_are_refused_and_not_counted(tmp_path: Path) -> None:
    play = cast(tmp_path, most=1)
    desk, other = identity("desk"), key_of(8, which=1)
    good = MatchQuestion.by_owner(near(0), desk, card("keeper"), play.key)
    with pytest.raises(UnknownParty):
        play.keeper.answer(MatchQuestion.by_owner(near(0), identity("mallory"), card("keeper"), play.key).asked)
    with pytest.raises(BadSignature):
        play.keeper.answer(Signed("gate", good.asked.written, good.asked.signature))
    with pytest.raises(Malformed, match="another key"):
        play.keeper.answer(MatchQuestion.by_owner(near(0), desk, card("keeper"), other).asked)
    with pytest.raises(ParameterError, match="there is no template"):
        play.keeper.answer(MatchQuestion.by_owner(near(0), desk, card("keeper"), play.key, template=6).asked)
    for body in (b"", framed(b"", b""), framed(good.query.to_bytes(), b"-1"), framed(good.query.to_bytes(), b"9" * 13)):
        with pytest.raises(Malformed):
            play.keeper.answer(Message(good.session, "desk", SCORES_OF, body).signed(desk))
    with pytest.raises(Malformed, match="its name is none"):
        play.keeper.answer(Message("r1", "desk", SCORES_OF, b"").signed(desk))
    with pytest.raises(OutOfOrder):
        play.keeper.answer(Message(good.session, "desk", "decrypt this", b"").signed(desk))
    play.keeper.answer(good.asked)


def test_an_answer_to_somebody_else_or_from_somebody_else_is_not_read(tmp_path: Path) -> None:
    play = cast(tmp_path)
    mine, other = (MatchQuestion.by_owner(near(0), identity("desk"), card("keeper"), play.key) for _ in range(2))
    heard = play.keeper.answer(other.asked)
    with pytest.raises(OutOfOrder, match="another session"):
        mine.scores(heard)
    with pytest.raises(BadSignature):
        other.scores(Signed("keeper", heard.written, identity("gate").sign(heard.written)))
    fetched = BlockQuestion(identity("desk"), card("keeper"), 0)
    with pytest.raises(OutOfOrder):
        fetched.block(heard)
    fields = split(heard.message.body, 5)
    for changed in ([b"gate", *fields[1:]], [*fields[:2], b"1", *fields[3:]]):
        lying = Message(other.session, "keeper", SCORES, framed(*changed)).signed(identity("keeper"))
        with pytest.raises(OutOfOrder, match="to another question"):
            other.scores(lying)


def test_members_are_told_apart() -> None:
    for others in ((), (card("desk"), card("desk")), (card("keeper"),)):
        with pytest.raises(ParameterError, match="nobody may call"):
            MatchMembers(card("keeper"), others)
    with pytest.raises(ParameterError, match="another keeper"):
        GalleryKeeper(identity("gate"), None, MatchMembers(card("keeper"), (card("desk"),)), account())  # type: ignore[arg-type]


def test_ten_thousand_fuzzed_messages_are_refused_or_answered(tmp_path: Path) -> None:
    play, rng = cast(tmp_path, most=30), np.random.default_rng(11)
    desk = identity("desk")
    good = MatchQuestion.by_owner(near(0), desk, card("keeper"), play.key)
    whole = framed(good.query.to_bytes(), b"1")
    answered = 0
    for turn in range(10_000):
        body = bytearray(whole[: int(rng.integers(0, 200))] if turn % 20 else whole)
        for place in rng.integers(0, max(1, min(100, len(body))), rng.integers(0, 4)):
            body[place : place + 1] = rng.bytes(1)
        signed = Message(f"{turn:032x}", "desk", SCORES_OF, bytes(body)).signed(desk)
        try:
            play.keeper.answer(signed)
            answered += 1
        except (Malformed, NotPermitted, ParameterError):
            pass
    assert answered == 30
