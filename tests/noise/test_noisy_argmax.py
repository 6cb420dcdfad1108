"""Noisy contests: their laws, and the slow path."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax

from discreet.core.errors import ParameterError
from discreet.noise import noisy_argmax
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.noisy_argmax import UnitGumbel, exponential_argmax, gumbel_argmax, laplace_argmax
from tests.noise.fit import ALARM, ScriptedBits


@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
def test_winners_follow_the_exponential_mechanism(scale: float) -> None:
    scores = np.array([0.0, 1.0, -2.0, 0.5, 1.5, -math.inf])
    winners = gumbel_argmax(DeterministicBits(71), np.broadcast_to(scores, (200_000, 6)), scale)
    counts = np.bincount(winners, minlength=6)
    expected = softmax(scores / scale) * winners.size
    assert counts[5] == 0
    assert stats.chisquare(counts[:5], expected[:5]).pvalue > ALARM


def test_many_equal_contestants_are_equally_likely() -> None:
    winners = gumbel_argmax(DeterministicBits(72), np.zeros((20_000, 100)), 2.0)
    assert stats.chisquare(np.bincount(winners, minlength=100)).pvalue > ALARM


@pytest.mark.parametrize("scale", [1e-300, 0.1, 1.0, 1e6, 1e300])
def test_fast_equals_slow_on_the_same_bits(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = (DeterministicBits(73).words(600).astype(np.float64) * 2.0**-62).reshape(100, 6)
    fast = gumbel_argmax(DeterministicBits(74), scores, scale)
    monkeypatch.setattr(noisy_argmax, "ERROR", 1e9)
    assert np.array_equal(gumbel_argmax(DeterministicBits(74), scores, scale), fast)


def test_error_bars_hold_the_noisy_score() -> None:
    words = DeterministicBits(75).words(400).copy()
    words[:200] |= np.uint64(2**64 - 2**20)  # E near 0, where it is known worst
    words = words.reshape(-1, 2)
    rows = DeterministicBits(76).words(400).astype(np.float64).reshape(-1, 2) * 2.0**-61
    bounds = noisy_argmax._noisy_bounds(rows, 0.75, UnitGumbel().reals(words[None]))
    with localcontext(Context(prec=50)):
        for row in range(len(rows)):
            for i in range(2):
                behind = (Decimal(rows[row, i]) - Decimal(rows[row].max())) / Decimal("0.75")
                for word in (int(words[row, i]), int(words[row, i]) + 1):
                    exact = behind - (-(Decimal(word) / 2**64).ln()).ln()
                    assert Decimal(bounds.low[row, i]) <= exact <= Decimal(bounds.high[row, i])
                assert bounds.high[row, i] - bounds.low[row, i] < (1e-10 if row >= 100 else math.inf)


def test_equal_bits_are_told_apart_by_the_next_ones() -> None:
    word = 2**63 + 12345
    assert gumbel_argmax(ScriptedBits([word, word], [2**63, 2**62]), [1.0, 1.0], 1.0) == 0
    assert gumbel_argmax(ScriptedBits([word, word], [2**62, 2**63]), [1.0, 1.0], 1.0) == 1


@pytest.mark.parametrize(("first", "second", "winner"), [(0, 2**63, 1), (2**64 - 1, 2**63, 0), (0, 2**64 - 1, 1)])
def test_words_at_either_end_are_settled(first: int, second: int, winner: int) -> None:
    bits = ScriptedBits([first, second], [2**63] * 40)
    assert gumbel_argmax(bits, [0.0, 0.0], 1.0) == winner


def test_scores_far_apart_or_huge_do_no_harm() -> None:
    scores = [[1e308, -1e308, -math.inf], [-1e308, 0.0, -5e-324], [0.0, 1e300, -math.inf]]
    winners = gumbel_argmax(DeterministicBits(77), scores, 1e-3)
    assert winners[0] == 0
    assert winners[1] in (1, 2)
    assert winners[2] == 1
    for trailing in (-1e300, -math.inf):
        bits = ScriptedBits([0, 2**64 - 1], [2**63] * 40)
        assert gumbel_argmax(bits, [0.0, trailing], 1e-3) == 0
    noise = UnitGumbel().reals(np.full((1, 1, 2), 2**63, np.uint64))
    bounds = noisy_argmax._noisy_bounds(np.array([[0.0, -1e300]]), 1e-3, noise)
    assert bounds.low[0, 1] == -math.inf
    assert bounds.high[0, 1] < bounds.low[0, 0]


def test_one_index_for_each_leading_entry() -> None:
    winners = gumbel_argmax(DeterministicBits(78), np.zeros((2, 3, 4)), 1.0)
    assert winners.shape == (2, 3)
    assert winners.dtype == np.int64
    assert gumbel_argmax(DeterministicBits(78), np.zeros((0, 4)), 1.0).shape == (0,)
    assert gumbel_argmax(DeterministicBits(78), [3.0], 1.0) == 0
    assert gumbel_argmax(DeterministicBits(78), np.zeros(100_000), 1.0).shape == ()


@pytest.mark.parametrize(
    ("scores", "scale", "match"),
    [
        ([0.0], 0.0, "scale"),
        ([0.0], math.inf, "scale"),
        ([0.0], math.nan, "scale"),
        ([], 1.0, "no contestants"),
        (0.0, 1.0, "no contestants"),
        ([0.0, math.nan], 1.0, "nan"),
        ([0.0, math.inf], 1.0, "inf"),
        ([-math.inf, -math.inf], 1.0, "all are -inf"),
    ],
)
def test_contests_without_an_answer_are_refused(scores: list[float], scale: float, match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        gumbel_argmax(DeterministicBits(1), scores, scale)


def test_winners_with_exponential_and_laplace_noise_follow_their_laws() -> None:
    """Integrated over the winner's noise: its density, times the chance of every other to stay below."""
    scores = np.array([0.0, 1.0, -2.0, 1.0, -math.inf])
    for contest_of, law in ((exponential_argmax, stats.expon), (laplace_argmax, stats.laplace)):
        winners = contest_of(DeterministicBits(79), np.broadcast_to(scores, (200_000, 5)), 1.5)
        z = np.linspace(-30, 40, 70_001)
        chances = [
            np.trapezoid(
                law.pdf(z - own / 1.5)
                * np.prod([law.cdf(z - other / 1.5) for j, other in enumerate(scores[:4]) if j != i], axis=0),
                z,
            )
            for i, own in enumerate(scores[:4])
        ]
        counts = np.bincount(winners, minlength=5)
        assert counts[4] == 0
        assert sum(chances) == pytest.approx(1.0, abs=1e-3)
        assert stats.chisquare(counts[:4], np.array(chances) / sum(chances) * 200_000).pvalue > ALARM


@pytest.mark.parametrize("contest_of", [exponential_argmax, laplace_argmax])
def test_the_other_contests_too_are_fast_as_slow(contest_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = (DeterministicBits(73).words(600).astype(np.float64) * 2.0**-62).reshape(100, 6)
    fast = contest_of(DeterministicBits(74), scores, 1.0)
    monkeypatch.setattr(noisy_argmax, "ERROR", 1e9)
    assert np.array_equal(contest_of(DeterministicBits(74), scores, 1.0), fast)
    for words in ([0, 0, 2**63, 2**63], [2**64 - 1] * 4):
        assert contest_of(ScriptedBits(words, [3**i for i in range(40)]), [0.0, 0.0], 1.0) in (0, 1)
