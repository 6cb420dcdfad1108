"""Arithmetic on encrypted numbers is that of plain ones; what could overflow, and bytes that are none, are refused."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.messages import framed, unframed
from discreet.crypto.paillier.encrypted_array import EncryptedArray, encrypt
from discreet.crypto.paillier.packing import Packing, StepInterval
from discreet.crypto.paillier.private_key import PrivateKey
from discreet.crypto.paillier.public_key import Encryptor
from discreet.crypto.paillier.zero_pool import ZeroPool
from discreet.noise.system_bits import system_bits
from tests.crypto.paillier.small_keys import small_key

KEY = small_key()
PACKING = Packing(-20, 20, headroom=10_000)


def sealed(values: Any, packing: Packing = PACKING) -> EncryptedArray:
    return encrypt(values, packing, KEY.public)


@settings(max_examples=30)
@given(st.integers(1, 70), st.integers(1, 4), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_sums_and_products_are_those_of_numpy(rows: int, columns: int, outputs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, two = (rng.integers(-20, 21, (rows, columns)) for _ in range(2))
    weights = rng.integers(-400, 401, (columns, outputs))
    first, second = sealed(one), sealed(two)
    assert (KEY.decrypt(first + second) == one + two).all()
    assert (KEY.decrypt(first - second) == one - two).all()
    assert (KEY.decrypt(first * -7 + 5) == -7 * one + 5).all()
    product = first @ weights
    assert (KEY.decrypt(product + np.arange(outputs)) == one @ weights + np.arange(outputs)).all()
    assert (KEY.decrypt(first.folded()).sum(axis=0) == one.sum(axis=0)).all()
    assert (KEY.decrypt(first[:, :1]) == one[:, :1]).all()
    assert product.interval.low <= (one @ weights).min() <= (one @ weights).max() <= product.interval.high


def test_weights_of_any_length_and_none() -> None:
    values = np.array([[3, -4], [5, 0]])
    wide = Packing(-20, 20, headroom=2**100)
    for weights in ([[0], [0]], [[2**80], [-(2**80)]], [[-1], [1]], [[2**63], [7]]):
        plain = values.astype(object) @ np.array(weights, dtype=object)
        assert (KEY.decrypt(sealed(values, wide) @ np.array(weights, dtype=object)) == plain).all()


def test_fixed_point_products_keep_the_step() -> None:
    packing = Packing(-1.0, 1.0, exponent=-8, headroom=2**12)
    values = np.array([[0.5, -0.25], [1.0, 0.125]])
    weights = np.array([[3], [-5]])
    found = KEY.decrypt(sealed(values, packing).matmul(weights, exponent=-2))
    assert found.dtype == np.float64
    assert (found == values @ weights / 4).all()


def test_arrays_of_more_axes_keep_their_shape() -> None:
    values = np.arange(24).reshape(4, 3, 2) - 12
    assert (KEY.decrypt(sealed(values)) == values).all()
    assert (KEY.decrypt(sealed(values)[:, 1:, :1]) == values[:, 1:, :1]).all()
    assert KEY.decrypt(sealed(7)).tolist() == [7]


def test_what_could_overflow_is_refused_before_anything_is_computed() -> None:
    array = sealed(np.zeros((2, 2), int), Packing(-20, 20, headroom=3))
    room = 2 ** (array.packing.width - 1) - 1
    assert KEY.decrypt(array * 3).tolist() == [[0, 0], [0, 0]]
    for job in (lambda: array * 4, lambda: array + (room - 19), lambda: array @ np.array([[2], [-2]])):
        with pytest.raises(ParameterError, match=r"a slot holds 63\. Nothing was computed\. Pack with headroom 4"):
            job()
    with pytest.raises(ParameterError, match="numbers could reach 80 steps"):
        EncryptedArray.total([array] * 10)
    long = encrypt(np.zeros(array.slots * 4, int), array.packing, KEY)
    with pytest.raises(ParameterError, match="numbers could reach 80 steps"):
        long.folded()


def test_the_interval_of_folded_blocks_counts_slots_that_end_early() -> None:
    packing = Packing(5, 6, headroom=100)
    values = np.full(packing.slots(512) + 1, 5)
    folded = encrypt(values, packing, KEY).folded()
    assert folded.interval == StepInterval(5, 12)
    assert KEY.decrypt(folded).sum() == values.sum()


def test_only_integers_multiply() -> None:
    array = sealed([[1, 2]])
    weights: Any
    for weights in ([[0.5], [1.0]], [["a"], ["b"]], [[True], [False]], [[np.nan], [1.0]]):
        with pytest.raises(ParameterError, match="not all are integers"):
            array @ np.array(weights)
    other: Any
    for other in (1.5, np.array([1.0]), "a"):
        with pytest.raises(ParameterError, match="not all are integers"):
            array * other
    with pytest.raises(ParameterError, match="Use @"):
        array * np.array([1, 2])
    for weights in (np.ones((3, 1), int), np.ones(2, int), np.ones((2, 0), int)):
        with pytest.raises(ParameterError):
            array @ weights


def test_only_like_arrays_are_added() -> None:
    other = encrypt([1, 2], PACKING, small_key(256))
    with pytest.raises(Malformed, match="under another key"):
        sealed([1, 2]) + other
    with pytest.raises(Malformed, match="under another key"):
        KEY.decrypt(other)
    for wrong in (sealed([1, 2, 3]), sealed([1, 2], Packing(-20, 20, headroom=99))):
        with pytest.raises(ParameterError, match="Give both one shape"):
            sealed([1, 2]) + wrong
    with pytest.raises(ParameterError, match="rows cannot be taken out"):
        sealed([[1, 2]])[0]  # type: ignore[index]


def owner_and_anybody() -> list[Encryptor]:
    pool = ZeroPool(KEY)
    pool.fill(20)
    return [KEY, KEY.public, pool]


@pytest.mark.parametrize("by", owner_and_anybody(), ids=["owner", "anybody", "pool"])
def test_no_two_ciphertexts_of_an_array_share_their_randomness(by: Encryptor) -> None:
    """With one zero for two of them, their quotient would be (1 + n)**(their difference), which everybody can read."""
    values = np.array([[5, 5, 7, -9], [5, 5, 5, 5]])
    array = encrypt(values, Packing(-9, 9), by)
    check_own_randomness(array.ciphertexts)
    square = int(KEY.public.square)
    pairs = zip(array.refreshed(by).ciphertexts, array.ciphertexts, strict=True)
    check_own_randomness([int(fresh) * pow(int(old), -1, square) % square for fresh, old in pairs])
    zeros = encrypt(np.zeros(3 * array.slots, int), Packing(-9, 9), by)
    assert len(zeros.ciphertexts) == 3
    check_own_randomness(zeros.ciphertexts)


def check_own_randomness(ciphertexts: Sequence[Any]) -> None:
    """An element is free of randomness if it is 1 modulo n: then its plaintext can be read without a key."""
    n, square = int(KEY.public.modulus), int(KEY.public.square)
    assert len(set(ciphertexts)) == len(ciphertexts)
    for one, other in itertools.combinations(map(int, ciphertexts), 2):
        quotient = one * pow(other, -1, square) % square
        assert quotient % n != 1


def test_a_shared_zero_shows_the_difference() -> None:
    """What the test above looks for is there where a zero is used twice."""
    zero = KEY.zeros(1, system_bits())[0]
    shared = [KEY.public.holds(plain) * zero % KEY.public.square for plain in (5, 7)]
    with pytest.raises(AssertionError):
        check_own_randomness(shared)


def test_refreshed_ciphertexts_are_new_and_hold_the_same() -> None:
    array = sealed([[1, 2], [3, 4]])
    fresh = array.refreshed()
    assert not set(fresh.ciphertexts) & set(array.ciphertexts)
    assert (KEY.decrypt(fresh) == KEY.decrypt(array)).all()
    products = [array @ np.array([[weight], [3]]) for weight in (2, 90)]
    assert products[0].interval != products[1].interval
    assert products[0].refreshed().interval == products[1].refreshed().interval == PACKING.room
    stated = StepInterval(-3000, 3000)
    assert products[1].refreshed(interval=stated).interval == stated
    with pytest.raises(ParameterError, match="outside that interval"):
        products[1].refreshed(interval=StepInterval(-10, 10))
    assert not set(sealed([[1, 2], [3, 4]]).ciphertexts) & set(array.ciphertexts)


def test_bytes_are_read_as_they_were_written() -> None:
    array = sealed([[1.5, -2.0]], Packing(-3.0, 3.0, exponent=-1, headroom=5)) * 2
    again = EncryptedArray.from_bytes(array.to_bytes(), KEY.public)
    assert (KEY.decrypt(again) == [[3.0, -4.0]]).all()
    assert (again.packing, again.interval, again.shape, again.ciphertexts) == (
        array.packing,
        array.interval,
        array.shape,
        array.ciphertexts,
    )
    assert len(array.to_bytes()) < array.nbytes + 400


def changed(array: EncryptedArray, **head: Any) -> bytes:
    version, digest, told, body = unframed(array.to_bytes())
    return framed(version, digest, json.dumps(json.loads(told) | head).encode(), body)


def test_bytes_of_another_key_version_or_size_are_malformed() -> None:
    array = sealed([1, 2])
    version, digest, head, body = unframed(array.to_bytes())
    for data, words in (
        (encrypt([1, 2], PACKING, small_key(256)).to_bytes(), "under another key"),
        (framed(b"discreet paillier array 2", digest, head, body), "another version"),
        (array.to_bytes()[:-1], "ends in the middle"),
        (framed(version, digest, head, body[:-1]), "bytes of ciphertexts"),
        (framed(version, digest, head, body * 2), "bytes of ciphertexts"),
        (changed(array, shape=[2**40]), "cannot be read"),
        (changed(array, shape=[0]), "cannot be read"),
        (changed(array, shape=[]), "cannot be read"),
        (changed(array, shape=[1, 2**62]), "cannot be read"),
        (changed(array, packing=[0, 1, 0, -5]), "cannot be read"),
        (changed(array, packing=[0, 1, 0, 1e3]), "cannot be read"),
        (changed(array, packing=["nan", 1, 0, 1]), "cannot be read"),
        (changed(array, packing=[0, 2**900, 0, 1]), "no slot"),
        (changed(array, interval=[5, -5]), "cannot be read"),
        (changed(array, interval=[-(2**99), 2**99]), "a slot holds"),
        (changed(array, more=1), "cannot be read"),
        (framed(version, digest, b"[" * 100_000, body), "cannot be read"),
    ):
        with pytest.raises(Malformed, match=words):
            EncryptedArray.from_bytes(data, KEY.public)


def test_numbers_that_are_no_ciphertexts_are_malformed() -> None:
    """Zero, the modulus and its square, numbers above it, and multiples of a prime."""
    key, size = KEY.public, KEY.public.size
    good = sealed(np.zeros(3 * sealed([1]).slots, int))
    p = KEY._own[0].p
    version, digest, head, body = unframed(good.to_bytes())
    for bad in (0, key.modulus, key.square, key.square + 1, 256**size - 1, p, p * p, 7 * p):
        for place in range(3):
            wrong = body[: place * size] + int(bad).to_bytes(size, "big") + body[(place + 1) * size :]
            with pytest.raises(Malformed, match="no ciphertext"):
                EncryptedArray.from_bytes(framed(version, digest, head, wrong), key)


def test_ten_thousand_fuzzed_messages_are_malformed_or_read() -> None:
    rng, good = np.random.default_rng(0), sealed([1, 2, 3]).to_bytes()
    read = 0
    for _ in range(10_000):
        data = bytearray(good)
        for place in rng.integers(0, len(data), rng.integers(1, 4)):
            data[place] = rng.integers(0, 256)
        cut = int(rng.integers(0, len(data) + 1)) if rng.random() < 0.3 else len(data)
        try:
            EncryptedArray.from_bytes(bytes(data[:cut]), KEY.public)
            read += 1
        except Malformed:
            pass
    assert 0 < read < 9_000


def test_decryption_has_one_error_after_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers outside their interval, above all slots, and ciphertexts of anything: all are told alike, at the end."""
    honest = sealed(np.ones((40, 3), int))
    beyond = Packing(-(2**17), 2**17 - 1, headroom=1)  # of the same width, and another range
    outside = encrypt(np.full((40, 3), 100_000), beyond, KEY)
    assert beyond.width == PACKING.width
    anything = [pow(12345 + place, 7, int(KEY.public.square)) for place in range(len(honest.ciphertexts))]
    work: list[int] = []
    plain = PrivateKey.plain

    def counted(key: PrivateKey, one: Any) -> Any:
        work.append(1)
        return plain(key, one)

    monkeypatch.setattr(PrivateKey, "plain", counted)
    told = set()
    for wrong in (
        outside.ciphertexts,
        [*outside.ciphertexts[:1], *honest.ciphertexts[1:]],
        [*honest.ciphertexts[:-1], outside.ciphertexts[0]],
        anything,
    ):
        work.clear()
        array = EncryptedArray(KEY.public, PACKING, (40, 3), PACKING.interval, 0, tuple(wrong))
        with pytest.raises(Malformed) as refused:
            KEY.decrypt(array)
        told.add(str(refused.value))
        assert len(work) == len(honest.ciphertexts)
    assert len(told) == 1
    assert "100000" not in told.pop()


def test_what_is_printed_says_what_is_public() -> None:
    array = sealed([[1, 2]])
    assert repr(array) == f"EncryptedArray(shape (1, 2), {PACKING}, key {KEY.public.digest.hex()[:16]})"
    KEY.public.zeros(KEY.public.table.pays, system_bits())
    assert len(pickle.dumps(array)) < 2_000  # without the table
    assert (KEY.decrypt(pickle.loads(pickle.dumps(array))) == KEY.decrypt(copy.deepcopy(array))).all()


def test_numpy_leaves_sums_to_encrypted_arrays() -> None:
    assert KEY.decrypt(np.array([1, 2]) + sealed([3, 4])).tolist() == [4, 6]
