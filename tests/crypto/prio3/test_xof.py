"""TurboSHAKE128: the draft's vector, numpy's permutation against the compiled one, and what is said without it."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from discreet.core.errors import MissingExtra
from discreet.crypto.prio3.xof import FEW, LONG, RATE, _compiled, shake, turboshake
from tests.crypto.prio3.vectors import FOLDER


def test_the_draft_s_vector_is_met() -> None:
    given = json.loads((FOLDER / "XofTurboShake128.json").read_text())
    tag, seed, binder = (bytes.fromhex(given[name]) for name in ("dst", "seed", "binder"))
    message = len(tag).to_bytes(2, "little") + tag + bytes([len(seed)]) + seed + binder
    assert shake(message, 32).hex() == given["derived_seed"]
    assert shake(message, 16 * given["length"]).hex() == given["expanded_vec_field128"]


def test_messages_side_by_side_are_hashed_as_each_alone_is() -> None:
    draw = np.random.default_rng(0)
    for length in (0, 1, RATE - 1, RATE, RATE + 1, 2 * RATE):
        for size in (1, 32, RATE, RATE + 1, 2 * RATE):
            messages = draw.integers(0, 256, (FEW, length), np.uint8)
            assert length // RATE + 1 + size // RATE <= LONG
            alone = [shake(one.tobytes(), size) for one in messages]
            assert [one.tobytes() for one in turboshake(messages, size)] == alone


def test_without_pycryptodomex_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Cryptodome.Hash", None)
    _compiled.cache_clear()
    with pytest.raises(MissingExtra, match=r"discreet\[prio3\]"):
        shake(b"", 1)
