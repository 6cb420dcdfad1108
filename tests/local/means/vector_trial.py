"""What every report of a vector is put through."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.aggregator import Aggregator
from discreet.local.means.vector_report import VectorReport
from discreet.noise.deterministic import DeterministicBits

RUNS = 20_000


def check_law(randomizer: VectorReport) -> None:
    """The mean for the zero vector, one inside, one on the sphere and one that is too long; and the variance."""
    direction = np.arange(1.0, randomizer.size + 1)
    direction /= np.linalg.norm(direction)
    for seed, length in enumerate((0.0, 0.5, 1.0, 9.0)):
        vector = direction * length * randomizer.radius
        reports = randomizer.reports(np.tile(vector, (RUNS, 1)), DeterministicBits(seed))
        found, error = randomizer.unbiased(reports), randomizer.stddev / math.sqrt(RUNS)
        assert np.abs(found.mean(axis=0) - vector / max(length, 1.0)).max() < 5 * error
        assert found.var(axis=0).sum() <= randomizer.size * randomizer.stddev**2 * 1.05
    assert found.var(axis=0).sum() > 0.75 * randomizer.size * randomizer.stddev**2 - randomizer.radius**2
    collector = Aggregator(randomizer, simulated=True)
    collector.add(reports)
    assert np.allclose(collector.estimate().values, found.mean(axis=0))
    assert collector.estimate().standard_error == pytest.approx(error)
    assert np.abs(randomizer.inside(np.full((1, randomizer.size), np.nan))).max() == 0


def check_refusals(randomizer: VectorReport) -> None:
    impossible = np.full((1, randomizer.size), 2**31 - 1, np.int32)  # longer than any report is
    for wrong in (np.zeros((1, randomizer.size)), np.zeros((1, randomizer.size + 1), np.int32), impossible):
        with pytest.raises(ParameterError, match="Nothing was counted"):
            randomizer.accepted(wrong)
    with pytest.raises(ParameterError, match="Give rows of"):
        randomizer.reports(np.zeros((3, randomizer.size + 1)), DeterministicBits(0))
