"""Quantiles of a stream: the values, the noise, the intervals, what refuses. Audits are in test_online_moments.py."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.system_bits import system_bits
from discreet.sequential import OnlineQuantiles
from tests.sequential.trial import OnlineTrial, opened

VALUES = {"q": (0.5, (0.5, 0.9)), "bins": (8, 9), "confidence": (0.95, 0.9)}
TRIAL = OnlineTrial(OnlineQuantiles, VALUES, {"q": (0.25, 0.5), "bins": 8})


def test_without_noise_to_speak_of_quantiles_are_those_of_the_values() -> None:
    """No level of these is a whole number of the 81 values, where the least noise would decide."""
    values = np.random.default_rng(0).normal(0, 0.4, 81)
    levels = [0.0, 0.1, 0.5, 0.9, 1.0]
    exact = np.quantile(np.clip(values, -1, 1), levels, method="inverted_cdf")
    for neighbors in Neighbors:
        for horizon in (81, None):
            given = (levels, (-1.0, 1.0), Gaussian(1e-6), horizon)
            online = opened(OnlineQuantiles(*given, bins=100, neighbors=neighbors))
            found = [online.update(value) for value in values][-1]
            for one, value in zip(found[1:-1], exact[1:-1], strict=True):
                assert one.value == pytest.approx(value, abs=0.021)
                assert one.low - 1e-9 <= value <= one.high + 1e-9
                assert one.high - one.low < 0.05


def test_ranks_have_the_noise_that_is_said() -> None:
    """2,000 times 16 ranks: deviations are known to 1.6 %, and 8 % are allowed."""
    for neighbors in Neighbors:
        online = OnlineQuantiles(0.3, (0.0, 1.0), Gaussian(1.0), 1, bins=16, neighbors=neighbors)
        updates = online.counter.updates
        noise = updates.drawn(system_bits(), (2000, 16)) * updates.noise_step
        ranks = np.array([np.convolve(online.left, one)[:16] for one in noise])
        ranks -= ranks[:, -1:] * online._spread.tied
        spread = (ranks - 0.3 * ranks[:, -1:]).std(axis=0)
        np.testing.assert_allclose(spread, online.counter.stddev(1) * online._spread.of_levels[0], rtol=0.08, atol=1e-9)
        flat = math.sqrt(16 / 2) * neighbors.reach**0.5  # a histogram, summed up, at its middle
        assert online.counter.stddev(1) * np.linalg.norm(online.left[:8]) < 0.8 * flat


def test_coarse_grids_are_counted_in_the_distance() -> None:
    """With much noise a step of the grid is no longer small: no two cells are farther apart on it than is said."""
    for multiplier in (1.0, 2.0**14, 2.0**22):
        online = OnlineQuantiles(0.5, (0.0, 1.0), Gaussian(multiplier), 64, bins=32)
        updates = online.counter.updates
        rows = updates.grid.values(updates.steps(np.array([online.added(i / 32 + 0.01) for i in range(32)])))
        apart = np.linalg.norm(rows[:, None] - rows[None], axis=2).max()
        assert apart <= updates.bound.sensitivity("l2", 32, Neighbors.REPLACE)


def test_intervals_hold_the_exact_quantiles() -> None:
    """1,000 releases: 95 % are known to 0.7 %, and 4 % less are allowed. Between ties they hold almost always."""
    values = np.random.default_rng(0).beta(2, 4, 80)
    exact = np.quantile(values, 0.7, method="inverted_cdf")
    for neighbors in Neighbors:
        online = OnlineQuantiles(0.7, (0.0, 1.0), Gaussian(1.0), 128, bins=32, neighbors=neighbors)
        updates, sums = online.counter.updates, np.sum([online.added(value) for value in values], axis=0)
        noise = updates.drawn(system_bits(), (1000, 32)) * (updates.noise_step / updates.scale)
        found = [online.released(sums + row * online.counter.stddev(80), 80)[0] for row in noise]
        assert np.mean([one.low - 1e-9 <= exact <= one.high + 1e-9 for one in found]) > 0.91
        assert np.mean([one.high - one.low for one in found]) < 0.46


def test_missing_records_are_left_out() -> None:
    online = opened(OnlineQuantiles(0.5, (0.0, 1.0), Gaussian(1e-6), 10, neighbors=Neighbors.ADD_REMOVE))
    for value in (None, math.nan, 0.2, None):
        (found,) = online.update(value)
    assert found.value == pytest.approx(0.2, abs=0.02)


def test_what_cannot_be_computed_is_refused() -> None:
    for q in (1.5, [], [[0.5]], math.nan):
        with pytest.raises(ParameterError, match=r"Give levels between 0 and 1|each a number"):
            OnlineQuantiles(q, (0.0, 1.0), Gaussian(1.0))  # type: ignore[arg-type]
    for bins in (1, 2.5, 5000):
        with pytest.raises(ParameterError, match="bins"):
            OnlineQuantiles(0.5, (0.0, 1.0), Gaussian(1.0), bins=bins)  # type: ignore[arg-type]
