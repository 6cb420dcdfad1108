"""The ring: products of polynomials, residues, uniform polynomials."""

from __future__ import annotations

import numpy as np

from discreet.crypto.gelu_net.experimental.ring import (
    DEGREE,
    PRIMES,
    Q,
    coefficients,
    expanded,
    residues,
    signed,
    transformed,
)


def test_products_of_values_are_products_of_polynomials_modulo_the_ring() -> None:
    """Against sums of shifted polynomials, whose sign turns at the end: X**4096 = -1."""
    draw = np.random.default_rng(1)
    for prime in PRIMES:
        one, places = draw.integers(0, prime, DEGREE), draw.choice(DEGREE, 5, replace=False)
        other = np.zeros(DEGREE, dtype=np.int64)
        other[places] = draw.integers(0, 2**20, 5)
        wanted = np.zeros(DEGREE, dtype=object)
        for place in places:
            turned = np.concatenate([-one[DEGREE - place :], one[: DEGREE - place]]).astype(object)
            wanted += int(other[place]) * turned
        values = [transformed(each[None].astype(np.uint64), prime) for each in (one, other)]
        found = coefficients(values[0] * values[1] % np.uint64(prime), prime)
        assert (found[0].astype(object) == wanted % prime).all()


def test_integers_come_back_from_their_residues() -> None:
    values = np.array([0, 1, -1, Q // 2, -(Q // 2), 123456789012345], dtype=np.int64)
    np.testing.assert_array_equal(signed(residues(values)), values)


def test_primes_are_such_that_there_are_roots_and_seeds_give_uniform_polynomials() -> None:
    """Means of 4 x 4096 numbers as shares of the prime, four standard errors."""
    for prime in PRIMES:
        assert (prime - 1) % (2 * DEGREE) == 0
        assert all(prime % small for small in range(2, 2**15))
    found = expanded(bytes(32), 4)
    assert found.shape == (2, 4, DEGREE)
    for own, prime in zip(found, PRIMES, strict=True):
        assert own.max() < prime
        assert abs(own.mean() / prime - 0.5) < 4 * (1 / 12 / own.size) ** 0.5
    np.testing.assert_array_equal(found, expanded(bytes(32), 4))
    assert (found != expanded(b"\1" + bytes(31), 4)).mean() > 0.99
