"""Noisy contests: their laws, and the slow path."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.noise import contest
from discreet.noise.contest import exponential_argmax, laplace_argmax
from discreet.noise.deterministic import DeterministicBits
from tests.noise.fit import ALARM, ScriptedBits


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
    monkeypatch.setattr(contest, "ERROR", 1e9)
    assert np.array_equal(contest_of(DeterministicBits(74), scores, 1.0), fast)
    for words in ([0, 0, 2**63, 2**63], [2**64 - 1] * 4):
        assert contest_of(ScriptedBits(words, [3**i for i in range(40)]), [0.0, 0.0], 1.0) in (0, 1)
