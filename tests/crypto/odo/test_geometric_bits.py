"""What the proofs say of exponential noise from bits, by enumeration of small cases."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

SCALE, BITS = 2.5, 5


def chances() -> list[float]:
    return [1 / (1 + math.exp(2**place / SCALE)) for place in range(BITS)]


def test_bits_of_a_geometric_variable_are_independent() -> None:
    ratio = math.exp(-1 / SCALE)
    law = np.zeros(2**BITS)
    for bits in itertools.product((0, 1), repeat=BITS):
        number = sum(bit << place for place, bit in enumerate(bits))
        law[number] = math.prod(p if bit else 1 - p for bit, p in zip(bits, chances(), strict=True))
    exact = (1 - ratio) * ratio ** np.arange(2**BITS)
    assert law == pytest.approx(exact / exact.sum(), rel=1e-12)
    assert 1 - exact.sum() == pytest.approx(math.exp(-(2**BITS) / SCALE))  # all that bits cannot reach


def test_the_difference_of_two_is_two_sided_geometric_noise_of_pure_epsilon() -> None:
    ratio = math.exp(-1 / SCALE)
    one = (1 - ratio) * ratio ** np.arange(400)
    law = np.convolve(one, one[::-1])
    numbers = np.abs(np.arange(-399, 400))
    assert law[200:-200] == pytest.approx(((1 - ratio) / (1 + ratio) * ratio**numbers)[200:-200], rel=1e-9)
    losses = np.abs(np.diff(np.log(law[200:-200])))
    assert losses.max() == pytest.approx(1 / SCALE)


def test_a_biased_coin_is_a_weighted_difference_of_products_of_fair_ones() -> None:
    """With digits p_l and z_l = (1 - c_1) ... (1 - c_l), it is the sum of p_l (z_(l-1) - z_l)."""
    digits = (1, 0, 1, 1, 0, 1)
    ones = 0
    for coins in itertools.product((0, 1), repeat=len(digits)):
        rest = [1, *itertools.accumulate((1 - coin for coin in coins), lambda a, b: a * b)]
        steps = (before - after for before, after in itertools.pairwise(rest))
        coin = sum(digit * step for digit, step in zip(digits, steps, strict=True))
        assert coin in (0, 1)
        ones += coin
    assert ones / 2 ** len(digits) == sum(digit / 2 ** (place + 1) for place, digit in enumerate(digits))


def test_the_root_of_a_joint_square_makes_a_fair_bit() -> None:
    """In a small field with prime 3 modulo 4: half of all that are not zero give either bit, for each square."""
    prime = 23
    for square in {r * r % prime for r in range(1, prime)}:
        root = pow(square, (prime + 1) // 4, prime)
        half, back = pow(2, -1, prime), pow(root, -1, prime)
        bits = [(r * back + 1) * half % prime for r in range(1, prime) if r * r % prime == square]
        assert sorted(bits) == [0, 1]


def split_coins(honest: int, scale: float, digits: int) -> tuple[np.ndarray, int]:
    """The law of k (X - Y) added up over k and over honest dealers, of coins with so many digits; and coins of each."""
    law, coins = np.ones(1), 0
    for k in range(1, 40):
        chance = round((1 - math.exp(-math.exp(-k / scale) / (k * honest))) * 2**digits) / 2**digits
        if not chance:
            break
        coins += 2
        toss = np.zeros(k + 1)
        toss[0], toss[k] = 1 - chance, chance
        for _ in range(honest):
            law = np.convolve(law, toss)
    return np.convolve(law, law[::-1]), coins


def test_geometric_noise_can_be_split_into_coins_of_many_dealers() -> None:
    law, coins = split_coins(7, 1.31, 12)
    numbers = np.arange(len(law)) - len(law) // 2
    beyond = [np.maximum(0, one - math.e * other).sum() for one, other in _neighbors(law)]
    assert coins == 12
    assert max(beyond) < 1e-6
    assert 10 / 7 * (law * numbers**2).sum() == pytest.approx(4.4, abs=0.05)
    less = _neighbors(split_coins(7, 1.2, 12)[0])
    assert max(np.maximum(0, one - math.e * other).sum() for one, other in less) > 1e-6
    near, _ = split_coins(16, 1.0, 20)  # many dealers, fine coins: the geometric law itself
    ratio = math.exp(-1)
    middle = slice(len(near) // 2 - 20, len(near) // 2 + 21)
    exact = (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(-20, 21))
    assert near[middle] == pytest.approx(exact, abs=1e-2)


def _neighbors(law: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    one, other = np.append(law, 0), np.insert(law, 0, 0)
    return [(one, other), (other, one)]
