"""Fields as values: exact on arrays, at the edges and in long sums, and transforms that are polynomials."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import ParameterError
from discreet.crypto.fields import field as mersenne
from discreet.crypto.fields.limb_field import FIELD64, FIELD128, TERMS, LimbField
from discreet.crypto.fields.prime_field import FIELD61, PrimeField, Vector

LIMBS = (FIELD64, FIELD128)
EVERY = (FIELD61, FIELD64.plain, FIELD128.plain, *LIMBS)
values = st.lists(st.tuples(st.integers(0, 2**130), st.integers(0, 2**130)), min_size=1, max_size=8)


def edges(field: PrimeField) -> list[int]:
    width = field.width if isinstance(field, LimbField) else 32
    near = [0, 1, 2**width, 2 ** (2 * width), 2**32, field.prime // 2, 2 ** (8 * field.size), field.prime]
    return sorted({(value + step) % field.prime for value in near for step in (-1, 0, 1)})


def test_the_moduli_are_primes_and_generators_have_the_order_that_they_say() -> None:
    """Pocklington: for prime - 1 = order times an odd rest with order**2 > prime, one witness is enough."""
    for field in LIMBS:
        assert field.order**2 >= field.prime
        assert pow(field.generator, field.prime - 1, field.prime) == 1
        assert pow(field.generator, (field.prime - 1) // 2, field.prime) == field.prime - 1
    for every in EVERY:
        assert every.root(every.order, every.order // 2) == every.prime - 1
    assert FIELD61.prime == mersenne.PRIME


@given(values)
def test_sums_differences_and_products_are_those_of_integers(pairs: list[tuple[int, int]]) -> None:
    left, right = [x for x, _ in pairs], [y for _, y in pairs]
    for field in EVERY:
        a, b, p = field.elements(left), field.elements(right), field.prime
        assert field.integers(field.reduced(a + b)) == [(x + y) % p for x, y in pairs]
        assert field.integers(field.reduced(a - b)) == [(x - y) % p for x, y in pairs]
        assert field.integers(field.product(a, b)) == [x * y % p for x, y in pairs]
        assert field.integers(field.product(a + b, b)) == [(x + y) * y % p for x, y in pairs]
        assert field.integers(field.dot(a, b)) == [sum(x * y for x, y in pairs) % p]
        assert field.integers(field.total(a)) == [sum(left) % p]


def test_all_pairs_of_edges_multiply_exactly_and_survive_bytes() -> None:
    for field in EVERY:
        known = edges(field)
        a = field.elements(known)
        b = a.reshape(field.limbs, 1, len(known))
        assert field.integers(field.product(a, b)) == [x * y % field.prime for x in known for y in known]
        assert field.integers(field.product(a - b, b)) == [(x - y) * y % field.prime for x in known for y in known]
        raw = field.encoded(a)
        assert raw.tobytes() == b"".join(x.to_bytes(field.size, "little") for x in known)
        assert not field.too_large(raw).any()
        assert field.integers(field.decoded(raw)) == known


def test_the_longest_sums_of_the_largest_limbs_are_exact() -> None:
    for field in LIMBS:
        for terms in (1, TERMS, TERMS + 1, 3 * TERMS, 1100 * TERMS):
            largest = np.full((field.limbs, terms, 1), 2**field.width - 1, np.int64)
            (value,) = set(field.integers(largest))
            loose = 2 * largest[:, :1]
            assert field.integers(field.dot(largest, np.broadcast_to(loose, largest.shape))) == [
                2 * value * value * terms % field.prime
            ]
            assert field.integers(field.reduced(-(2**13) * largest))[:1] == [-(2**13) * value % field.prime]


@given(st.lists(st.integers(-(2**40), 2**40), min_size=5, max_size=5))
def test_loose_limbs_are_brought_below_the_prime(limbs: list[int]) -> None:
    for field in LIMBS:
        loose = np.array(limbs[: field.limbs]).reshape(field.limbs, 1, 1)
        value = sum(limb << field.width * k for k, limb in enumerate(limbs[: field.limbs]))
        assert field.encoded(loose).tobytes() == (value % field.prime).to_bytes(field.size, "little")
        assert field.is_zero(loose).tolist() == [value % field.prime == 0]


def test_carries_that_run_through_all_limbs_are_brought_back() -> None:
    """Where the last limb becomes negative, or full, only after what left it has come back."""
    for field in LIMBS:
        near = [0, -1, 1, 2**field.width - 1, 2**30, -(2**30), 2**40 - 1, -(2**40)]
        loose = np.array(list(itertools.product(near, repeat=field.limbs))).T.reshape(field.limbs, -1, 1)
        known = [sum(int(limb) << field.width * k for k, limb in enumerate(one)) for one in loose[:, :, 0].T]
        raw = field.encoded(loose).reshape(-1, field.size)
        assert [int.from_bytes(one.tobytes(), "little") for one in raw] == [value % field.prime for value in known]


def test_bytes_that_are_no_element_are_seen() -> None:
    for field in (FIELD64, FIELD128, FIELD64.plain, FIELD128.plain):
        top = 2 ** (8 * field.size) - 1
        for value in (field.prime - 1, field.prime, field.prime + 1, top, top - 2**70 if field.size == 16 else top - 1):
            raw = np.frombuffer(value.to_bytes(field.size, "little"), np.uint8)[None]
            assert field.too_large(raw).tolist() == [[value >= field.prime]]
        zero = field.elements([0, field.prime])
        assert field.is_zero(zero).all()


def evaluated(field: PrimeField, coefficients: list[int], point: int) -> int:
    return sum(c * pow(point, k, field.prime) for k, c in enumerate(coefficients)) % field.prime


@settings(max_examples=10)
@given(st.integers(0, 5), st.integers(0, 2**64), st.integers(0, 2**128))
def test_transforms_are_values_of_polynomials_and_go_back(log: int, seed: int, point: int) -> None:
    n = 1 << log
    for field in (FIELD64, FIELD128, FIELD128.plain):
        drawn = [pow(seed + k, 5, field.prime) for k in range(n)]
        a = field.elements(drawn)
        there = field.transformed(a)
        assert field.integers(there) == [evaluated(field, drawn, field.root(n, k)) for k in range(n)]
        assert field.integers(field.interpolated(there)) == drawn
        assert field.integers(field.between(there)) == [
            evaluated(field, drawn, field.root(2 * n, 2 * k + 1)) for k in range(n)
        ]
        basis, power = field.lagrange(field.elements([point]), n)
        assert field.integers(field.dot(basis, there)) == [evaluated(field, drawn, point % field.prime)]
        assert field.integers(power) == [pow(point, n, field.prime)]


def test_a_batch_is_transformed_column_by_column() -> None:
    columns = np.random.default_rng(0).integers(0, 2**22, (3, 8, 4, 5))
    together: Vector = FIELD64.transformed(columns)
    for i in range(4):
        for j in range(5):
            alone = FIELD64.transformed(columns[:, :, i, j : j + 1])
            assert FIELD64.integers(alone) == FIELD64.integers(together[:, :, i, j : j + 1])


def test_roots_that_a_field_does_not_have_are_refused() -> None:
    with pytest.raises(ParameterError, match="power of two"):
        FIELD64.root(3)
    with pytest.raises(ParameterError, match="power of two"):
        FIELD61.root(4)
