"""The mass between two cuts: trimmed or winsorized."""

from __future__ import annotations

import numpy as np

from discreet.questions.columns.cuts import trimmed_of, winsorized_of
from tests.questions.trial import RECORDS, SCHEMA, Trial, X, clipping_never_acts, summed

TRIALS = {
    "trimmed": Trial({"column": "x", "lower": 0.0, "upper": 50.0}, "0fd86d01c90f"),
    "winsorized": Trial({"column": "x", "lower": 0.0, "upper": 50.0}, "4c0bc56c459e"),
}


def test_the_masses_make_the_count_and_the_sum_of_what_is_between_the_cuts() -> None:
    kept = X[(X >= 0) & (X <= 50)]
    for question, expected in ((trimmed_of, kept), (winsorized_of, X.clip(0, 50))):
        low, high = summed(question(SCHEMA, "x", 0.0, 50.0), RECORDS)
        np.testing.assert_allclose([low + high, 50 * high], [len(expected), expected.sum()], rtol=1e-6)
    clipping_never_acts(winsorized_of(SCHEMA, "x", 0.0, 50.0), RECORDS)
