from __future__ import annotations

import dataclasses
import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.crypto.derivation import KeyUse, derived_key
from discreet.crypto.errors import RoundReused, TooFewSurvivors, UnknownParty
from discreet.crypto.masked_sum.terms import CHUNK, Terms, UsedRounds, add_mask, subtract_mask
from tests.noise.fit import ALARM

TERMS = Terms("r1", ("cas", "ann", "bob"), 2, 10)
KEY = bytes(range(32))


def test_parties_are_in_one_order() -> None:
    assert TERMS.parties == ("ann", "bob", "cas")
    assert [TERMS.index(name) for name in TERMS.parties] == [1, 2, 3]
    assert Terms("r1", ("bob", "ann", "cas"), 2, 10).digest == TERMS.digest


def test_every_term_is_in_the_digest() -> None:
    others = [
        TERMS,
        dataclasses.replace(TERMS, round="r2"),
        dataclasses.replace(TERMS, parties=("ann", "bob", "dan")),
        dataclasses.replace(TERMS, threshold=3),
        dataclasses.replace(TERMS, size=11),
        dataclasses.replace(TERMS, server="other"),
    ]
    assert len({one.digest for one in others}) == len(others)


@pytest.mark.parametrize("parties", range(2, 9))
def test_a_lying_server_cannot_have_two_lists_signed(parties: int) -> None:
    """Among all thresholds: no two sets of signers without an honest party in common, and one colluder more has."""
    for threshold in range(max(2, parties // 2 + 1), parties + 1):
        terms = Terms("r1", tuple("abcdefghij"[:parties]), threshold, 1)
        sets = list(itertools.combinations(range(parties), threshold))
        fewest = min(len(set(one) & set(other)) for one in sets for other in sets)
        assert terms.colluders == fewest - 1
        assert terms.dropouts + terms.threshold == parties
        assert terms.deal.threshold == threshold - 1


@pytest.mark.parametrize("change", [{"threshold": 1}, {"threshold": 4}, {"size": 0}, {"size": 1 << 32}, {"round": ""}])
def test_terms_that_cannot_be_kept_are_refused(change: dict[str, int]) -> None:
    with pytest.raises(ParameterError):
        dataclasses.replace(TERMS, **change)  # type: ignore[arg-type]


def test_half_of_the_parties_are_not_enough() -> None:
    with pytest.raises(ParameterError, match="more than half"):
        Terms("r1", ("a", "b", "c", "d"), 2, 1)


def test_names_stand_for_one() -> None:
    for parties in (("ann", "ann", "bob"), ("ann", "bob", "server")):
        with pytest.raises(ParameterError, match="have the same name"):
            Terms("r1", parties, 2, 1)


def test_strangers_have_no_index() -> None:
    with pytest.raises(UnknownParty, match="'eve' takes no part"):
        TERMS.index("eve")


def test_fewer_than_the_threshold_are_too_few() -> None:
    TERMS.check_enough("keys", 2)
    with pytest.raises(TooFewSurvivors, match="1 parties are left at the step of keys and 2 are needed") as refused:
        TERMS.check_enough("keys", 1)
    assert refused.value.values == {"count": 1, "threshold": 2}


def test_a_round_is_run_once() -> None:
    rounds = UsedRounds()
    rounds.claim("r1")
    rounds.claim("r2")
    with pytest.raises(RoundReused, match="'r1': it was run already"):
        rounds.claim("r1")


def test_of_many_threads_one_claims_a_round() -> None:
    rounds = UsedRounds()

    def won(_: int) -> bool:
        try:
            rounds.claim("r1")
        except RoundReused:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(won, range(64))) == 1


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
