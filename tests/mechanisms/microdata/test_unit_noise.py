"""Reals of mean 0 and variance 1, and where they end."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.mechanisms.microdata.unit_noise import REACH, NoiseLaw, unit_noise
from discreet.noise.deterministic import DeterministicBits


@pytest.mark.parametrize(("law", "fourth"), [("gaussian", 3.0), ("uniform", 1.8)])
def test_moments_are_those_of_the_law_and_none_is_beyond_its_reach(law: NoiseLaw, fourth: float) -> None:
    drawn = unit_noise(DeterministicBits(1), (1000, 100), law)
    assert abs(drawn.mean()) < 5 / np.sqrt(1e5)
    assert abs(np.square(drawn).mean() - 1) < 5 * np.sqrt((fourth - 1) / 1e5)
    assert abs((drawn**4).mean() - fourth) < 5 * np.sqrt(96 / 1e5)  # the fourth power of a Gaussian has variance 96
    assert np.abs(drawn).max() <= REACH[law]
    assert len(np.unique(drawn)) > 99_000
