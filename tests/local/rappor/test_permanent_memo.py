"""Permanent responses, derived from a secret or kept in a file."""

from __future__ import annotations

import hashlib
import hmac
import json
import struct
from pathlib import Path

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.rappor.permanent_memo import GoogleMemo, MemoFile, SecretMemo, derived, randomized
from discreet.local.rappor.rappor_parameters import RapporParameters, bloom_positions, bloom_rows
from discreet.noise.deterministic import DeterministicBits

SECRET = b"a secret of more than 16 bytes"


def secrets(n: int) -> list[bytes]:
    return [b"secret of client %d" % i for i in range(n)]


def test_google_s_derivation_is_met_bit_for_bit() -> None:
    for f in (0.5, 0.25, 58 / 128):
        setup = RapporParameters(bits=32, hashes=2, f=f)
        bloom = bloom_rows(setup, np.array([bloom_positions(setup, "abc", 7)]))
        number = sum(int(bit) << place for place, bit in enumerate(bloom[0]))
        digest = hmac.new(b"secret", struct.pack(">L", number), hashlib.sha256).digest()
        uniform = sum((byte & 1) << place for place, byte in enumerate(digest))
        mask = sum((byte >> 1 < f * 128) << place for place, byte in enumerate(digest))
        found = GoogleMemo(b"secret", f=f).permanent(setup, bloom[0])
        assert sum(int(bit) << place for place, bit in enumerate(found)) == (number & ~mask) | (uniform & mask)


def test_bits_are_tossed_with_probability_f_and_not_a_multiple_of_1_128() -> None:
    """A bit is turned with probability f / 2. The error of a share of a million bits is 0.0005."""
    for bits, f in ((128, 0.5), (128, 0.45), (32, 0.3), (8, 2.0**-10)):
        setup = RapporParameters(bits=bits, f=f)
        n = 8000 if bits == 128 else 30_000
        blooms = np.zeros((n, bits), np.uint8)
        blooms[:, ::2] = 1
        for found in (derived(setup, blooms, secrets(n)), randomized(setup, blooms, DeterministicBits(1))):
            share = (found != blooms).mean()
            assert abs(share - f / 2) < 5 * np.sqrt(f / 2 / blooms.size)
            assert abs((found != blooms)[:, ::2].mean() - share) < 5 * np.sqrt(f / blooms.size)


def test_levels_between_two_multiples_are_settled_by_more_bits() -> None:
    """A quarter of a level more or less turns a share of f / 2 all the same, within five standard errors."""
    blooms = np.ones((4000, 128), np.uint8)
    for f in (2.0**-10, 2.0**-9, 3 * 2.0**-9):
        turned = (derived(RapporParameters(bits=128, f=f), blooms, secrets(4000)) != blooms).mean()
        assert abs(turned - f / 2) < 5 * np.sqrt(f / 2 / blooms.size)


def test_two_values_of_f_show_no_true_bits() -> None:
    """With independent coins, bits that agree are true no more often than Bayes' rule says."""
    blooms = (np.arange(2000 * 128).reshape(2000, 128) * 7 % 3 == 0).astype(np.uint8)
    high, low = (derived(RapporParameters(bits=128, f=f), blooms, secrets(2000)) for f in (0.75, 0.25))
    for first in (0, 1):
        for second in (0, 1):
            here = (high == first) & (low == second)
            fits = (0.625 if first else 0.375) * (0.875 if second else 0.125) / 3
            other = (0.375 if first else 0.625) * (0.125 if second else 0.875) * 2 / 3
            share = fits / (fits + other)
            assert abs(blooms[here].mean() - share) < 5 * np.sqrt(share * (1 - share) / here.sum())


def test_google_s_coins_serve_one_f() -> None:
    memo, bloom = GoogleMemo(b"secret", f=0.75), np.zeros(32, np.uint8)
    memo.permanent(RapporParameters(bits=32, f=0.75), bloom)
    for other in (RapporParameters(bits=32, f=0.25), RapporParameters(bits=64, f=0.75)):
        with pytest.raises(ParameterError, match="another f"):
            memo.permanent(other, bloom)
    with pytest.raises(ParameterError, match="1/128"):
        GoogleMemo(b"secret", f=0.3)
    with pytest.raises(ParameterError, match="random bytes"):
        GoogleMemo(b"pin")


def test_the_same_filter_has_the_same_response_and_others_their_own() -> None:
    setup = RapporParameters(bits=128)
    blooms = np.eye(128, dtype=np.uint8)
    memo = SecretMemo(SECRET)
    found = derived(setup, blooms, [SECRET] * 128)
    assert (found == derived(setup, blooms, [SECRET] * 128)).all()
    assert all((memo.permanent(setup, bloom) == one).all() for bloom, one in zip(blooms, found, strict=True))
    for secret, metric in ((SECRET + b".", b""), (SECRET, b"page")):
        assert 0.2 < (found != derived(setup, blooms, [secret] * 128, metric)).mean() < 0.45
    assert "a secret" not in repr(memo) + repr(GoogleMemo(SECRET))
    with pytest.raises(ParameterError, match="random bytes"):
        SecretMemo(b"pin")


def test_a_file_keeps_each_response(tmp_path: Path) -> None:
    setup, path = RapporParameters(bits=64), tmp_path / "memo.json"
    memo = MemoFile(path)
    blooms = np.eye(64, dtype=np.uint8)[:4]
    first = [memo.permanent(setup, bloom) for bloom in blooms]
    assert all((MemoFile(path).permanent(setup, bloom) == one).all() for bloom, one in zip(blooms, first, strict=True))
    assert len(json.loads(path.read_text())["body"]["responses"]) == 4
    assert path.stat().st_mode & 0o077 == 0


def test_a_file_that_was_damaged_or_is_for_other_parameters_is_refused(tmp_path: Path) -> None:
    setup, path = RapporParameters(bits=64), tmp_path / "memo.json"
    bloom = np.eye(64, dtype=np.uint8)[0]
    MemoFile(path).permanent(setup, bloom)
    whole = path.read_text()
    with pytest.raises(ParameterError, match="written for"):
        MemoFile(path).permanent(RapporParameters(bits=64, f=0.25), bloom)
    name, response = next(iter(json.loads(whole)["body"]["responses"].items()))
    turned = whole.replace(f'"{name}": "{response}"', f'"{name}": "{"00" * 8}"')
    for broken in (turned, whole[:-10], whole.replace('"bits": 64', '"bits": 65'), "", "[]"):
        path.write_text(broken)
        with pytest.raises(ParameterError, match="Nothing was reported"):
            MemoFile(path).permanent(setup, bloom)
        assert path.read_text() == broken
    path.write_text(whole)
    path.chmod(0o640)
    with pytest.raises(ParameterError, match="others on this machine"):
        MemoFile(path).permanent(setup, bloom)
