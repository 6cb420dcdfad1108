from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.noise.bernoulli import bernoulli, packed_coins
from discreet.noise.deterministic import DeterministicBits
from tests.noise.fit import ALARM, ScriptedBits


@pytest.mark.parametrize("probability", [1e-3, 0.1, 1 / 3, 0.5, 0.999])
def test_coins_come_up_as_often_as_asked(probability: float) -> None:
    tosses = bernoulli(DeterministicBits(51), 200_000, probability)
    assert stats.binomtest(int(tosses.sum()), tosses.size, probability).pvalue > ALARM


def test_each_coin_has_its_own_probability() -> None:
    chances = np.array([[0.0, 0.2, 1.0]])
    shares = bernoulli(DeterministicBits(53), (50_000, 3), chances).mean(axis=0)
    assert (shares[0], shares[2]) == (0, 1)
    assert abs(shares[1] - 0.2) < 5 * 0.4 / math.sqrt(50_000)


@pytest.mark.parametrize(
    ("probability", "digits", "outcome"),
    [
        (0.5, [2**15 - 1], True),
        (0.5, [2**15], False),  # the probability has no further bits, so equality means not below
        (0.75 * 2**-70, [0, 0, 0, 0, 0], True),
        (0.75 * 2**-70, [0, 0, 0, 0, 0.75 * 2**10 - 1], True),
        (0.75 * 2**-70, [0, 0, 0, 0, 0.75 * 2**10], False),
        (0.75 * 2**-70, [0, 0, 1], False),
        (5e-324, [0] * 67 + [2**14 - 1], True),
        (5e-324, [0] * 67 + [2**14], False),
        (0.0, [0], False),
        (1.0, [2**16 - 1], True),
        (1 - 2.0**-53, [2**16 - 1] * 3 + [2**16 - 2**11], False),
        (1 - 2.0**-53, [2**16 - 1] * 3 + [2**16 - 2**11 - 1], True),
    ],
)
def test_every_bit_of_a_probability_counts(probability: float, digits: list[float], outcome: bool) -> None:
    words = [int(digit) << (0 if sys.byteorder == "little" else 48) for digit in digits]
    assert bernoulli(ScriptedBits(words, []), 1, probability)[0] == outcome
    assert bernoulli(ScriptedBits(words, []), 1, [probability])[0] == outcome


def test_what_is_no_probability_is_refused() -> None:
    for wrong in (-0.1, 1.1, math.nan, [0.5, 2.0]):
        with pytest.raises(ParameterError, match="probability"):
            bernoulli(DeterministicBits(1), 2, wrong)
    with pytest.raises(ParameterError, match="broadcast"):
        bernoulli(DeterministicBits(1), 2, [0.1, 0.2, 0.3])


def test_shapes() -> None:
    assert bernoulli(DeterministicBits(1), (2, 3), 0.5).shape == (2, 3)
    assert bernoulli(DeterministicBits(1), 0, 0.5).shape == (0,)
    assert bernoulli(DeterministicBits(1), (), 0.5).shape == ()
    assert bernoulli(DeterministicBits(1), 100_000, np.full(100_000, 0.5)).dtype == np.bool_


def tossed(probability: float, rows: int = 400_000, columns: int = 3) -> float:
    """The share of ones."""
    packed = packed_coins(DeterministicBits(1), rows, columns, probability)
    assert not (packed >> columns).any()
    return float(np.bitwise_count(packed).sum() / (rows * columns))


def test_the_share_of_ones_is_the_probability() -> None:
    """Five standard errors; 1/512 and 0.25 + 1/512 are decided by the bits after the first eight."""
    for probability in (0.0, 1 / 512, 0.25, 0.25 + 1 / 512, 0.2689414213699951, 0.999):
        assert abs(tossed(probability) - probability) <= 5 * np.sqrt(probability / 1_200_000)


def test_a_probability_without_meaning_is_refused() -> None:
    for probability in (-0.1, 1.0, float("nan")):
        with pytest.raises(ParameterError, match="the probability is"):
            packed_coins(DeterministicBits(1), 1, 1, probability)
    assert packed_coins(DeterministicBits(1), 0, 9, 0.5).shape == (0, 2)
