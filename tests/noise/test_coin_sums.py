"""Sums of coins are binomial, and no coin is tossed twice."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.noise.coin_sums import CHUNK, MOST, coin_sums
from discreet.noise.deterministic import DeterministicBits
from tests.noise.fit import ALARM


@pytest.mark.parametrize("coins", [1, 2, 63, 64, 65, 80, 130])
def test_the_law_is_binomial(coins: int) -> None:
    """A test of chi-square over the numbers of heads that are expected at least ten times, with one for all others."""
    draws = 100_000
    heads = coin_sums(DeterministicBits(coins), draws, coins) + coins // 2
    expected = draws * stats.binom.pmf(np.arange(coins + 1), coins, 0.5)
    found, often = np.bincount(heads, minlength=coins + 1), expected >= 10
    cells = [np.append(part[often], part[~often].sum()) for part in (found, expected)]
    there = cells[1] > 0
    assert stats.chisquare(cells[0][there], cells[1][there]).pvalue > ALARM
    assert (found[expected < 1e-12] == 0).all()


def test_every_number_has_coins_of_its_own_in_every_shape() -> None:
    many = coin_sums(DeterministicBits(1), (CHUNK, 3), 64)
    assert many.shape == (CHUNK, 3)
    assert np.abs(np.corrcoef(many.T) - np.eye(3)).max() < 5 / np.sqrt(CHUNK)
    assert np.array_equal(many.reshape(-1), coin_sums(DeterministicBits(1), 3 * CHUNK, 64))
    assert coin_sums(DeterministicBits(1), 0, 5).shape == (0,)


def test_numbers_of_coins_that_cannot_be_are_refused() -> None:
    for coins in (0, -2, 1.5, MOST + 1, float("nan")):
        with pytest.raises(ParameterError, match="coins"):
            coin_sums(DeterministicBits(1), 3, coins)  # type: ignore[arg-type]
