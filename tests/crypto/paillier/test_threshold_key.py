"""Shares: what they are by independent computation, what a dealer keeps, and bytes that are none."""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import pickle
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed, ProtocolError, UnknownParty
from discreet.crypto.messages import framed, unframed
from discreet.crypto.paillier.private_key import PrivateKey
from discreet.crypto.paillier.public_key import PublicKey, written
from discreet.crypto.paillier.threshold_key import KeyShare, ThresholdKey, dealt, dealt_from
from tests.crypto.paillier.small_keys import PRIMES, small_key

PLAIN = {"KeyShare": "its holder's name is quoted"}
NAMES = ("ann", "bob", "cas", "dan", "eve")


@cache
def shares(threshold: int = 3, width: int = 512) -> dict[str, KeyShare]:
    return dealt_from(small_key(width), NAMES, threshold, "dora")


def test_any_threshold_of_shares_is_the_key_and_fewer_are_not() -> None:
    """By Lagrange's interpolation over fractions: n! d modulo n p'q', where d is 0 modulo p'q' and 1 modulo n."""
    p, q = PRIMES[512]
    n, order = p * q, (p - 1) // 2 * ((q - 1) // 2)
    own = [int(one._secret) for one in shares().values()]
    for chosen in itertools.combinations(range(1, 6), 3):
        found = Fraction(0)
        for i in chosen:
            weight = math.prod(Fraction(j, j - i) for j in chosen if j != i)
            assert shares()["ann"].key.lagrange(chosen, i) == 120 * weight
            found += 120 * weight * own[i - 1]
        assert found.denominator == 1
        assert int(found) % order == 0
        assert int(found) % n == 120
    two = 2 * own[0] - own[1]  # the line through two shares, at zero
    assert two % order != 0


def test_public_numbers_are_powers_of_a_square() -> None:
    key, square = shares()["ann"].key, int(small_key().public.square)
    for name, share in shares().items():
        assert key.holders[name] == pow(int(key.base), 120 * int(share._secret), square)
        assert share.exponent == 120 * share._secret
    p, q = PRIMES[512]
    assert all(pow(int(key.base), (prime - 1) // 2, prime) == 1 for prime in (p, q))


def test_a_dealer_says_who_it_is_and_keeps_nothing() -> None:
    given = dealt(("ann", "bob"), 2, "dora", width=256)
    key = given["bob"].key
    assert (key.dealer, key.threshold, list(key.holders)) == ("dora", 2, ["ann", "bob"])
    kept = [vars(key), vars(given["ann"]), vars(key.public)]
    assert not any(isinstance(one, PrivateKey) for held in kept for one in held.values())
    for names, threshold, words in (
        (("ann", "bob"), 1, "at least 2"),
        (("ann", "bob"), 3, "at least 2"),
        (("ann",), 2, "at least 2"),
        (("ann", "ann"), 2, "same name"),
        (("ann", ""), 2, "empty or long"),
    ):
        with pytest.raises(ParameterError, match=words):
            dealt(names, threshold, "dora", width=256)


def test_a_key_without_safe_primes_is_not_dealt() -> None:
    p, q = 0xE3B2B4F1A2B6FDA1F2A1E7CE0D5B8A33, 0
    gmp = pytest.importorskip("gmpy2")
    p, q = (int(gmp.next_prime(p + 2**k)) for k in (1, 90))
    n = p * q
    with pytest.raises(ParameterError, match="no safe primes"):
        dealt_from(PrivateKey(PublicKey(n, pow(4, n, n * n)), (p, q)), NAMES, 3, "dora")


def test_shares_are_held_against_what_is_public() -> None:
    key, ann = shares()["ann"].key, int(shares()["ann"]._secret)
    for name, secret in (("bob", ann), ("ann", ann + 1), ("ann", 0), ("ann", -1), ("ann", key.public.square)):
        with pytest.raises(ParameterError) as refused:
            KeyShare(key, name, secret)
        assert str(ann) not in str(refused.value)
    with pytest.raises(UnknownParty, match="'fay' holds no share"):
        KeyShare(key, "fay", ann)


def test_keys_and_shares_travel_as_bytes() -> None:
    share = shares()["cas"]
    again = KeyShare.from_bytes(share.to_bytes())
    assert (again.name, again._secret, again.key) == (share.name, share._secret, share.key)
    key = share.key
    version, public, threshold, dealer, base, holders = unframed(key.to_bytes())
    for fields in (
        (b"discreet paillier threshold key 2", public, threshold, dealer, base, holders),
        (version, public, written(9), dealer, base, holders),
        (version, public, threshold, b"", base, holders),
        (version, public, threshold, dealer, b"", holders),
        (version, public, threshold, dealer, base, framed(b"ann")),
        (version, public, threshold, dealer, base, holders + holders),
        (version, public, threshold, dealer, base, framed(b"ann", b"\1", b"\xff", b"\2")),
    ):
        with pytest.raises(Malformed):
            ThresholdKey.from_bytes(framed(*fields))
    version, public, name, secret = unframed(share.to_bytes())
    for parts in (
        (b"discreet paillier key share 2", public, name, secret),
        (version, public, b"ann", secret),
        (version, public, b"fay", secret),
        (version, public, name, secret[:-1]),
    ):
        with pytest.raises((Malformed, UnknownParty)):
            KeyShare.from_bytes(framed(*parts))


def test_ten_thousand_fuzzed_keys_are_malformed_or_read() -> None:
    rng, good = np.random.default_rng(2), shares(2, 256)["ann"].key.to_bytes()
    for _ in range(10_000):
        data = bytearray(good)
        for place in rng.integers(0, len(data), rng.integers(1, 3)):
            data[place] = rng.integers(0, 256)
        with contextlib.suppress(Malformed):
            ThresholdKey.from_bytes(bytes(data))


def test_ten_thousand_fuzzed_shares_are_malformed_or_read() -> None:
    rng, good = np.random.default_rng(3), shares(2, 256)["ann"].to_bytes()
    for _ in range(10_000):
        data = bytearray(good)
        for place in rng.integers(0, len(data), rng.integers(1, 3)):
            data[place] = rng.integers(0, 256)
        with contextlib.suppress(ProtocolError):
            KeyShare.from_bytes(bytes(data[: int(rng.integers(0, 2 * len(data)))]))


def test_a_share_is_not_printed_copied_or_pickled() -> None:
    share = shares()["ann"]
    assert repr(share) == "KeyShare('ann', 3 of 5)"
    odd = dealt(("a\x1b[2J\n", "bob"), 2, "dora", width=256)
    assert all(line.isprintable() for line in repr(list(odd.values())).split("\n"))
    assert str(share._secret) not in f"{share!r}{share}{share.key!r}"
    for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            duplicate(share)
