"""Scores under encryption against scores in clear, for every template, scheme and asker."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.matching.gallery import Gallery
from discreet.crypto.matching.match_parameters import MatchScheme
from discreet.crypto.matching.matcher import Matcher
from discreet.crypto.matching.seal_stream import seal
from discreet.crypto.matching.sealed_query import SealedQuery
from discreet.crypto.matching.sealed_scores import SealedScores
from tests.crypto.matching.made_galleries import key_of, made_templates, matcher_of


def answered(matcher: Matcher, query: SealedQuery, template: int | None = None) -> SealedScores:
    """As it travels."""
    sent = SealedQuery.from_bytes(query.to_bytes(), matcher.keys)
    return SealedScores.from_bytes(matcher.answer(sent, template).to_bytes(), query.stamp)


@pytest.mark.parametrize("dimensions", [2, 5, 64])
def test_scores_are_those_of_the_templates_within_a_millionth(dimensions: int, tmp_path: Path) -> None:
    key, rows = key_of(dimensions), made_templates(2051, dimensions)
    matcher = matcher_of(tmp_path / "faces", rows, key)
    for vector in (rows[3], -7 * rows[2050], made_templates(1, dimensions, 9)[0]):
        want = rows @ (vector / np.linalg.norm(vector))
        scores = answered(matcher, SealedQuery.by_owner(vector, key)).opened(key)
        assert np.abs(scores.unrounded - want).max() <= key.parameters.precision == 1e-6
        others = answered(matcher, SealedQuery.by_anybody(vector, key.keys)).opened(key)
        assert np.abs(others.unrounded - want).max() <= 5e-5
        assert np.abs(want - 0.6).min() > 1e-6
        assert set(scores.found(0.6)) == set(np.flatnonzero(want >= 0.6))


@pytest.mark.parametrize("dimensions", [2, 16, pytest.param(1024, marks=pytest.mark.slow)])
def test_scores_of_8_bits_are_exact(dimensions: int, tmp_path: Path) -> None:
    key = key_of(dimensions, "bfv")
    rows = np.concatenate([made_templates(4, dimensions), np.eye(dimensions)[:1], np.ones((1, dimensions))])
    matcher = matcher_of(tmp_path / "faces", rows, key)
    for vector in rows[3:] if dimensions < 1024 else rows[-1:]:
        whole = key.parameters.comparable(rows) @ key.parameters.comparable(vector)[0]
        for query in (SealedQuery.by_owner(vector, key), SealedQuery.by_anybody(vector, key.keys)):
            found = answered(matcher, query).opened(key)
            assert (found.unrounded == key.parameters.score(whole)).all()


def test_both_rows_of_exact_slots_are_used(tmp_path: Path) -> None:
    key, rows = key_of(2, "bfv"), made_templates(4100, 2)
    matcher = matcher_of(tmp_path / "faces", rows, key)
    assert [block.templates for block in matcher.gallery.blocks] == [4096, 4]
    found = answered(matcher, SealedQuery.by_owner(rows[4], key)).opened(key)
    whole = key.parameters.comparable(rows) @ key.parameters.comparable(rows[4])[0]
    assert (found.unrounded == key.parameters.score(whole)).all()


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_one_template_alone_is_its_block(scheme: MatchScheme, tmp_path: Path) -> None:
    key, rows = key_of(4, scheme), made_templates(9, 4)
    matcher = matcher_of(tmp_path / "faces", rows[:6], key)
    matcher = Matcher(matcher.gallery.enrolled(rows[6:], key), key.keys)
    found = answered(matcher, SealedQuery.by_owner(rows[7], key), template=7)
    assert found.templates == (3,)
    assert found.opened(key).found(0.98)[0] == matcher.gallery.place(7)[1] == 1
    for wrong in (-1, 9):
        with pytest.raises(ParameterError, match="there is no template"):
            matcher.answer(SealedQuery.by_owner(rows[7], key), wrong)


def test_digits_are_found_by_their_class(tmp_path: Path) -> None:
    images, labels = load_digits(return_X_y=True)
    key = key_of(64)
    matcher = matcher_of(tmp_path / "digits", images[:1000], key)
    centred = images / np.linalg.norm(images, axis=1, keepdims=True)
    right = 0
    for place in range(1000, 1010):
        best = answered(matcher, SealedQuery.by_owner(images[place], key)).opened(key).found(0.5)[0]
        assert best == int(np.argmax(centred[:1000] @ centred[place]))
        right += labels[best] == labels[place]
    assert right >= 9


def test_what_stays_in_memory_changes_nothing(tmp_path: Path) -> None:
    key, rows = key_of(4), made_templates(3, 4)
    gallery = Gallery.created(tmp_path / "faces", key.parameters, key.keys.digest)
    for row in rows:
        gallery = gallery.enrolled(row, key)
    for resident in (0, 1, 9):
        matcher = Matcher(gallery, key.keys, resident)
        matcher.load()
        assert len(matcher._blocks) == min(resident, 3)
        for _ in range(2):
            found = answered(matcher, SealedQuery.by_owner(rows[1], key)).opened(key)
            assert found.found(0.99)[0] == 1
            assert np.abs(found.unrounded - rows @ rows[1]).max() < 1e-6
        assert len(matcher._blocks) == min(resident, 3)


def test_other_keys_and_galleries_without_templates_are_refused(tmp_path: Path) -> None:
    key, other = key_of(4), key_of(4, which=1)
    gallery = Gallery.created(tmp_path / "faces", key.parameters, key.keys.digest)
    with pytest.raises(Malformed, match="another key"):
        Matcher(gallery, other.keys)
    with pytest.raises(Malformed, match="no templates"):
        Matcher(gallery, key.keys).answer(SealedQuery.by_owner([1, 0, 0, 0], key))
    matcher = Matcher(gallery.enrolled(np.eye(4), key), key.keys)
    with pytest.raises(Malformed, match="another key"):
        matcher.answer(SealedQuery.by_owner([1, 0, 0, 0], other))


def test_what_seal_refuses_to_compute_is_malformed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = key_of(4)
    matcher = matcher_of(tmp_path / "faces", np.eye(4), key)
    query = SealedQuery.by_owner([1, 0, 0, 0], key)
    open_ciphertext = seal().Ciphertext()
    engine = key.parameters.engine
    with pytest.raises(RuntimeError, match="transparent"):
        engine.evaluator.sub(query.ciphertext, query.ciphertext, open_ciphertext)
    same = query.ciphertext
    monkeypatch.setattr(matcher, "_products", lambda *_: engine.evaluator.sub(same, same, open_ciphertext))
    with pytest.raises(Malformed, match="cannot be computed with"):
        matcher.answer(query)
