from __future__ import annotations

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed, WrongShares
from discreet.crypto.fields.field import CHUNK, PRIME, elements, evaluate, uniform_elements
from discreet.crypto.sharing.shamir import Deal, ShamirShare, packed, reconstruct, share, unpacked, weights_at
from discreet.noise.deterministic import DeterministicBits
from tests.noise.fit import ALARM

SECRET = elements([0, 1, -1, 2**60, 12345])


@pytest.mark.parametrize(("parties", "threshold"), [(2, 1), (4, 2), (5, 1), (5, 4), (6, 3)])
def test_any_shares_beyond_the_threshold_give_the_secret(parties: int, threshold: int) -> None:
    shares = share(DeterministicBits(1), SECRET, Deal(parties, threshold))
    assert [one.index for one in shares] == list(range(1, parties + 1))
    for count in range(threshold + 1, parties + 1):
        for some in itertools.combinations(shares, count):
            assert np.array_equal(reconstruct(some[::-1]), SECRET)


@given(st.integers(0, PRIME - 1), st.integers(2, 12), st.data())
@settings(max_examples=40)
def test_any_secret_comes_back(secret: int, parties: int, data: st.DataObject) -> None:
    threshold = data.draw(st.integers(1, parties - 1))
    shares = share(DeterministicBits(2), elements([secret]), Deal(parties, threshold))
    some = data.draw(st.permutations(shares))[: threshold + 1]
    assert int(reconstruct(some)[0]) == secret


def test_shares_are_values_of_a_polynomial_of_the_right_degree() -> None:
    """Lagrange's polynomial through the secret and t shares, in coefficients, gives all the others."""
    deal, secret = Deal(9, 4), elements([77])
    shares = share(DeterministicBits(3), secret, deal)
    points = {0: 77} | {one.index: int(one.values[0]) for one in shares[:4]}
    vandermonde = [[pow(x, k) for k in range(5)] for x in points]
    coefficients = _solved(vandermonde, list(points.values()))
    values = evaluate(elements(coefficients), elements(list(range(1, 10))))
    assert values.tolist() == [int(one.values[0]) for one in shares]
    assert coefficients[4]


