"""A gallery on the disk: batches, what is refused of a file, and an enrolment that is interrupted."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.matching import gallery as gallery_module
from discreet.crypto.matching.gallery import HEAD, Gallery
from discreet.crypto.matching.match_parameters import TEMPLATE_SCALE, MatchParameters
from discreet.crypto.matching.seal_forms import ciphertext_of
from tests.crypto.matching.made_galleries import key_of, made_templates

KEY = key_of(4)


def empty(folder: Path, name: str = "faces") -> Gallery:
    return Gallery.created(folder / name, KEY.parameters, KEY.keys.digest)


def test_batches_come_one_after_another_and_stay_in_diagonals(tmp_path: Path) -> None:
    rows = made_templates(2060, 4)
    gallery = empty(tmp_path).enrolled(rows[:2050], KEY).enrolled(rows[2050:], KEY.keys)
    again = Gallery.opened(gallery.path, KEY.keys.digest)
    assert again == gallery
    assert [block.templates for block in again.blocks] == [2048, 2, 10]
    assert os.path.getsize(gallery.path) == gallery.size
    assert again.place(2049) == (1, 1)
    assert again.place(2059) == (2, 9)
    for template in (0, 2047, 2049, 2055):
        place, slot = again.place(template)
        sealed = [ciphertext_of(KEY.parameters, one, TEMPLATE_SCALE) for one in again.block(place)]
        found = np.array([KEY.opened(one)[slot] for one in sealed])
        assert np.abs(found - rows[template, (slot + np.arange(4)) % 4]).max() < 1e-5


def test_the_owners_ciphertexts_take_half_the_room() -> None:
    wide = MatchParameters(64)
    assert wide.sealed_size * wide.width / wide.capacity <= 4000
    assert wide.seeded_size * wide.width / wide.capacity <= 2000


def test_the_file_is_its_owners_alone_and_there_are_no_names_or_templates_in_it(tmp_path: Path) -> None:
    rows = made_templates(3, 4)
    gallery = empty(tmp_path).enrolled(rows, KEY)
    assert gallery.path.stat().st_mode & 0o077 == 0
    data = gallery.path.read_bytes()
    assert not any(one.tobytes() in data for one in rows.ravel())
    assert len(set(gallery.block(0))) == 4


def test_a_truncated_gallery_is_malformed_wherever_it_ends(tmp_path: Path) -> None:
    gallery = empty(tmp_path).enrolled(made_templates(2, 4), KEY).enrolled(made_templates(2, 4), KEY)
    data = gallery.path.read_bytes()
    for end in (0, 1, HEAD.size - 1, HEAD.size, HEAD.size + 39, HEAD.size + 41, gallery.blocks[1].start, len(data) - 1):
        gallery.path.write_bytes(data[:end])
        with pytest.raises(Malformed, match=r"ends too early|another version"):
            Gallery.opened(gallery.path)
    gallery.path.write_bytes(data)
    with pytest.raises(Malformed, match="another key"):
        Gallery.opened(gallery.path, key_of(4, which=1).keys.digest)


def test_a_changed_block_is_noticed_before_it_is_computed_with(tmp_path: Path) -> None:
    gallery = empty(tmp_path).enrolled(made_templates(2, 4), KEY)
    data = bytearray(gallery.path.read_bytes())
    data[gallery.blocks[0].start + 100] ^= 1
    gallery.path.write_bytes(data)
    with pytest.raises(Malformed, match="was changed"):
        Gallery.opened(gallery.path).block(0)


def test_a_block_that_cannot_be_is_refused_before_it_is_read(tmp_path: Path) -> None:
    gallery = empty(tmp_path).enrolled(made_templates(2, 4), KEY)
    data = gallery.path.read_bytes()
    for templates, size in ((0, 36928), (2049, 36928), (2, 1), (2, 0), (2, 36927)):
        wrong = data[: HEAD.size] + struct.pack("<II", templates, size) + data[HEAD.size + 8 :]
        gallery.path.write_bytes(wrong)
        with pytest.raises(Malformed, match="a block of it cannot be"):
            Gallery.opened(gallery.path)


def test_what_cannot_be_enrolled_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    gallery = empty(tmp_path)
    before = gallery.path.read_bytes()
    for wrong in ([[1.0, 2.0, np.nan, 0.0]], [[0.0] * 4], [[1.0] * 5]):
        with pytest.raises(ParameterError, match="Nothing was encrypted"):
            gallery.enrolled(wrong, KEY)
    with pytest.raises(ParameterError, match="other parameters"):
        gallery.enrolled(made_templates(1, 8), key_of(8))
    assert gallery.path.read_bytes() == before
    with pytest.raises(ParameterError, match="Choose another place"):
        empty(tmp_path)
    gallery.enrolled(made_templates(1, 4), KEY)
    with pytest.raises(ParameterError, match="somebody else has enrolled"):
        gallery.enrolled(made_templates(1, 4), KEY)


def test_an_interrupted_enrolment_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gallery = empty(tmp_path).enrolled(made_templates(2, 4), KEY)
    put, calls = gallery_module._put, []

    def dies(file: object, at: int, data: bytes) -> None:
        calls.append(at)
        if at == 0:
            raise KeyboardInterrupt
        put(file, at, data)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(gallery_module, "_put", dies)
        with pytest.raises(KeyboardInterrupt):
            gallery.enrolled(made_templates(5, 4, 1), KEY)
    assert calls == [gallery.size, 0]
    assert os.path.getsize(gallery.path) > gallery.size
    again = Gallery.opened(gallery.path)
    assert again == gallery
    assert Gallery.opened(again.enrolled(made_templates(3, 4), KEY).path).templates == 5


def test_ten_thousand_fuzzed_galleries_are_malformed_or_read(tmp_path: Path) -> None:
    gallery = empty(tmp_path).enrolled(made_templates(2, 4), KEY)
    data, rng = gallery.path.read_bytes()[: HEAD.size + 48], np.random.default_rng(2)
    read = 0
    with gallery.path.open("r+b", buffering=0) as file:
        for _ in range(10_000):
            fuzzed = bytearray(data)
            for at in rng.integers(0, len(data), rng.integers(1, 4)):
                fuzzed[at] = rng.integers(0, 256)
            file.seek(0)
            file.write(fuzzed)
            try:
                found = Gallery.opened(gallery.path)
                read += 1
                if read % 50 == 0 and found.blocks:
                    found.block(len(found.blocks) - 1)
            except Malformed:
                pass
    assert 100 < read < 9_000
