"""Shares of which some are false: the secret, and whose they are; too many are noticed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.crypto.errors import WrongShares
from discreet.crypto.fields.field import PRIME, add, elements, uniform_elements
from discreet.crypto.odo.decoding import decoded, opened
from discreet.crypto.sharing.shamir import Deal, share
from discreet.noise.deterministic import DeterministicBits

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
    found = decoded(values, degree)
    assert found.at(0) == coefficients[0]
    assert found.wrong == set(wrong)


def test_more_errors_are_refused_or_too_few_shares() -> None:
    line = {x: 3 * x + 1 for x in range(1, 8)}
    with pytest.raises(WrongShares, match="no polynomial of degree 1"):
        decoded({**line, 1: 0, 2: 0, 3: 1000}, 1)
    with pytest.raises(WrongShares):
        decoded({1: 5}, 1)


def test_a_share_that_is_false_in_one_element_is_found() -> None:
    bits, secret = DeterministicBits(1), elements([7, -1, 0, 5])
    shares = {one.index: one.values for one in share(bits, secret, Deal(7, 2))}
    shares[3] = add(shares[3], elements([0, 0, 1, 0]))
    shares[6] = np.zeros(4, np.uint64)
    value, wrong = opened(shares, uniform_elements(bits, 4), 2)
    assert np.array_equal(value, secret)
    assert wrong == {3, 6}
