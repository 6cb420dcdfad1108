"""What every report of a number is put through."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.aggregator import Aggregator
from discreet.local.means.number_report import NumberReport
from discreet.noise.deterministic import DeterministicBits

RUNS = 40_000


def check_law(randomizer: NumberReport) -> None:
    """Mean and variance for numbers at both bounds, in the middle, beside it, outside and missing."""
    middle, half = (randomizer.lower + randomizer.upper) / 2, (randomizer.upper - randomizer.lower) / 2
    for seed, number in enumerate((-1.0, 0.0, 0.3, 1.0)):
        reports = randomizer.reports([middle + half * number] * RUNS, DeterministicBits(seed))
        found = randomizer.unbiased(reports)
        deviation = math.sqrt(randomizer.variance(number**2))
        assert abs(found.mean() - number) < 5 * deviation / math.sqrt(RUNS)
        assert found.var() == pytest.approx(deviation**2, rel=0.05)
        assert np.abs(found).max() <= randomizer.reach * (1 + 1e-12)
        collector = Aggregator(randomizer, simulated=True)
        collector.add(reports)
        estimate = collector.estimate()
        assert estimate.value == pytest.approx(middle + half * found.mean(), abs=half * randomizer.reach * 1e-6)
        assert estimate.standard_error == pytest.approx(half * deviation / math.sqrt(RUNS), rel=0.05)
        assert estimate.receipt.epsilon == randomizer.epsilon
    assert randomizer.scaled([-1e300, 1e300, math.nan, math.inf]).tolist() == [-1.0, 1.0, 0.0, 0.0]


def check_refusals(randomizer: NumberReport) -> None:
    for wrong in (np.array([2**20 + 2], np.uint32), np.array([0.5]), np.array([[1, 0]], np.uint8)):
        with pytest.raises(ParameterError, match="Nothing was counted"):
            randomizer.accepted(wrong)
    for lower, upper in ((1.0, 1.0), (2.0, 1.0), (0.0, math.inf), (math.nan, 1.0)):
        with pytest.raises(ParameterError, match="lower first"):
            dataclasses.replace(randomizer, lower=lower, upper=upper)
