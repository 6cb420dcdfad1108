"""What dealers prove holds for what parties hold, shows nothing else, and bytes are read back as they were."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.odo.odo_terms import OdoTerms
from discreet.crypto.odo.public_coins import PublicCoins, extracted
from discreet.crypto.odo.share_dealing import HeldShares, Proof, ShareDealing, weights_at
from discreet.noise.deterministic import DeterministicBits
from tests.crypto.odo.rehearsal import terms_of
from tests.noise.fit import ALARM

TERMS = terms_of(4, 1)
NUMBERS = np.array([3, 0, 2])
COINS = PublicCoins(TERMS, {1: [5, 6, 7], 3: [8, 9, 10]}, b"seen")


def dealing(seed: int = 1, numbers: np.ndarray = NUMBERS, terms: OdoTerms = TERMS) -> ShareDealing:
    return ShareDealing.of(DeterministicBits(seed), terms, numbers)


def test_a_proof_goes_through_all_shares_and_no_others() -> None:
    dealt = dealing()
    proof = Proof.from_bytes(TERMS, dealt.proof(COINS).to_bytes())
    assert proof.of_bits
    for index in range(1, 5):
        held = HeldShares.from_bytes(TERMS, index, dealt.held(index).to_bytes())
        other = dealing(2).held(index)
        assert proof.misses([held, other], COINS) == [other]


def test_a_proof_that_misses_in_one_kind_of_test_alone_misses() -> None:
    """A polynomial of too high a degree can pass the test of bits, and a number that is no bit that of degrees."""
    dealt = dealing()
    proof, held = dealt.proof(COINS), [dealt.held(1)]
    for part in ("degrees", "squares"):
        rows = [row[:] for row in getattr(proof, part)]
        rows[-1][0] = (rows[-1][0] + 1) % TERMS.field.prime
        changed: dict[str, Any] = {part: rows}
        assert dataclasses.replace(proof, **changed).misses(held, COINS) == held
    assert proof.misses(held, COINS) == []


def test_proofs_of_different_numbers_look_alike() -> None:
    """Each value of a proof is uniform: by its lowest bits, over many dealings, for numbers of zeros and of ones."""
    for numbers in (NUMBERS * 0, NUMBERS * 0 + 3):
        found = [dealing(seed, numbers).proof(COINS) for seed in range(200)]
        lowest = np.array([[value & 7 for row in (*one.degrees, *one.squares) for value in row[:-1]] for one in found])
        for column in lowest.T:
            assert stats.chisquare(np.bincount(column, minlength=8)).pvalue > ALARM


def test_masks_hide_the_combination_of_secrets_and_have_the_degrees_that_they_must() -> None:
    """Without its mask, a test of degrees would show a sum of secrets; with one of degree t, a test of bits its top."""
    dealt, modulo, tests = dealing(), TERMS.field, TERMS.field.tests

    def at_zero(points: tuple[int, ...], rows: object) -> np.ndarray:
        return modulo.combined(weights_at(0, points, modulo.prime), np.asarray(rows))

    secrets = at_zero((1, 2), dealt.rows[:2])
    assert set(secrets[: TERMS.secrets].tolist()) == {0, 1}
    shown = at_zero((1, 2), modulo.elements(dealt.proof(COINS).degrees).T)
    plain = [row[0] for row in zip(*modulo.dots(COINS.weights, [secrets[: TERMS.secrets]]), strict=True)]
    assert shown.tolist() != plain
    masks = slice(TERMS.secrets + tests, TERMS.secrets + 2 * tests)
    assert not at_zero((1, 2, 3), dealt.rows[:3, masks]).any()
    assert at_zero((1, 2), dealt.rows[:2, masks]).any()


def test_public_coins_hang_on_every_seed_and_on_what_was_seen() -> None:
    others = [
        PublicCoins(TERMS, {1: [5, 6, 7], 3: [8, 9, 11]}, b"seen"),
        PublicCoins(TERMS, {1: [5, 6, 7]}, b"seen"),
        PublicCoins(TERMS, COINS.seeds, b"other"),
    ]
    for other in others:
        assert not (other.weights == COINS.weights).all(axis=1).any()
    assert len(np.unique(COINS.weights, axis=0)) == TERMS.field.tests
    wide = PublicCoins(terms_of(4, 1, size=2000), COINS.seeds, b"seen")
    assert wide.flips(1).shape == (4, 2000)
    assert abs(wide.flips(1).mean() - 0.5) < 0.03
    assert (wide.flips(1) != wide.flips(2)).mean() == pytest.approx(0.5, abs=0.03)


def test_the_extractor_maps_free_seeds_one_to_one_whatever_the_others_are() -> None:
    """The determinant of any columns of the matrix is that of Vandermonde: never zero."""
    fixed = {2: [77]}
    seen = {tuple(extracted({1: [a], **fixed, 3: [b]}, 2, 23)) for a in range(23) for b in range(23)}
    assert len(seen) == 23**2  # all pairs of the field of 23
    assert extracted({1: [1], 2: [22]}, 2, 23) == [0, 22]


def test_what_cannot_be_shared_or_read_is_refused() -> None:
    for numbers in (np.array([4, 0, 0]), np.array([-1, 0, 0]), np.array([1, 1])):
        with pytest.raises(ParameterError, match="numbers from 0 to 3"):
            dealing(1, numbers)
    held = dealing().held(1).to_bytes()
    for data in (held[:-1], held[8:], b"", b"\xff" * len(held)):
        with pytest.raises(Malformed):
            HeldShares.from_bytes(TERMS, 1, data)
    proof = dealing().proof(COINS).to_bytes()
    for data in (proof[:-1], proof + bytes(8), b"\xff" * len(proof)):
        with pytest.raises(Malformed):
            Proof.from_bytes(TERMS, data)
    for coins, largest, offset in ((3, 1, 0), (-2, 1, 0), (2, 0, 0), (2, 2**60, 0), (2, 1, 2), (2, 1, -1)):
        with pytest.raises(ParameterError):
            OdoTerms("r1", TERMS.parties, 3, 3, coins=coins, largest=largest, offset=offset)


def test_bits_reach_every_number_up_to_the_largest_and_none_above() -> None:
    for largest in (1, 2, 3, 4, 5, 6, 7, 8, 9, 100, 2**31 - 1, 2**40 + 12345):
        terms = terms_of(4, 1, size=min(largest + 1, 102), coins=0, largest=largest)
        assert sum(terms.places) == largest
        numbers = np.unique(np.linspace(0, largest, terms.size).astype(np.int64))
        numbers = np.append(numbers, np.full(terms.size - numbers.size, largest))
        dealt = dealing(1, numbers, terms)
        own = terms.field.combined(
            weights_at(0, (1, 2), terms.field.prime), np.stack([dealt.held(i).added(COINS, 1) for i in (1, 2)])
        )
        assert own.tolist() == numbers.tolist()


def test_a_third_of_liars_is_refused_with_the_most_that_holds() -> None:
    for parties, faults, most in ((6, 2, 1), (7, 3, 2), (10, 0, 3)):
        with pytest.raises(ParameterError, match=f"Let {parties - most} to {parties - 1} be left"):
            terms_of(parties, faults)
    with pytest.raises(ParameterError, match="at least four parties"):
        OdoTerms("r1", ("ann", "bob", "cas"), 2, 3)


def test_nothing_that_holds_shares_prints_them() -> None:
    dealt = dealing()
    for one in (dealt, dealt.held(1)):
        assert str(dealt.rows[0, 0]) not in repr(one)
