from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.crypto.fields import field as f
from discreet.crypto.fields.field import CHUNK, PRIME, Elements, elements
from discreet.noise.deterministic import DeterministicBits
from tests.noise.fit import ALARM, ScriptedBits

EDGES = [0, 1, 2, 2**29 - 1, 2**29, 2**32 - 1, 2**32, 2**60, PRIME // 2, PRIME - 2**32, PRIME - 2, PRIME - 1]
element = st.one_of(st.sampled_from(EDGES), st.integers(0, PRIME - 1))
pairs = st.lists(st.tuples(element, element), max_size=20)


def ints(array: Elements) -> list[int]:
    assert array.dtype == np.uint64
    assert f.is_canonical(array)
    return [int(value) for value in array.reshape(-1)]


def test_the_modulus_is_a_prime() -> None:
    """Lucas and Lehmer: 2**61 - 1 is prime if and only if this sequence ends in zero."""
    term = 4
    for _ in range(59):
        term = (term * term - 2) % PRIME
    assert term == 0


@given(pairs)
def test_sums_differences_and_products_are_those_of_integers(both: list[tuple[int, int]]) -> None:
    a, b = elements([x for x, _ in both]), elements([y for _, y in both])
    assert ints(f.add(a, b)) == [(x + y) % PRIME for x, y in both]
    assert ints(f.subtract(a, b)) == [(x - y) % PRIME for x, y in both]
    assert ints(f.multiply(a, b)) == [x * y % PRIME for x, y in both]


def test_all_pairs_of_edges_multiply_exactly() -> None:
    a = elements(EDGES)
    assert ints(f.multiply(a[:, None], a)) == [x * y % PRIME for x in EDGES for y in EDGES]
    assert ints(f.add(a[:, None], a)) == [(x + y) % PRIME for x in EDGES for y in EDGES]
    assert ints(f.subtract(a[:, None], a)) == [(x - y) % PRIME for x in EDGES for y in EDGES]


@given(st.lists(st.integers(-(2**80), 2**80), max_size=10))
def test_integers_of_any_size_have_an_element(values: list[int]) -> None:
    assert ints(elements(values)) == [value % PRIME for value in values]


@given(st.lists(st.integers(0, 2**64 - 1), max_size=10))
def test_words_are_reduced(words: list[int]) -> None:
    assert ints(elements(np.array(words, dtype=np.uint64))) == [word % PRIME for word in words]


def test_arrays_of_signed_integers_are_reduced() -> None:
    values = [-1, -PRIME, 2**63 - 1, -(2**63), 0]
    assert ints(elements(np.array(values, dtype=np.int64))) == [value % PRIME for value in values]
    assert ints(elements(np.array([-1, 5], dtype=np.int8))) == [PRIME - 1, 5]


def test_what_is_not_an_integer_is_refused() -> None:
    for values in ([0.5], np.array([1.0]), ["1"]):
        with pytest.raises(ParameterError, match="not all values are integers"):
            elements(values)
    with pytest.raises(TypeError):
        f.add(np.array([1]), elements([1]))


@given(element, st.integers(-5, 2**70))
@settings(max_examples=60)
def test_powers_are_those_of_integers(base: int, exponent: int) -> None:
    if base or exponent >= 0:
        assert ints(f.power(elements([base]), exponent)) == [pow(base, exponent, PRIME)]


@given(st.lists(element.filter(bool), max_size=40))
def test_inverses_are_those_of_integers(values: list[int]) -> None:
    assert ints(f.inverse(elements(values))) == [pow(value, -1, PRIME) for value in values]


def test_zero_has_no_inverse() -> None:
    with pytest.raises(ParameterError, match="zero"):
        f.inverse(elements([3, 0]))


def test_inverses_keep_their_shape() -> None:
    a = f.uniform_elements(DeterministicBits(1), (3, 5, 7))
    assert (f.multiply(a, f.inverse(a)) == 1).all()


@given(pairs)
def test_dot_products_are_those_of_integers(both: list[tuple[int, int]]) -> None:
    a, b = elements([x for x, _ in both]), elements([y for _, y in both])
    assert int(f.dot(a, b)) == sum(x * y for x, y in both) % PRIME


@pytest.mark.parametrize("shape", [(4, CHUNK + 3), (CHUNK + 3,), (9, 2, 5), (3, 0), (CHUNK // 8, 17)])
def test_dot_products_of_any_shape_are_exact(shape: tuple[int, ...]) -> None:
    bits = DeterministicBits(2)
    weights, rows = f.uniform_elements(bits, shape[0]), f.uniform_elements(bits, shape)
    exact = np.tensordot(weights.astype(object), rows.astype(object), axes=1) % PRIME
    assert np.array_equal(f.dot(weights, rows), np.asarray(exact, dtype=object).astype(np.uint64))


def test_the_largest_elements_do_not_overflow() -> None:
    for count in (1, 7, 8, 9, 17, 3 * CHUNK):
        most = np.full(count, PRIME - 1, np.uint64)
        assert int(f.total(most)) == -count % PRIME
        assert int(f.dot(most, most)) == count % PRIME


def test_adding_in_place_takes_what_was_there_before() -> None:
    """As sharing needs it: each row gets the next one as it was."""
    rows = elements([[PRIME - 1], [5], [7]])
    f.accumulate(rows[:-1], rows[1:])
    assert ints(rows) == [4, 12, 7]


@given(st.lists(element, min_size=1, max_size=8), st.lists(element, max_size=5))
def test_polynomials_are_evaluated_exactly(coefficients: list[int], points: list[int]) -> None:
    exact = [sum(c * pow(x, k, PRIME) for k, c in enumerate(coefficients)) % PRIME for x in points]
    assert ints(f.evaluate(elements(coefficients), elements(points))) == exact


def test_chunks_do_not_show() -> None:
    bits = DeterministicBits(3)
    a, b = f.uniform_elements(bits, 3 * CHUNK + 5), f.uniform_elements(bits, 3 * CHUNK + 5)
    whole = f.multiply(a, b)
    for place in (0, CHUNK - 1, CHUNK, 3 * CHUNK + 4):
        assert int(whole[place]) == int(a[place]) * int(b[place]) % PRIME


def test_uniform_elements_are_uniform() -> None:
    draws = f.uniform_elements(DeterministicBits(4), (400, 1000))
    assert f.is_canonical(draws)
    assert stats.chisquare(np.bincount((draws >> np.uint64(51)).reshape(-1).astype(int))).pvalue > ALARM
    assert stats.chisquare(np.bincount((draws & np.uint64(1023)).reshape(-1).astype(int))).pvalue > ALARM


def test_the_modulus_itself_is_drawn_anew() -> None:
    scripted = ScriptedBits([PRIME, 2**64 - 1, 2**61 + 9, PRIME, 3, 4], [])
    assert ints(f.uniform_elements(scripted, 3)) == [4, 3, 9]
