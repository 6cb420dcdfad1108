"""Keys: what they compute against the textbook, what they show, and what is refused."""

from __future__ import annotations

import contextlib
import copy
import logging
import math
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import MissingExtra, ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.messages import framed, unframed
from discreet.crypto.paillier import big_integers, public_key
from discreet.crypto.paillier.encrypted_array import encrypt
from discreet.crypto.paillier.packing import Packing
from discreet.crypto.paillier.private_key import PrivateKey
from discreet.crypto.paillier.public_key import PublicKey, read, written
from discreet.noise.system_bits import system_bits
from tests.crypto.paillier.small_keys import PRIMES, small_key

KEY = small_key()


def textbook(ciphertext: int, p: int, q: int) -> int:
    """Paillier 1999, scheme 1, by Python's integers alone."""
    n, carmichael = p * q, math.lcm(p - 1, q - 1)
    shown = pow(ciphertext, carmichael, n * n)
    return (shown - 1) // n * pow(carmichael, -1, n) % n


def test_decryption_is_that_of_the_textbook() -> None:
    p, q = PRIMES[512]
    n, rng = p * q, np.random.default_rng(0)
    for _ in range(20):
        m, r = (int.from_bytes(rng.bytes(63)) for _ in range(2))
        sealed = (1 + m % n * n) * pow(r, n, n * n) % (n * n)
        assert KEY.plain(sealed) == textbook(sealed, p, q) == m % n


def test_anybody_and_the_owner_make_zeros_that_differ() -> None:
    p, q = PRIMES[512]
    for by in (KEY, KEY.public):
        zeros = by.zeros(30, system_bits())
        assert len(set(zeros)) == 30
        assert {textbook(int(zero), p, q) for zero in zeros} == {0}


def test_exponents_have_the_stated_lengths() -> None:
    asked: list[int] = []

    class Counted:
        secret = True

        def integer(self, width: int) -> int:
            asked.append(width)
            return system_bits().integer(width)

    n, base = KEY.public.modulus, KEY.public.base
    for randomness, width in (("short", 256), ("full", 576), ("subgroup", 576)):
        PublicKey(n, base, randomness).zeros(1, Counted())  # type: ignore[arg-type]
        assert asked.pop() == width


@pytest.mark.parametrize("randomness", ["short", "subgroup"])
def test_drawn_keys_have_the_form_that_their_promise_needs(randomness: Any) -> None:
    key = PrivateKey.drawn(2048 if randomness == "subgroup" else 512, randomness)
    p, q = (int(part.p) for part in key._own)
    orders = [int(part.order) for part in key._own]
    assert p * q == key.public.modulus
    assert p.bit_length() == q.bit_length() == key.public.key_bits // 2
    assert p % 4 == q % 4 == 3
    assert math.gcd(p - 1, q - 1) == 2
    prime = big_integers.gmp().is_prime
    for one, order in zip((p, q), orders, strict=True):
        assert prime(one)
        if randomness == "subgroup":
            assert prime(order)
            assert order.bit_length() == 256
            assert (one - 1) % order == 0
            assert pow(int(key.public.base), order, one) == 1
            assert int(key.public.base) % one != 1
        else:
            assert prime((one - 1) // 2)
            assert order == one - 1
            assert pow(int(key.public.base), (one - 1) // 2, one) == one - 1  # minus a square: the whole group
    values = np.arange(-5, 5)
    for by in (key, key.public):
        assert (key.decrypt(encrypt(values, Packing(-9, 9), by)) == values).all()


def test_keys_of_a_subgroup_notice_what_is_outside_it() -> None:
    key = PrivateKey.drawn(2048, "subgroup")
    array = encrypt([1], Packing(-9, 9), key)
    n = int(key.public.modulus)
    foreign = (array.ciphertexts[0] * pow(3, n, n * n)) % (n * n)
    assert key.plain(foreign) is None
    with pytest.raises(Malformed, match="does not fit its packing"):
        array.opened([None])


def test_short_keys_are_refused_by_everything_that_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_key, "LEAST", 2048)
    for width in (256, 1024, 2047, 2049, 2046, 10**6, 2048.0, "2048"):
        with pytest.raises(ParameterError, match="Take 2048 or 3072"):
            PrivateKey.drawn(width)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="Take 2048 or 3072"):
        PublicKey(KEY.public.modulus, KEY.public.base)
    with pytest.raises(Malformed, match="512 bits"):
        PublicKey.from_bytes(KEY.public.to_bytes())
    with pytest.raises(Malformed):
        PrivateKey.from_bytes(KEY.to_bytes())
    with pytest.raises(ParameterError, match="randomness is weak"):
        PrivateKey.drawn(2048, "weak")  # type: ignore[arg-type]


