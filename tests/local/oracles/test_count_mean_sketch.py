"""Count-mean sketch: what is refused."""

from __future__ import annotations

import pytest

from discreet.core.errors import ParameterError
from discreet.local.oracles.count_mean_sketch import CountMeanSketch
from discreet.noise.deterministic import DeterministicBits
from tests.local.trial import ReportTrial

TRIAL = ReportTrial([CountMeanSketch(), CountMeanSketch(2.0, 50, cells=16)], fingerprints={"cms": "0c659bb86d100711"})


def test_a_function_that_does_not_exist_is_refused() -> None:
    sketch = CountMeanSketch(1.0, 50, functions=3)
    report = sketch.reports([1], DeterministicBits(1))
    report[0, 0] = 3
    with pytest.raises(ParameterError, match="hash function above 2"):
        sketch.accepted(report)
