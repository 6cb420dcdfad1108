"""Cells of columns: one histogram for each."""

from __future__ import annotations

import numpy as np

from discreet.questions.columns.column_cells import column_cells_of
from tests.questions.trial import SCHEMA, Trial, summed

START = {"columns": ("x", "y"), "bins": 4, "norm": "l1"}
TRIALS = {
    "column_cells": Trial(START, "2e10f5a75577", forged=[{"norm": "linf"}, {"columns": ("x", "kind")}, {"bins": 2**20}])
}


def test_the_cells_are_those_of_histograms() -> None:
    rng = np.random.default_rng(0)
    records = np.column_stack([rng.uniform(-10, 110, 300), rng.uniform(0, 1, 300)])
    found = summed(column_cells_of(SCHEMA, ("x", "y"), 4, "l2"), np.vstack([records, [[np.nan, 0.5]]]))
    ends = [(-10, 110), (0, 1)]
    expected = [np.histogram(own, 4, end)[0] for own, end in zip(records.T, ends, strict=True)]
    np.testing.assert_array_equal(found, np.concatenate(expected))
