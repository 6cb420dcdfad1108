"""Lengths of records: one mark each, in the cell of its length."""

from __future__ import annotations

import numpy as np

from discreet.questions.vectors.record_lengths import record_lengths_of
from tests.questions.trial import SCHEMA, Trial, summed

TRIALS = {
    "record_lengths": Trial(
        {"columns": ("x", "y"), "radii": (0.5, 1.0)},
        "69aabbf72a33",
        forged=[{"radii": ()}, {"radii": (1.0, 0.5)}, {"radii": (0.0,)}, {"radii": (float("nan"),)}, {"columns": ()}],
    )
}


def test_each_record_is_counted_once_by_its_length() -> None:
    """The middle, a length of 0.6, an end, a corner, a value beyond its bounds, and two records without a length."""
    records = np.array([[50, 0.5], [86, 0.5], [50, 1], [110, 0], [200, 0.5], [np.nan, 0.5], [50, np.inf]])
    counts = summed(record_lengths_of(SCHEMA, ("x", "y"), (0.5, 1.0)), records)
    assert list(counts) == [1, 3, 1]
