"""Leaning Gaussian vectors: their law, their mean, their work."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import chisquare, norm

from discreet.core.errors import ParameterError
from discreet.noise.cap import Cap, leaning_gaussian, tail
from discreet.noise.deterministic import DeterministicBits


@dataclasses.dataclass
class Counted:
    """Bits that count how many of their words were used."""

    source: DeterministicBits
    used: int = 0
    secret: bool = False

    def words(self, count: int) -> NDArray[np.uint64]:
        self.used += count
        return self.source.words(count)

    def integer(self, width: int) -> int:
        return self.source.integer(width)


def test_the_law_on_the_plane_is_the_one_promised() -> None:
    """Every point of the plane, against weights that are added up; the generator is fixed."""
    for cap, direction in itertools.product(
        (Cap(0.01, 0.2), Cap(0.7, 0.01), Cap(1.3, 0.5)), ((1.0, 0.0), (0.6, -0.8), (-0.28, -0.96))
    ):
        points, stddev, runs = np.arange(-12, 13), 2.0, 40_000
        masses = ndtr((points + 0.5) / stddev) - ndtr((points - 0.5) / stddev)
        along = points[:, None] * direction[0] + points[None, :] * direction[1]
        law = np.outer(masses, masses) * np.where(along >= cap.threshold * stddev, 1 - cap.chance, cap.chance)
        draws = leaning_gaussian(DeterministicBits(1), np.tile(direction, (runs, 1)), stddev, cap)
        seen = np.zeros_like(law)
        np.add.at(seen, tuple(np.clip(draws, -12, 12).T + 12), 1.0)
        expected = law / law.sum() * runs
        often = expected >= 10
        rest = np.array([seen[~often].sum()]), np.array([expected[~often].sum()])
        found = chisquare(np.append(seen[often], rest[0]), np.append(expected[often], rest[1]), sum_check=False)
        assert found.pvalue > 1e-4


@pytest.mark.parametrize("cap", [Cap(1e-9, 0.2), Cap(0.4, 0.27), Cap(1.5, 0.018), Cap(2.0, 1e-9)])
def test_the_pull_is_the_mean_by_integration(cap: Cap) -> None:
    def weight(g: float) -> float:
        return 1 - cap.chance if g >= cap.threshold else cap.chance

    moments = [
        quad(lambda g, power=power: g**power * weight(g) * norm.pdf(g), -12, 12, points=[cap.threshold])[0]
        for power in (0, 1)
    ]
    assert cap.pull == pytest.approx(moments[1] / moments[0], rel=1e-7)
    assert cap.weight(tail(cap.threshold)) == pytest.approx(moments[0], rel=1e-9)


def test_weights_alike_are_no_weights() -> None:
    draws = leaning_gaussian(DeterministicBits(2), np.tile([0.6, 0.8], (50_000, 1)), 2.0**20, Cap(0.3, 0.5))
    np.testing.assert_allclose(draws.mean(axis=0) / 2**20, 0.0, atol=5 / math.sqrt(50_000))
    np.testing.assert_allclose(np.cov(draws.T) / 4**20, np.eye(2), atol=0.03)


def test_the_work_does_not_depend_on_the_direction() -> None:
    """One draw in six is kept: 20,000 take 120,000 draws, with a deviation of 0.65 %; five of those are 3 %."""
    used = []
    for direction in ([1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [1 / math.sqrt(3)] * 3):
        bits = Counted(DeterministicBits(3))
        leaning_gaussian(bits, np.tile(direction, (20_000, 1)), 2.0**20, Cap(1.5, 0.018))
        used.append(bits.used)
    assert max(used) / min(used) < 1.03


def test_nobody_gets_no_draws() -> None:
    assert leaning_gaussian(DeterministicBits(0), np.empty((0, 3)), 2.0**20, Cap(1.0, 0.1)).shape == (0, 3)


@pytest.mark.parametrize(("threshold", "chance"), [(0.0, 0.1), (math.nan, 0.1), (1.0, 0.0), (1.0, 0.6)])
def test_a_cap_without_meaning_is_refused(threshold: float, chance: float) -> None:
    with pytest.raises(ParameterError):
        Cap(threshold, chance)
