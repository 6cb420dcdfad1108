"""Shares of which some are false: the secret, and whose they are; too many are noticed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.crypto.errors import WrongShares
from discreet.crypto.fields.share_field import MIDDLE, NARROW, WIDE, ShareField
from discreet.crypto.odo.decoding import decoded, opened
from discreet.crypto.odo.share_dealing import share
from discreet.noise.deterministic import DeterministicBits

PRIME = NARROW.prime
ELEMENT = st.integers(0, PRIME - 1)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_as_many_errors_are_found_as_can_be(data: st.DataObject) -> None:
    degree, spare = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
    coefficients = data.draw(st.lists(ELEMENT, min_size=degree + 1, max_size=degree + 1))
    points = data.draw(st.permutations(range(1, 16)).map(lambda some: some[: degree + 1 + 2 * spare]))
    values = {x: sum(c * pow(x, k, PRIME) for k, c in enumerate(coefficients)) % PRIME for x in points}
    wrong = points[: data.draw(st.integers(0, spare))]
    for x in wrong:
        values[x] = (values[x] + data.draw(st.integers(1, PRIME - 1))) % PRIME
    found = decoded(values, degree, PRIME)
    assert found.at(0) == coefficients[0]
    assert found.wrong == set(wrong)


def test_more_errors_are_refused_or_too_few_shares() -> None:
    line = {x: 3 * x + 1 for x in range(1, 8)}
    with pytest.raises(WrongShares, match="no polynomial of degree 1"):
        decoded({**line, 1: 0, 2: 0, 3: 1000}, 1, PRIME)
    with pytest.raises(WrongShares):
        decoded({1: 5}, 1, PRIME)


@pytest.mark.parametrize("modulo", [NARROW, MIDDLE, WIDE], ids=lambda field: str(field.size))
def test_a_share_that_is_false_in_one_element_is_found(modulo: ShareField) -> None:
    bits, secret, rows = DeterministicBits(1), modulo.elements([7, -1, 0, 5]), np.zeros((7, 4), modulo.dtype)
    share(bits, modulo, secret, 2, rows)
    shares = dict(enumerate(rows, 1))
    shares[3] = modulo.add(shares[3], modulo.elements([0, 0, 1, 0]))
    shares[6] = np.zeros(4, modulo.dtype)
    value, wrong = opened(shares, modulo.uniform(bits, modulo.tests, 4), 2, modulo)
    assert np.array_equal(value, secret)
    assert wrong == {3, 6}


def test_shares_that_are_false_in_different_combinations_are_counted_together() -> None:
    """Each of these challenges meets one false share of the three, and only two could be told from the others."""
    modulo, rows = WIDE, np.zeros((7, 3), WIDE.dtype)
    share(DeterministicBits(1), modulo, modulo.elements([1, 2, 3]), 2, rows)
    shares = {index: row.copy() for index, row in enumerate(rows, 1)}
    for place, index in enumerate((1, 4, 7)):
        shares[index] = modulo.add(shares[index], modulo.elements([int(place == k) for k in range(3)]))
    challenges = np.eye(3, dtype=modulo.dtype)
    with pytest.raises(WrongShares, match="all but 2 of 7"):
        opened(shares, challenges, 2, modulo)
    assert opened(shares, challenges[:2], 2, modulo)[1] == {1, 4}
    for few in ({}, {1: shares[1]}):
        with pytest.raises(WrongShares):
            opened(few, challenges, 2, modulo)
