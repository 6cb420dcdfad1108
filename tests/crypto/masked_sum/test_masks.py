from __future__ import annotations

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.crypto.derivation import KeyUse, derived_key
from discreet.crypto.masked_sum.masks import CHUNK, add_mask, subtract_mask
from tests.noise.fit import ALARM

KEY = bytes(range(32))


@pytest.mark.parametrize("size", [0, 1, 7, CHUNK, 2 * CHUNK + 3])
def test_a_mask_is_the_key_stream_of_aes_in_counter_mode(size: int) -> None:
    stream = Cipher(algorithms.AES(KEY), modes.CTR(bytes(16))).encryptor().update(bytes(8 * size))
    vector = np.zeros(size, np.uint64)
    add_mask(vector, KEY)
    assert vector.astype("<u8").tobytes() == stream


def test_a_mask_comes_off_again() -> None:
    vector = np.arange(3 * CHUNK + 1, dtype=np.uint64) * np.uint64(3**39)
    masked = vector.copy()
    add_mask(masked, KEY)
    assert np.count_nonzero(masked == vector) == 0  # by chance once in 2**48 keys
    subtract_mask(masked, KEY)
    assert np.array_equal(masked, vector)


def test_a_mask_reaches_vectors_that_are_not_contiguous() -> None:
    wide, plain = np.zeros(20, np.uint64), np.zeros(10, np.uint64)
    add_mask(wide[::2], KEY)
    add_mask(plain, KEY)
    assert np.array_equal(wide[::2], plain)
    assert not wide[1::2].any()


def test_masked_vectors_look_uniform_and_unrelated() -> None:
    first, second = (derived_key(KEY, KeyUse(name, "ann", "bob", "pair mask")) for name in ("r1", "r2"))
    vectors = [np.zeros(1 << 16, np.uint64) for _ in range(2)]
    add_mask(vectors[0], first)
    add_mask(vectors[1], second)
    for one in (*vectors, vectors[0] - vectors[1]):
        assert stats.chisquare(np.bincount(one.view(np.uint8), minlength=256)).pvalue > ALARM


def test_what_cannot_be_masked_is_refused() -> None:
    for vector in (np.zeros(3), np.zeros(3, np.int64), np.zeros((2, 2), np.uint64)):
        with pytest.raises(ParameterError, match="the vector is of"):
            add_mask(vector, KEY)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="the key has 16 bytes"):
        add_mask(np.zeros(3, np.uint64), bytes(16))


def test_a_vector_longer_than_the_life_of_a_key_is_refused() -> None:
    endless = np.broadcast_to(np.uint64(0), (1 << 31) + 1)
    with pytest.raises(ParameterError, match="at most 2147483648 words"):
        add_mask(endless, KEY)
