"""Public keys: checked number by number before SEAL reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.matching.evaluation_keys import EvaluationKeys, rotations
from discreet.crypto.matching.match_parameters import MatchParameters
from discreet.crypto.matching.matcher import Matcher
from discreet.crypto.matching.sealed_query import SealedQuery
from discreet.crypto.messages import framed, unframed
from tests.crypto.matching.made_galleries import key_of, made_templates, matcher_of

KEY = key_of(4)


def test_there_is_a_key_for_each_power_of_two_up_to_the_width() -> None:
    assert rotations(MatchParameters(2)) == [1, 2]
    assert rotations(MatchParameters(100)) == [1, 2, 4, 8, 16, 32, 64, 128]


def test_keys_come_back_and_serve(tmp_path: Path) -> None:
    again = EvaluationKeys.from_bytes(KEY.keys.to_bytes())
    assert again.digest == KEY.keys.digest
    gallery = matcher_of(tmp_path / "faces", made_templates(3, 4), KEY).gallery
    query = SealedQuery.by_anybody([1, 2, 3, 4], again)
    assert len(Matcher(gallery, again).answer(query).opened(KEY)) == 3
    assert len(repr(again)) < 200
    fields = unframed(KEY.keys.to_bytes())
    with pytest.raises(Malformed, match="another version"):
        EvaluationKeys.from_bytes(framed(b"discreet matching keys 2", *fields[1:]))


def test_a_number_that_is_none_is_refused_in_each_key() -> None:
    for name in ("public", "relinearisation", "rotation"):
        data = getattr(KEY.keys, name)
        for place in (0, len(data) // 2):
            wrong = replace(KEY.keys, **{name: data[:place] + b"\xff" * 40_000 + data[place + 40_000 :]})
            with pytest.raises(Malformed, match="below its prime"):
                EvaluationKeys.from_bytes(wrong.to_bytes())
        with pytest.raises(ParameterError, match="other lengths"):
            replace(KEY.keys, **{name: data[:-1]})


def test_ten_thousand_fuzzed_public_keys_are_malformed_or_read(tmp_path: Path) -> None:
    whole, rng = KEY.keys.to_bytes(), np.random.default_rng(8)
    gallery = matcher_of(tmp_path / "faces", made_templates(3, 4), KEY).gallery
    read = 0
    for turn in range(10_000):
        deep = turn % 400 == 0
        data = bytearray(whole if deep else whole[:1000])
        data[int(rng.integers(0, len(data) if deep else 60))] ^= int(rng.integers(1, 256))
        try:
            found = EvaluationKeys.from_bytes(bytes(data))
        except Malformed:
            continue
        read += 1
        with pytest.raises(Malformed, match="another key"):
            Matcher(gallery, found)
        other = replace(gallery, key=found.digest)
        assert Matcher(other, found).answer(SealedQuery.by_anybody([1, 2, 3, 4], found)).bodies
    assert 0 < read <= 25
