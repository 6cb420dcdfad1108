"""Queries of strangers that are no templates: longer, not periodic, imaginary, or so long that squares wrap round."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.crypto.errors import Malformed
from discreet.crypto.matching import query_checks
from discreet.crypto.matching.match_parameters import STRANGERS_SCALE
from discreet.crypto.matching.matcher import Matcher
from discreet.crypto.matching.seal_forms import ciphertext_bytes, ciphertext_of
from discreet.crypto.matching.seal_stream import seal
from discreet.crypto.matching.sealed_query import SealedQuery
from discreet.noise.deterministic import DeterministicBits
from tests.crypto.matching.made_galleries import key_of, made_templates, matcher_of

WIDTH = 16
KEY = key_of(WIDTH)
ROWS = made_templates(3, WIDTH)


def crafted(slots: np.ndarray) -> SealedQuery:
    """A query with anything in its slots, as a modified program would make it with the public key."""
    plain, sealed = seal().Plaintext(), seal().Ciphertext()
    engine = KEY.parameters.engine
    engine.encoder.encode(np.asarray(slots, complex).tolist(), STRANGERS_SCALE, plain)
    KEY.keys.encryptor.encrypt(plain, sealed)
    return SealedQuery(KEY.parameters, KEY.keys.digest, ciphertext_bytes(engine, sealed))


def accepted(matcher: Matcher, slots: np.ndarray) -> bool:
    try:
        matcher.answer(crafted(slots)).opened(KEY)
    except Malformed:
        return False
    return True


@pytest.fixture
def matcher(tmp_path: Path) -> Matcher:
    return matcher_of(tmp_path / "faces", ROWS, KEY)


def test_templates_pass_and_short_ones_too(matcher: Matcher) -> None:
    for vector in (ROWS[0], 0.3 * ROWS[1], np.eye(WIDTH)[3], np.ones(WIDTH) / 4):
        assert accepted(matcher, np.resize(vector, 2048))


def test_longer_ones_do_not_pass_even_where_their_square_wraps_round(matcher: Matcher) -> None:
    orthogonal = np.linalg.qr(np.concatenate([ROWS, made_templates(WIDTH - 3, WIDTH, 5)]).T)[0].T[3:]
    for square in (1.01, 2.0, 4.0, 4.5, 8.2, 400.0, 2.0**20):
        vector = orthogonal[0] * np.sqrt(square)  # whose scores are all zero: nothing else shows that it is long
        assert not accepted(matcher, np.resize(vector, 2048)), square
    spikes = np.zeros(WIDTH)
    spikes[[1, 5]] = 2.0
    assert not accepted(matcher, np.resize(spikes, 2048))


def test_one_that_differs_from_slot_to_slot_does_not_pass(matcher: Matcher) -> None:
    slots = np.resize(ROWS[0], 2048)
    slots[512:] = np.resize(ROWS[1], 2048 - 512)
    assert not accepted(matcher, slots)
    slots = np.resize(ROWS[0], 2048)
    slots[100] += 0.01
    assert not accepted(matcher, slots)


def test_one_with_an_imaginary_part_does_not_pass(matcher: Matcher) -> None:
    """Of x + iy the square is that of x less that of y: a longer x could hide behind y."""
    one, other = np.linalg.qr(np.concatenate([ROWS, made_templates(WIDTH - 3, WIDTH, 5)]).T)[0].T[3:5]
    assert accepted(matcher, np.resize(one, 2048))
    for part in (0.1, 1.0):  # of directions in which nobody is, so that no score shows anything
        slots = np.resize(one * np.sqrt(1 + part**2) + 1j * part * other, 2048)
        assert not accepted(matcher, slots)


def test_each_check_is_needed(matcher: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped = np.resize(ROWS[0] * np.sqrt(4.5) * 0.4, 2048)
    assert accepted(matcher, wrapped)
    monkeypatch.setattr(query_checks, "ROUGHLY", 1e9)
    orthogonal = np.linalg.qr(np.concatenate([ROWS, made_templates(WIDTH - 3, WIDTH, 5)]).T)[0].T[3]
    assert accepted(matcher, np.resize(orthogonal * np.sqrt(4.5), 2048))


def test_directions_are_drawn_anew_for_each_query(matcher: Matcher) -> None:
    """Else the key's owner would see, from products of two queries, how alike these are."""
    one, other = (query_checks.random_signs(KEY.parameters, DeterministicBits(seed)) for seed in range(2))
    assert one.shape == (WIDTH, 2048)
    assert np.allclose(np.abs(one), 1 / 4)
    assert abs((one * other).mean() * WIDTH) < 0.03
    assert abs(one.mean() * 4) < 0.03
    query = SealedQuery.by_anybody(ROWS[0], KEY.keys)
    size, opened = KEY.parameters.answer_size, []
    for _ in range(2):
        sealed = matcher.answer(query).checks[size : 2 * size]
        scale = KEY.parameters.reduced_scale(STRANGERS_SCALE)
        opened.append(KEY.opened(ciphertext_of(KEY.parameters, sealed, scale, primes=1)))
    one, other = opened
    assert abs((one * other).mean() * WIDTH) < 0.2