def _solved(matrix: list[list[int]], right: list[int]) -> list[int]:
    """Gauss's elimination modulo PRIME, in Python's integers."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i, _ in enumerate(rows):
        pivot = next(k for k in range(i, len(rows)) if rows[k][i] % PRIME)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        scale = pow(rows[i][i], -1, PRIME)
        rows[i] = [entry * scale % PRIME for entry in rows[i]]
        for k, row in enumerate(rows):
            if k != i:
                rows[k] = [(a - row[i] * b) % PRIME for a, b in zip(row, rows[i], strict=True)]
    return [row[-1] for row in rows]


@pytest.mark.parametrize("threshold", [1, 2, 3])
def test_shares_up_to_the_threshold_depend_on_uniform_numbers_one_to_one(threshold: int) -> None:
    """Shares are the secret plus C(x, k) times uniform numbers: a matrix that must have an inverse."""
    for points in itertools.combinations(range(1, 8), threshold):
        matrix = [[math.comb(x, k) for k in range(1, threshold + 1)] for x in points]
        for unit in range(threshold):
            column = [int(row == unit) for row in range(threshold)]
            answer = _solved(matrix, column)
            back = [sum(a * b for a, b in zip(row, answer, strict=True)) % PRIME for row in matrix]
            assert back == column


@pytest.mark.parametrize("secret", [0, 1, PRIME - 1])
def test_two_shares_of_a_threshold_of_two_look_uniform_together(secret: int) -> None:
    shares = share(DeterministicBits(4), elements([secret] * 200_000), Deal(5, 2))
    for one, other in itertools.combinations(shares, 2):
        cells = (one.values >> np.uint64(57)) * np.uint64(16) + (other.values >> np.uint64(57))
        assert stats.chisquare(np.bincount(cells.astype(int), minlength=256)).pvalue > ALARM


def test_three_shares_of_a_threshold_of_two_do_not() -> None:
    """So that the test above can fail: one more share and the secret shows."""
    shares = share(DeterministicBits(4), elements([0] * 200_000), Deal(5, 2))
    guess = reconstruct(shares[:3])
    assert stats.chisquare(np.bincount((guess >> np.uint64(57)).astype(int), minlength=16)).pvalue < 1e-100


def test_vectors_longer_than_a_chunk_come_back() -> None:
    secret = uniform_elements(DeterministicBits(5), 3 * CHUNK + 1)
    shares = share(DeterministicBits(6), secret, Deal(4, 2))
    assert np.array_equal(reconstruct([shares[0], shares[3], shares[2]]), secret)
    assert reconstruct(share(DeterministicBits(6), elements([]), Deal(4, 2))).size == 0


def test_sharing_needs_little_more_memory_than_the_shares() -> None:
    secret = uniform_elements(DeterministicBits(7), 500_000)
    tracemalloc.start()
    shares = share(DeterministicBits(8), secret, Deal(5, 3))
    dealt = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    reconstruct(shares[:4])
    opened = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert dealt < 5 * secret.nbytes + 4e6
    assert opened < secret.nbytes + 4e6


def test_too_few_shares_are_refused() -> None:
    shares = share(DeterministicBits(9), SECRET, Deal(5, 3))
    with pytest.raises(WrongShares, match="there are 3 shares and 4 are needed"):
        reconstruct(shares[:3])
    with pytest.raises(WrongShares, match="no shares"):
        reconstruct([])


def test_a_share_does_not_count_twice() -> None:
    shares = share(DeterministicBits(9), SECRET, Deal(5, 2))
    with pytest.raises(WrongShares, match="twice"):
        reconstruct([shares[0], shares[1], shares[0]])


def test_foreign_indices_are_refused() -> None:
    for index in (0, 6, -1):
        with pytest.raises(WrongShares, match="foreign"):
            ShamirShare(Deal(5, 2), index, SECRET)


def test_shares_of_different_sharings_are_refused() -> None:
    mine, other = (share(DeterministicBits(9), SECRET, deal) for deal in (Deal(5, 2), Deal(6, 2)))
    with pytest.raises(WrongShares, match="different sharings"):
        reconstruct([*mine[:2], other[2]])
    with pytest.raises(WrongShares, match="different sharings"):
        reconstruct([*mine[:2], ShamirShare(Deal(5, 2), 3, SECRET[:2])])


def test_a_changed_share_is_noticed_if_there_is_one_to_spare() -> None:
    shares = share(DeterministicBits(9), SECRET, Deal(5, 2))
    for victim in range(4):
        values = shares[victim].values.copy()
        values[3] = (int(values[3]) + 1) % PRIME
        changed = [*shares[:victim], ShamirShare(Deal(5, 2), victim + 1, values), *shares[victim + 1 : 4]]
        with pytest.raises(WrongShares, match="does not lie on the polynomial"):
            reconstruct(changed)


def test_what_is_no_vector_of_elements_is_no_share() -> None:
    for values in (np.array([PRIME], np.uint64), np.array([[1]], np.uint64), np.array([1])):
        with pytest.raises(WrongShares, match="no vector of field elements"):
            ShamirShare(Deal(3, 1), 1, values)


@pytest.mark.parametrize(("parties", "threshold"), [(3, 0), (3, 3), (1, 1), (1 << 16, 2), (0, 0)])
def test_sharings_that_hide_nothing_or_give_nothing_are_refused(parties: int, threshold: int) -> None:
    with pytest.raises(ParameterError, match="learn nothing"):
        Deal(parties, threshold)


def test_weights_interpolate_powers() -> None:
    indices = (2, 3, 7, 11)
    for point in (0, 1, 7, 12):
        weights = weights_at(point, indices)
        for k in range(4):
            moment = sum(int(w) * pow(i, k) for w, i in zip(weights, indices, strict=True)) % PRIME
            assert moment == pow(point, k)


@given(st.binary(max_size=40))
def test_bytes_come_back_from_elements(secret: bytes) -> None:
    assert unpacked(packed(secret), len(secret)) == secret


def test_elements_that_hold_no_bytes_are_refused() -> None:
    for pieces, size in (([2**56], 7), ([256], 1), ([1, 2], 7), ([], 1)):
        with pytest.raises(Malformed, match="are not"):
            unpacked(elements(pieces), size)


def test_a_share_comes_back_from_bytes() -> None:
    one = share(DeterministicBits(9), SECRET, Deal(5, 2))[3]
    again = ShamirShare.from_bytes(Deal(5, 2), 4, one.to_bytes(), SECRET.size)
    assert np.array_equal(again.values, one.values)
    with pytest.raises(Malformed, match="bytes"):
        ShamirShare.from_bytes(Deal(5, 2), 4, one.to_bytes()[:-1], SECRET.size)
    with pytest.raises(WrongShares):
        ShamirShare.from_bytes(Deal(5, 2), 4, b"\xff" * 8, 1)
