"""Scores: opened by the key's owner, refused where they cannot be, and rounded before they leave."""

from __future__ import annotations

import contextlib
import copy
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.matching.match_parameters import STRANGERS_SCALE, MatchScheme
from discreet.crypto.matching.matcher import Matcher
from discreet.crypto.matching.matching_key import MatchingKey
from discreet.crypto.matching.sealed_query import SealedQuery
from discreet.crypto.matching.sealed_scores import COUNT, ROUNDING, VERSION, MatchScores, SealedScores
from discreet.crypto.messages import framed, unframed
from tests.crypto.matching.made_galleries import key_of, made_templates, matcher_of

ROWS = made_templates(5, 8)


@pytest.fixture
def matcher(tmp_path: Path) -> Matcher:
    return matcher_of(tmp_path / "faces", ROWS, key_of(8))


def longer(vector: np.ndarray, by: float, key: MatchingKey) -> SealedQuery:
    """A stranger's query that was not brought to length one, as a modified program would send it."""
    repeated = np.resize(key.parameters.comparable(vector)[0] * by, key.parameters.capacity)
    body = key.keys.sealed(np.rint(repeated) if key.parameters.scheme == "bfv" else repeated, STRANGERS_SCALE)
    return SealedQuery(key.parameters, key.keys.digest, body)


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_a_query_that_is_made_longer_to_raise_all_scores_is_refused(scheme: MatchScheme, tmp_path: Path) -> None:
    key = key_of(32, scheme)
    matcher = matcher_of(tmp_path / "faces", made_templates(20, 32), key)
    stranger = made_templates(1, 32, 7)[0]
    honest = matcher.answer(SealedQuery.by_anybody(stranger, key.keys)).opened(key)
    assert not honest.is_match(0.8)
    for by in (1.2, 5**0.5, 2.0, 4.5**0.5, 20.0):  # a squared length of 5 is 1 once it has wrapped round
        with pytest.raises(Malformed, match="are no scores"):
            matcher.answer(longer(stranger, by, key)).opened(key)
    assert not matcher.answer(longer(stranger, 0.5, key)).opened(key).is_match(0.8)


def test_scores_that_cannot_be_are_refused_alike(matcher: Matcher) -> None:
    key = key_of(8)
    query = SealedQuery.by_anybody(ROWS[0], key.keys)
    answer = matcher.answer(query)
    assert answer.opened(key).found(0.99)[0] == 0
    rng, other = np.random.default_rng(0), matcher.answer(SealedQuery.by_anybody(ROWS[1], key.keys))
    body = bytearray(answer.bodies[0])
    body[:1000] = rng.bytes(1000)
    said = set()
    for wrong in (
        replace(answer, bodies=(bytes(body),)),
        replace(answer, templates=(4,)),
        replace(answer, checks=bytes(body) + answer.checks[len(body) :]),
        replace(answer, bodies=(other.bodies[0][:18432] + answer.bodies[0][18432:],)),
    ):
        with pytest.raises(Malformed) as refused:
            wrong.opened(key)
        said.add(str(refused.value))
    assert said == {"scores: what was encrypted are no scores. Nothing was opened. Ask again."}
    with pytest.raises(Malformed, match="another key"):
        answer.opened(key_of(8, which=1))


def test_an_answer_that_is_to_another_query_or_of_no_length_is_malformed(matcher: Matcher) -> None:
    key = key_of(8)
    query, other = (SealedQuery.by_owner(ROWS[0], key) for _ in range(2))
    data = matcher.answer(query).to_bytes()
    assert len(SealedScores.from_bytes(data, query.stamp).opened(key)) == 5
    with pytest.raises(Malformed, match="another query"):
        SealedScores.from_bytes(data, other.stamp)
    version, digest, counts, bodies, checks = unframed(data)
    fields = [version, digest, counts, bodies, checks]
    for place, wrong in (
        (0, VERSION + b"0"),
        (2, b""),
        (2, counts + b"0"),
        (2, COUNT.pack(0)),
        (2, COUNT.pack(2049)),
        (2, counts * (1 << 17)),
        (3, bodies[:-1]),
        (3, b""),
        (4, bodies),
    ):
        changed = [wrong if at == place else one for at, one in enumerate(fields)]
        with pytest.raises(Malformed):
            SealedScores.from_bytes(framed(*changed), query.stamp)
    stranger = SealedQuery.by_anybody(ROWS[0], key.keys)
    fields = unframed(matcher.answer(stranger).to_bytes())
    with pytest.raises(Malformed, match="length of the query is missing"):
        SealedScores.from_bytes(framed(*fields[:4], b""), stranger.stamp)


def test_scores_leave_rounded_or_as_decisions() -> None:
    scores = MatchScores(np.array([0.123456789, -0.5, 0.9, 0.7, 0.9]))
    assert (scores.rounded == np.rint(scores.rounded / ROUNDING) * ROUNDING).all()
    assert np.abs(scores.rounded - scores.unrounded).max() <= ROUNDING / 2
    assert scores.found(0.6) == [2, 4, 3]
    assert scores.is_match(0.9)
    assert not scores.is_match(0.91)
    assert repr(scores) == "MatchScores(of 5 templates)"
    for leak in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError):
            leak(scores)
    for threshold in (0, 1, -0.5, np.nan, "0.5", None):
        with pytest.raises(ParameterError, match="threshold"):
            scores.found(threshold)  # type: ignore[arg-type]


def test_ten_thousand_fuzzed_answers_are_malformed_or_opened(matcher: Matcher) -> None:
    key, rng = key_of(8), np.random.default_rng(4)
    query = SealedQuery.by_anybody(ROWS[0], key.keys)
    whole = matcher.answer(query).to_bytes()
    opened = 0
    for turn in range(10_000):
        data = bytearray(whole)
        for place in rng.integers(0, 120 if turn % 200 else len(data), rng.integers(1, 5)):
            data[place] = rng.integers(0, 256)
        with contextlib.suppress(Malformed):
            opened += len(SealedScores.from_bytes(bytes(data), query.stamp).opened(key)) > 0
    assert opened < 1000
