"""Draws of Thompson sampling."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.sequential.bandits.thompson import ThompsonSampling


def test_means_are_drawn_from_beta_posteriors() -> None:
    """20,000 draws: means are known to 0.0015, and five deviations are allowed."""
    agent = ThompsonSampling(2, runs=20_000, random_state=0)
    for response in (1.0, 1.0, 0.0):
        agent.partial_fit(np.zeros(20_000, int), np.full(20_000, response))
    drawn = agent.index()
    assert drawn[:, 0].mean() == pytest.approx(3 / 5, abs=0.008)
    assert drawn[:, 1].mean() == pytest.approx(1 / 2, abs=0.011)
    assert drawn[:, 0].var() == pytest.approx(1 / 25, rel=0.05)
