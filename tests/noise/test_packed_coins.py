"""Coins in bytes: exact, and none beyond the last."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.packed_coins import packed_coins


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
