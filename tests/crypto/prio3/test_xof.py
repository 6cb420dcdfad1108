"""TurboSHAKE128: the draft's vector, a batch against each message alone, and what is said without it."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import MissingExtra
from discreet.crypto.prio3.keccak import TOGETHER
from discreet.crypto.prio3.xof import MANY, RATE, _batched, _compiled, shake, turboshake
from tests.crypto.prio3.vectors import FOLDER


def test_the_draft_s_vector_is_met() -> None:
    given = json.loads((FOLDER / "XofTurboShake128.json").read_text())
    tag, seed, binder = (bytes.fromhex(given[name]) for name in ("dst", "seed", "binder"))
    message = len(tag).to_bytes(2, "little") + tag + bytes([len(seed)]) + seed + binder
    assert shake(message, 32).hex() == given["derived_seed"]
    assert shake(message, 16 * given["length"]).hex() == given["expanded_vec_field128"]


def test_messages_of_a_batch_are_hashed_as_each_alone_is() -> None:
    draw = np.random.default_rng(0)
    for length in (0, 1, RATE - 1, RATE, RATE + 1, 2 * RATE):
        for size in (1, 32, RATE, RATE + 1, 2 * RATE):
            messages = draw.integers(0, 256, (5, length), np.uint8)
            alone = [shake(one.tobytes(), size) for one in messages]
            assert [one.tobytes() for one in turboshake(messages, size)] == alone
            assert [one.tobytes() for one in turboshake(np.asfortranarray(messages), size)] == alone
    assert turboshake(np.empty((0, 3), np.uint8), 8).shape == (0, 8)


def test_many_messages_of_one_block_are_hashed_as_each_alone_is() -> None:
    draw = np.random.default_rng(1)
    for many, length, size in ((MANY, 0, RATE), (MANY, 62, 8), (TOGETHER + 3, RATE - 1, 33), (MANY - 1, RATE - 1, 1)):
        messages = draw.integers(0, 256, (many, length), np.uint8)
        assert turboshake(messages, size).tobytes() == b"".join(shake(one.tobytes(), size) for one in messages)


def test_bindings_that_are_missing_or_wrong_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    from Cryptodome.Hash import keccak

    messages = np.arange(400, dtype=np.uint8).reshape(2, 200)
    expected = turboshake(messages, 300).tobytes()
    true: Any = vars(keccak)["_raw_keccak_lib"]

    class Wrong:
        def __getattr__(self, name: str) -> Any:
            return (lambda *_: 0) if name == "keccak_absorb" else getattr(true, name)

    assert _batched() is not None
    for library in (Wrong(), object()):
        _batched.cache_clear()
        with monkeypatch.context() as patched:
            patched.setattr(keccak, "_raw_keccak_lib", library)
            found = _batched()
        assert found is None
        monkeypatch.setattr(keccak, "_raw_keccak_lib", true)
        assert turboshake(messages, 300).tobytes() == expected
    _batched.cache_clear()


def test_without_pycryptodomex_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Cryptodome.Hash", None)
    _compiled.cache_clear()
    with pytest.raises(MissingExtra, match=r"discreet\[prio3\]"):
        shake(b"", 1)
