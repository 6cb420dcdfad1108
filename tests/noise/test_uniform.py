from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.uniform import permutation, permutations, uniform_integers
from tests.noise.fit import ALARM, ScriptedBits


@pytest.mark.parametrize("upper", [1, 2, 7, 100, 1000])
def test_all_integers_are_equally_likely(upper: int) -> None:
    counts = np.bincount(uniform_integers(DeterministicBits(61), 200_000, upper), minlength=upper)
    assert counts.size == upper
    assert upper == 1 or stats.chisquare(counts).pvalue > ALARM


@pytest.mark.parametrize("upper", [2**62 + 1, 3 * 2**61, 2**63])
def test_large_ranges_are_not_biased(upper: int) -> None:
    """Without rejection a third of the range, or more, would come up too often."""
    draws = uniform_integers(DeterministicBits(62), 100_000, upper)
    assert draws.min() >= 0
    assert int(draws.max()) < upper
    assert stats.kstest(draws / upper, "uniform").pvalue > ALARM


def test_a_word_beyond_the_last_multiple_is_drawn_anew() -> None:
    last = 2**64 // 7 * 7
    assert uniform_integers(ScriptedBits([last - 1, last, 2**64 - 1, 8, last, 10], []), 3, 7).tolist() == [6, 1, 3]


def test_ranges_that_int64_does_not_hold_are_refused() -> None:
    for upper in (0, -1, 2**63 + 1):
        with pytest.raises(ParameterError, match="upper"):
            uniform_integers(DeterministicBits(1), 2, upper)


def test_integers_have_the_shape_asked_for() -> None:
    assert uniform_integers(DeterministicBits(1), (2, 5), 3).shape == (2, 5)
    assert uniform_integers(DeterministicBits(1), 0, 3).dtype == np.int64


def test_all_orders_are_equally_likely() -> None:
    orders = permutations(DeterministicBits(63), 60_000, 4)
    _, counts = np.unique(orders @ np.array([64, 16, 4, 1]), return_counts=True)
    assert counts.size == 24
    assert stats.chisquare(counts).pvalue > ALARM


def test_a_permutation_holds_each_integer_once() -> None:
    order = permutation(DeterministicBits(64), 1000)
    assert order.dtype == np.int64
    assert np.array_equal(np.sort(order), np.arange(1000))
    assert permutation(DeterministicBits(64), 0).shape == (0,)
    assert permutations(DeterministicBits(64), 0, 3).shape == (0, 3)


def test_equal_keys_are_told_apart_by_further_bits() -> None:
    first = [5 << 60, 5 << 60, 1 << 60, 9 << 60, 8 << 60, 7 << 60]
    for further, order in (([1 << 60, 2 << 60], [2, 0, 1]), ([2 << 60, 1 << 60], [2, 1, 0])):
        assert permutations(ScriptedBits(first + further, []), 2, 3).tolist() == [order, [2, 1, 0]]


def test_orders_stay_equally_likely_when_keys_are_short() -> None:
    class Short(DeterministicBits):
        def words(self, count: int) -> NDArray[np.uint64]:
            """Words with two random leading bits, so that ties abound; those of two keys differ most often."""
            return super().words(count) & np.uint64(3 << 62)

    orders = permutations(Short(65), 8000, 4)
    _, counts = np.unique(orders @ np.array([64, 16, 4, 1]), return_counts=True)
    assert counts.size == 24
    assert stats.chisquare(counts).pvalue > ALARM


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ParameterError):
        permutations(DeterministicBits(1), -1, 3)
