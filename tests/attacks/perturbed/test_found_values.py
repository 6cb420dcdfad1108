"""Chance is the best constant guess, whatever is guessed."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attacks.perturbed.found_values import FoundValues


def test_chance_is_the_best_constant_guess() -> None:
    rng = np.random.default_rng(0)
    truth = np.column_stack([rng.exponential(1, 300), rng.normal(size=300)])
    found = FoundValues(truth, truth, 0.3)
    reach = 0.3 * truth.std(axis=0)
    grid = np.linspace(-4, 8, 2_001)
    best = [max((np.abs(own - guess) <= far).sum() for guess in grid) for own, far in zip(truth.T, reach, strict=True)]
    assert found.chance == pytest.approx(sum(best) / 600, abs=0.01)
    assert FoundValues(truth * 0, truth * 0, 0.1).chance == 1.0