def test_keys_travel_as_bytes_and_anything_else_is_malformed() -> None:
    again = PrivateKey.from_bytes(KEY.to_bytes())
    assert again.public == KEY.public
    assert again.plain(again.zeros(1, system_bits())[0]) == 0
    version, randomness, modulus, base = unframed(KEY.public.to_bytes())
    for fields in (
        (b"discreet paillier public key 2", randomness, modulus, base),
        (version, b"weak", modulus, base),
        (version, b"\xff", modulus, base),
        (version, randomness, b"\0" + modulus, base),
        (version, randomness, modulus, b""),
        (version, randomness, modulus, b"\1"),
        (version, randomness, modulus, modulus),
        (version, randomness, modulus[:-1] + bytes([modulus[-1] - 1]), base),
        (version, randomness, b"\1" * 10**5, base),
    ):
        with pytest.raises(Malformed):
            PublicKey.from_bytes(framed(*fields))
    version, public, p, order, q, other = unframed(KEY.to_bytes())
    for parts in (
        (b"discreet paillier private key 2", public, p, order, q, other),
        (version, public, q, order, q, other),
        (version, public, p, other, q, order),
        (version, public, p, b"\1", q, other),
        (version, public, b"", order, q, other),
        (version, public, p, b"", q, other),
    ):
        with pytest.raises(Malformed):
            PrivateKey.from_bytes(framed(*parts))


def test_numbers_are_read_in_one_form_and_length_only() -> None:
    for number in (0, 1, 255, 256, 2**64 - 1):
        assert read(written(number), 8) == number
    for data in (written(2**64), b"\1" * 9, b"\0", b"\0\1"):
        with pytest.raises(Malformed, match="too long, or begins with a zero"):
            read(data, 8)


def test_ten_thousand_fuzzed_keys_are_malformed_or_read() -> None:
    rng = np.random.default_rng(1)
    kinds: list[tuple[Callable[[bytes], Any], bytes, int]] = [
        (PublicKey.from_bytes, KEY.public.to_bytes(), 10_000),
        (PrivateKey.from_bytes, KEY.to_bytes(), 2_000),
    ]
    for of, good, count in kinds:
        for _ in range(count):
            data = bytearray(good)
            for place in rng.integers(0, 70 if rng.random() < 0.9 else len(data), rng.integers(1, 3)):
                data[place] = rng.integers(0, 256)
            with contextlib.suppress(Malformed):
                of(bytes(data))


def test_a_key_is_not_printed_copied_pickled_logged_or_told(caplog: pytest.LogCaptureFixture) -> None:
    p, q = PRIMES[512]
    secrets = [text for number in (p, q, p - 1, q - 1) for text in (str(number), f"{number:x}", f"{number:X}")]
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("discreet").warning("%s %r", KEY, KEY)
    told = [repr(KEY), str(KEY), caplog.text, repr(KEY.public), f"{KEY}"]
    for primes, orders in (((p, p), None), ((q, p), (q - 1, p - 2))):
        with pytest.raises(ParameterError) as refused:
            PrivateKey(KEY.public, primes, orders)
        told += [str(refused.value), repr(refused.value), repr(refused.value.values)]
    assert not [secret for secret in secrets for text in told if secret in text]
    for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
        for held in (KEY, KEY._own[0]):
            with pytest.raises(TypeError, match="neither copied nor pickled"):
                duplicate(held)
    assert repr(KEY) == "PrivateKey(512 bits)"


def test_without_gmpy2_the_line_to_run_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gmpy2", None)
    big_integers.gmp.cache_clear()
    try:
        with pytest.raises(MissingExtra, match=r"gmpy2 is not installed.*pip install 'discreet\[paillier\]'"):
            PrivateKey.drawn(2048)
    finally:
        monkeypatch.undo()
        big_integers.gmp.cache_clear()
