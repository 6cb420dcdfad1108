"""The register: names, whole answers, and a keeper that swaps templates."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.matching.gallery import Gallery
from discreet.crypto.matching.match_parameters import MatchScheme
from discreet.crypto.matching.matcher import Matcher
from discreet.crypto.matching.register import Register
from discreet.crypto.matching.sealed_query import SealedQuery
from tests.crypto.matching.made_galleries import key_of, made_templates

ROWS = made_templates(6, 8)
NAMES = ("ann", "bob", "eve", "joe", "kim", "lee")


def galleries(folder: Path, scheme: MatchScheme = "ckks", rows: np.ndarray = ROWS) -> tuple[Gallery, Register]:
    key = key_of(8, scheme)
    gallery = Gallery.created(folder / "faces", key.parameters, key.keys.digest).enrolled(rows[:4], key)
    register = Register(key.keys.digest).enrolled(gallery, NAMES[:4])
    gallery = gallery.enrolled(rows[4:], key)
    return gallery, register.enrolled(gallery, NAMES[4:])


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_a_match_is_confirmed_from_what_was_enrolled(scheme: MatchScheme, tmp_path: Path) -> None:
    gallery, register = galleries(tmp_path, scheme)
    key = key_of(8, scheme)
    vector = ROWS[5] + 0.02
    for template in (0, 3, 5):
        place, slot = register.seat(template)
        assert (place, slot) == gallery.place(template)
        found = register.confirmed(key, template, b"".join(gallery.block(place)), vector)
        want = key.parameters.score(key.parameters.comparable(ROWS[template]) @ key.parameters.comparable(vector)[0])
        assert abs(found - want[0]) <= 2**-9 + 1e-5
        assert found * 256 == round(found * 256)


def test_a_keeper_that_swaps_templates_is_found_out_by_whoever_confirms(tmp_path: Path) -> None:
    """The keeper puts Eve's template, which she gave it, in Ann's place: answers alone do not show it."""
    key, eve = key_of(8), made_templates(1, 8, 99)[0]
    gallery, register = galleries(tmp_path)
    (tmp_path / "forged").mkdir()
    forged, _ = galleries(tmp_path / "forged", rows=np.concatenate([[eve], ROWS[1:]]))
    query = SealedQuery.by_owner(eve, key)
    answer = Matcher(forged, key.keys).answer(query)
    register.check_whole(answer)
    assert answer.opened(key).found(0.9)[0] == register.place("ann")
    with pytest.raises(Malformed, match="not what was enrolled"):
        register.confirmed(key, 0, b"".join(forged.block(0)), eve)
    assert register.confirmed(key, 0, b"".join(gallery.block(0)), eve) < 0.9
    with pytest.raises(Malformed, match="not what was enrolled"):
        register.confirmed(key, 4, b"".join(gallery.block(0)), eve)


def test_an_answer_about_fewer_templates_is_noticed(tmp_path: Path) -> None:
    key = key_of(8)
    gallery, register = galleries(tmp_path)
    query = SealedQuery.by_owner(ROWS[0], key)
    register.check_whole(Matcher(gallery, key.keys).answer(query))
    whole = gallery.path.read_bytes()
    gallery.path.write_bytes(whole[:32] + (1).to_bytes(8, "little") + whole[40:])
    shorter = Gallery.opened(gallery.path)
    assert shorter.templates == 4
    with pytest.raises(Malformed, match="about 4 templates, and 6 were enrolled"):
        register.check_whole(Matcher(shorter, key.keys).answer(query))


def test_names_are_checked_before_anything_is_enrolled(tmp_path: Path) -> None:
    gallery, register = galleries(tmp_path)
    for wrong in (("ann",), ("zoe", "zoe"), ("",), ("x" * 201,), (3,)):
        with pytest.raises(ParameterError, match="a name"):
            register.check_new(wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="6 templates for 7 names"):
        register.enrolled(gallery, ["zoe"])
    with pytest.raises(ParameterError, match="nobody of this name"):
        register.place("zoe")
    for template in (-1, 6):
        with pytest.raises(ParameterError, match="there is no template"):
            register.seat(template)
    changed = Register(register.key, register.names, register.blocks, (bytes(32), bytes(32)))
    with pytest.raises(ParameterError, match="or is another"):
        changed.enrolled(gallery.enrolled(ROWS[:1], key_of(8)), ["zoe"])


def test_ten_thousand_fuzzed_registers_are_malformed_or_read(tmp_path: Path) -> None:
    _, register = galleries(tmp_path)
    assert Register.from_bytes(register.to_bytes()) == register
    assert "ann" not in repr(register)
    good, rng = register.to_bytes(), np.random.default_rng(6)
    for _ in range(10_000):
        data = bytearray(good)
        for place in rng.integers(0, len(data), rng.integers(1, 4)):
            data[place] = rng.integers(0, 256)
        with contextlib.suppress(Malformed):
            Register.from_bytes(bytes(data))
    for wrong in (
        b"[]",
        b"3",
        b"{}",
        b"[" * 10**5,
        good.replace(b"[4, 2]", b"[4, 3]"),
        good.replace(b"[4, 2]", b"[6, 0]"),
    ):
        with pytest.raises(Malformed):
            Register.from_bytes(wrong)
