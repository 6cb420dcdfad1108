"""The judge: yes or no to whoever asked, about what the keeper signed for it, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.core.errors import NotPermitted, ParameterError
from discreet.crypto.errors import BadSignature, Malformed, OutOfOrder, RoundReused
from discreet.crypto.matching.gallery import Gallery
from discreet.crypto.matching.match_parameters import STRANGERS_SCALE
from discreet.crypto.matching.matcher import Matcher
from discreet.crypto.matching.sealed_query import SealedQuery
from discreet.crypto.messages import Message, Signed, framed, split
from discreet.trust.matching.match_judge import MatchJudge
from discreet.trust.matching.match_members import DECISION_OF, NO, SCORES, MatchMembers
from discreet.trust.matching.match_question import MatchQuestion
from tests.crypto.matching.made_galleries import made_templates
from tests.trust.matching.made_members import THRESHOLD, Cast, account, card, cast, identity, near


def asked(
    play: Cast, vector: np.ndarray, template: int | None = None, name: str = "desk"
) -> tuple[MatchQuestion, Signed]:
    question = MatchQuestion.by_anybody(vector, identity(name), card("keeper"), play.key.keys, template)
    return question, play.keeper.answer(question.asked)


def decided(play: Cast, vector: np.ndarray, template: int | None = None) -> bool:
    question, heard = asked(play, vector, template)
    return question.decision(play.judge.answer(question.to_judge(heard)), card("judge"))


def test_yes_for_who_is_in_the_gallery_and_no_for_others(tmp_path: Path) -> None:
    for registered in (True, False):
        (tmp_path / str(registered)).mkdir()
        play = cast(tmp_path / str(registered), registered=registered)
        assert decided(play, near(5))
        assert not decided(play, made_templates(1, 8, 77)[0])
        assert decided(play, near(5), template=5)
        assert not decided(play, near(5), template=4)
        assert play.told == []


def test_the_asker_gets_one_word_and_cannot_read_scores(tmp_path: Path) -> None:
    play = cast(tmp_path)
    question, heard = asked(play, near(5))
    said = play.judge.answer(question.to_judge(heard))
    assert said.message.body in (b"yes", b"no")
    with pytest.raises(Malformed):
        question.decision(
            Message(question.session, "judge", said.message.kind, b"0.97").signed(identity("judge")), card("judge")
        )


def test_a_query_that_is_no_template_is_no_and_its_owner_alone_is_told(tmp_path: Path) -> None:
    play = cast(tmp_path)
    keys = play.key.keys
    body = keys.sealed(np.resize(3 * near(0), 2048), STRANGERS_SCALE)
    long = SealedQuery(keys.parameters, keys.digest, body)
    question = replace(MatchQuestion.by_anybody(near(0), identity("desk"), card("keeper"), keys), query=long)
    said = play.judge.answer(question.to_judge(play.keeper.answer(question.asked)))
    assert said.message.body == NO
    assert len(play.told) == 1
    owned = MatchQuestion.by_owner(near(0), identity("desk"), card("keeper"), play.key)
    with pytest.raises(Malformed, match="length of the query is missing"):
        play.judge.answer(owned.to_judge(play.keeper.answer(owned.asked)))


def test_nobody_has_anothers_or_an_own_ciphertext_decided(tmp_path: Path) -> None:
    play = cast(tmp_path)
    question, heard = asked(play, near(5))
    gate = MatchQuestion.by_anybody(near(5), identity("gate"), card("keeper"), play.key.keys)
    stolen = Message(question.session, "gate", DECISION_OF, heard.to_bytes()).signed(identity("gate"))
    with pytest.raises(OutOfOrder, match="somebody else"):
        play.judge.answer(stolen)
    with pytest.raises(OutOfOrder, match="another session"):
        play.judge.answer(gate.to_judge(heard))
    fields = split(heard.message.body, 5)
    forged = Message(question.session, "desk", SCORES, framed(*fields)).signed(identity("desk"))
    with pytest.raises(BadSignature):
        play.judge.answer(question.to_judge(Signed("keeper", forged.written, forged.signature)))
    with pytest.raises(OutOfOrder):
        play.judge.answer(question.asked)


def test_a_decision_is_given_once_and_counted(tmp_path: Path) -> None:
    play = cast(tmp_path, most=2)
    question, heard = asked(play, near(5))
    play.judge.answer(question.to_judge(heard))
    with pytest.raises(RoundReused):
        play.judge.answer(question.to_judge(heard))
    assert not decided(play, near(5), template=4)
    play.keeper._account = account(20)
    question, heard = asked(play, near(5))
    with pytest.raises(NotPermitted, match="2 are the most"):
        play.judge.answer(question.to_judge(heard))


def test_an_answer_about_less_than_was_enrolled_is_no(tmp_path: Path) -> None:
    play = cast(tmp_path)
    whole = play.keeper._matcher.gallery
    play.keeper._matcher = Matcher(
        Gallery(whole.path, whole.parameters, whole.key, whole.reduction, whole.blocks[1:]), play.key.keys
    )
    assert not decided(play, near(5))
    assert "6 were enrolled" in play.told[0]


def test_a_keeper_that_names_another_slot_is_not_believed(tmp_path: Path) -> None:
    play = cast(tmp_path)
    question, heard = asked(play, near(5), template=4)
    fields = split(heard.message.body, 5)
    lying = Message(question.session, "keeper", SCORES, framed(*fields[:3], b"1", fields[4])).signed(identity("keeper"))
    said = play.judge.answer(question.to_judge(lying))
    assert said.message.body == NO


def test_a_judge_is_not_the_keeper_and_has_a_threshold(tmp_path: Path) -> None:
    play = cast(tmp_path)
    members = MatchMembers(card("judge"), (card("desk"),))
    for threshold in (0, 1, np.nan, None):
        with pytest.raises(ParameterError, match="threshold"):
            MatchJudge(identity("judge"), play.key, card("keeper"), members, threshold, account())  # type: ignore[arg-type]
    for own, keeper in ((identity("judge"), card("judge")), (identity("gate"), card("keeper"))):
        with pytest.raises(ParameterError, match="Part the two"):
            MatchJudge(own, play.key, keeper, members, THRESHOLD, account())


def test_ten_thousand_fuzzed_answers_are_refused_or_decided(tmp_path: Path) -> None:
    play, rng = cast(tmp_path, most=10**5), np.random.default_rng(12)
    _, heard = asked(play, near(5))
    whole = split(heard.message.body, 5)
    decided_at_all = 0
    play.judge._account = account(40)
    for turn in range(10_000):
        session = f"{turn:032x}"
        fields = [bytearray(one if turn % 25 == 0 else one[:150]) for one in whole]
        field = fields[int(rng.integers(0, 5))]
        for place in rng.integers(0, max(1, min(100, len(field))), rng.integers(1, 4)):
            field[place : place + 1] = rng.bytes(int(rng.integers(0, 3)))
        inner = Message(session, "keeper", SCORES, framed(*map(bytes, fields))).signed(identity("keeper"))
        outer = Message(session, "desk", DECISION_OF, inner.to_bytes()).signed(identity("desk"))
        try:
            assert play.judge.answer(outer).message.body in (b"yes", b"no")
            decided_at_all += 1
        except (Malformed, OutOfOrder, NotPermitted):
            pass
    assert 5 < decided_at_all <= 40
