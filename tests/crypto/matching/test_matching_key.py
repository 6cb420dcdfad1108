"""The secret key: what it opens, what it shows, and what its unrounded results would show."""

from __future__ import annotations

import copy
import logging
import pickle

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.matching import seal_stream
from discreet.crypto.matching.evaluation_keys import EvaluationKeys
from discreet.crypto.matching.match_parameters import DEGREE
from discreet.crypto.matching.matching_key import MatchingKey
from discreet.crypto.matching.residues import unpacked
from discreet.crypto.matching.seal_forms import ciphertext_of
from discreet.crypto.matching.sealed_scores import ROUNDING
from discreet.crypto.messages import framed, unframed
from tests.crypto.matching.made_galleries import key_of

SCALE = 2.0**30


def test_what_anybody_and_the_owner_encrypt_the_owner_opens() -> None:
    values = np.linspace(-1, 1, 2048)
    key = key_of(8)
    for by in (key, key.keys):
        one, other = by.sealed(values, SCALE), by.sealed(values, SCALE)
        assert one != other
        assert np.abs(key.opened(ciphertext_of(key.parameters, one, SCALE)) - values).max() < 1e-5
    exact, whole = key_of(8, "bfv"), np.arange(4096.0) % 255 - 127
    for by in (exact, exact.keys):
        assert (exact.opened(ciphertext_of(exact.parameters, by.sealed(whole, 1.0), 1.0)) == whole).all()


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_a_key_comes_back_from_its_bytes_and_opens_what_was_encrypted_before(scheme: str) -> None:
    key = key_of(8, scheme)  # type: ignore[arg-type]
    sealed = key.sealed(np.full(key.parameters.capacity, 3.0), SCALE)
    again = MatchingKey.from_bytes(key.to_bytes())
    assert again.keys.digest == key.keys.digest
    assert np.allclose(again.opened(ciphertext_of(key.parameters, sealed, SCALE)), 3.0, atol=1e-5)


def test_a_key_is_not_printed_copied_pickled_logged_or_told(caplog: pytest.LogCaptureFixture) -> None:
    key = key_of(8)
    secret = unframed(key.to_bytes())[2]
    for leak in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            leak(key)
    with caplog.at_level(logging.DEBUG):
        logging.getLogger().warning("%s %r", key, [key])
    with pytest.raises(ParameterError) as told:
        MatchingKey(key_of(8, which=1).keys, secret)
    said = caplog.text + repr(key) + str(key) + str(told.value) + repr(told.value.values)
    assert said.count("MatchingKey(8 dimensions, ckks)") >= 2
    for part in (secret[:8], secret[-8:]):
        assert part.hex() not in said
        assert repr(part)[2:-1] not in said


def test_halves_of_two_keys_and_keys_of_other_parameters_are_refused() -> None:
    key, other = key_of(8), key_of(8, which=1)
    secret = unframed(key.to_bytes())[2]
    version = unframed(key.to_bytes())[0]
    with pytest.raises(Malformed, match="do not belong together"):
        MatchingKey.from_bytes(framed(version, other.keys.to_bytes(), secret))
    with pytest.raises(Malformed, match="another version"):
        MatchingKey.from_bytes(framed(b"discreet matching secret key 0", key.keys.to_bytes(), secret))
    with pytest.raises(Malformed):
        MatchingKey.from_bytes(framed(version, key.keys.to_bytes(), secret[:-1]))
    narrow = EvaluationKeys.from_bytes
    with pytest.raises(Malformed, match="other lengths"):
        narrow(key.keys.to_bytes().replace(b"ckks 8", b"ckks 9"))


def key_from_results(key: MatchingKey, given: np.ndarray, bodies: list[bytes]) -> bool:
    """Li and Micciancio's attack: whether the secret key follows from two ciphertexts and what they decrypt to.

    A ciphertext holds c0 + c1 s = m + e. Encoded again at twice the numbers, real parts give p + p~ exactly, where
    p~ is p at the inverse of X. So each pair of points x and 1/x gives an equation for s(x) and s(1/x) from each.
    """
    engine = key.parameters.engine
    prime = engine.data_primes[0]
    rows = []
    for body, values in zip(bodies, given, strict=True):
        sealed = seal_stream.written(ciphertext_of(key.parameters, body, SCALE))
        plain = seal_stream.written(key.parameters.encoded(2 * values, SCALE))
        c0, c1 = np.frombuffer(sealed[-8 * 4 * DEGREE :], "<u8").reshape(2, 2, DEGREE)[:, 0].astype(object)
        both = np.frombuffer(plain[-8 * 2 * DEGREE :], "<u8").reshape(2, DEGREE)[0].astype(object)
        rows.append(
            (c1, c1[::-1], (both - c0 - c0[::-1]) % prime)
        )  # points stand so that the inverse of each is opposite
    (a, b, k), (c, d, m) = rows
    determinant = (a * d - b * c) % prime
    found = [int(x) * pow(int(y), -1, prime) % prime for x, y in zip((k * d - b * m) % prime, determinant, strict=True)]
    secret = unpacked(unframed(key.to_bytes())[2], engine.primes, 1, DEGREE)[0, 0]
    return bool((secret == np.array(found, np.uint64)).all())


def test_unrounded_results_show_the_key_and_rounded_ones_do_not() -> None:
    key = key_of(8)
    values = np.random.default_rng(3).uniform(-1, 1, (2, 2048))
    bodies = [key.keys.sealed(one, SCALE) for one in values]
    opened = np.array([key.opened(ciphertext_of(key.parameters, body, SCALE)) for body in bodies])
    assert key_from_results(key, opened, bodies)
    assert not key_from_results(key, np.rint(opened / ROUNDING) * ROUNDING, bodies)


def test_ten_thousand_fuzzed_keys_are_malformed_or_read() -> None:
    rng, whole = np.random.default_rng(5), key_of(2).to_bytes()
    read = 0
    for turn in range(10_000):
        data = bytearray(whole if turn % 500 == 0 else whole[:1000])
        data[int(rng.integers(0, 95 if turn % 1000 else len(data)))] ^= int(rng.integers(1, 256))
        try:
            MatchingKey.from_bytes(bytes(data))
            read += 1
        except Malformed:
            pass
    assert read < 20
