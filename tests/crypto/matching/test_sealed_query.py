"""Queries: one ciphertext, of whoever asks, and refused before anything is computed with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.matching.sealed_query import VERSION, SealedQuery
from discreet.crypto.messages import framed
from tests.crypto.matching.made_galleries import key_of, made_templates, matcher_of

KEY = key_of(8)
VECTOR = made_templates(1, 8)[0]


def test_a_query_is_one_ciphertext_and_half_of_the_owners_is_a_seed() -> None:
    owned, other = SealedQuery.by_owner(VECTOR, KEY), SealedQuery.by_anybody(VECTOR, KEY.keys)
    assert len(owned.to_bytes()) < 38_000
    assert len(other.to_bytes()) < 75_000
    for one in (owned, other):
        again = SealedQuery.from_bytes(one.to_bytes(), KEY.keys)
        assert again == one
        assert again.stamp.owned == (one is owned)
        found = KEY.opened(again.ciphertext)
        assert np.abs(found - np.resize(VECTOR, 2048)).max() < 1e-5


def test_equal_queries_do_not_look_alike() -> None:
    assert SealedQuery.by_owner(VECTOR, KEY).body != SealedQuery.by_owner(VECTOR, KEY).body
    assert SealedQuery.by_owner(VECTOR, KEY).stamp.digest != SealedQuery.by_owner(VECTOR, KEY).stamp.digest


def test_more_than_one_template_or_none_is_refused() -> None:
    for wrong in (made_templates(2, 8), [np.nan] * 8, [0.0] * 8):
        with pytest.raises(ParameterError, match="Nothing was encrypted"):
            SealedQuery.by_owner(wrong, KEY)
        with pytest.raises(ParameterError, match="Nothing was encrypted"):
            SealedQuery.by_anybody(wrong, KEY.keys)


def test_another_key_version_or_length_is_malformed() -> None:
    query = SealedQuery.by_anybody(VECTOR, KEY.keys)
    with pytest.raises(Malformed, match="another key"):
        SealedQuery.from_bytes(query.to_bytes(), key_of(8, which=1).keys)
    with pytest.raises(Malformed, match="another version"):
        SealedQuery.from_bytes(framed(VERSION + b"0", query.key, query.body), KEY.keys)
    for body in (b"", query.body[:-1], query.body + b"0", bytes(10**7)):
        with pytest.raises(Malformed, match="bytes"):
            SealedQuery.from_bytes(framed(VERSION, query.key, body), KEY.keys)


def test_a_query_that_hides_nothing_or_is_no_ciphertext_is_malformed() -> None:
    """Where the second polynomial is zero, SEAL itself would refuse a product: a server that does not catch it ends."""
    query = SealedQuery.by_anybody(VECTOR, KEY.keys)
    half = len(query.body) // 2
    for body in (bytes(len(query.body)), query.body[:half] + bytes(half)):
        with pytest.raises(Malformed, match="hides nothing"):
            SealedQuery.from_bytes(framed(VERSION, query.key, body), KEY.keys)
    with pytest.raises(Malformed, match="below its prime"):
        SealedQuery.from_bytes(framed(VERSION, query.key, b"\xff" * len(query.body)), KEY.keys)


def test_ten_thousand_fuzzed_queries_are_malformed_or_answered(tmp_path: Path) -> None:
    rng, matcher = np.random.default_rng(3), matcher_of(tmp_path / "faces", made_templates(5, 8), KEY)
    whole = [SealedQuery.by_anybody(VECTOR, KEY.keys).to_bytes(), SealedQuery.by_owner(VECTOR, KEY).to_bytes()]
    answered = 0
    for turn in range(10_000):
        data = bytearray(whole[turn % 2])
        for place in rng.integers(0, 90 if turn % 10 else len(data), rng.integers(1, 30)):
            data[place] = rng.integers(0, 256)
        if turn % 7 == 0:
            data = data[: int(rng.integers(0, len(data)))]
        try:
            query = SealedQuery.from_bytes(bytes(data), KEY.keys)
        except Malformed:
            continue
        if answered < 50:
            assert len(matcher.answer(query).bodies) == 1
            answered += 1
    assert answered == 50
