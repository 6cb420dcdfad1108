from __future__ import annotations

import importlib
import math
import sys

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.noise.bernoulli import bernoulli, bernoulli_exp
from discreet.noise.deterministic import DeterministicBits
from tests.noise.fit import ALARM, ScriptedBits

module = importlib.import_module("discreet.noise.bernoulli")  # the package gives this name to the function


@pytest.mark.parametrize("probability", [1e-3, 0.1, 1 / 3, 0.5, 0.999])
def test_coins_come_up_as_often_as_asked(probability: float) -> None:
    tosses = bernoulli(DeterministicBits(51), 200_000, probability)
    assert stats.binomtest(int(tosses.sum()), tosses.size, probability).pvalue > ALARM
    tosses = bernoulli_exp(DeterministicBits(52), 200_000, -math.log(probability))
    assert stats.binomtest(int(tosses.sum()), tosses.size, probability).pvalue > ALARM


def test_each_coin_has_its_own_probability() -> None:
    chances = np.array([[0.0, 0.2, 1.0]])
    shares = bernoulli(DeterministicBits(53), (50_000, 3), chances).mean(axis=0)
    assert (shares[0], shares[2]) == (0, 1)
    assert abs(shares[1] - 0.2) < 5 * 0.4 / math.sqrt(50_000)
    shares = bernoulli_exp(DeterministicBits(54), (50_000, 3), np.array([math.inf, 1.0, 0.0])).mean(axis=0)
    assert (shares[0], shares[2]) == (0, 1)
    assert abs(shares[1] - math.exp(-1)) < 5 * 0.5 / math.sqrt(50_000)


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


@pytest.mark.parametrize("exponent", [1e-300, 1e-9, 0.3, 1.0, 20.0, 43.0, 44.0, 800.0])
def test_fast_equals_slow_on_the_same_bits(exponent: float, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = bernoulli_exp(DeterministicBits(55), 300, exponent)
    monkeypatch.setattr(module, "ERROR", 2.0)
    assert np.array_equal(bernoulli_exp(DeterministicBits(55), 300, exponent), fast)


def test_a_toss_that_16_bits_cannot_settle_asks_for_more() -> None:
    assert bernoulli_exp(ScriptedBits([0], [0, 0]), 1, 50.0)[0]
    assert not bernoulli_exp(ScriptedBits([0], [0, 2**63]), 1, 200.0)[0]
    half = math.log(2)  # a little less than the logarithm of 2, so that its coin is a little better than fair
    middle = 2**15 << (0 if sys.byteorder == "little" else 48)
    assert bernoulli_exp(ScriptedBits([middle], [0]), 1, half)[0]
    assert not bernoulli_exp(ScriptedBits([middle], [2**63]), 1, half)[0]


def test_what_is_no_probability_is_refused() -> None:
    for wrong in (-0.1, 1.1, math.nan, [0.5, 2.0]):
        with pytest.raises(ParameterError, match="probability"):
            bernoulli(DeterministicBits(1), 2, wrong)
    for wrong in (-0.1, math.nan):
        with pytest.raises(ParameterError, match="exponent"):
            bernoulli_exp(DeterministicBits(1), 2, wrong)
    with pytest.raises(ParameterError, match="broadcast"):
        bernoulli(DeterministicBits(1), 2, [0.1, 0.2, 0.3])


def test_shapes() -> None:
    assert bernoulli(DeterministicBits(1), (2, 3), 0.5).shape == (2, 3)
    assert bernoulli(DeterministicBits(1), 0, 0.5).shape == (0,)
    assert bernoulli_exp(DeterministicBits(1), (), 0.5).shape == ()
    assert bernoulli(DeterministicBits(1), 100_000, np.full(100_000, 0.5)).dtype == np.bool_
