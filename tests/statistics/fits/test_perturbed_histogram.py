"""The histogram that M-estimates are computed from: its bins follow from public numbers alone."""

from __future__ import annotations

import numpy as np

from discreet.statistics.fits.perturbed_histogram import perturbed_histogram
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial({"bins": 4}, {"expected_size": [0]})


def test_more_records_have_more_bins() -> None:
    rows = np.linspace(0, 1, 500)
    few, many = (perturbed_histogram(rows, bounds=(0, 1), expected_size=size).counts.size for size in (100, 100_000))
    assert few < many
