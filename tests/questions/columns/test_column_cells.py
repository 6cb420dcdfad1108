"""Cells of columns: one histogram for each."""

from __future__ import annotations

import numpy as np

from discreet.questions.columns.column_cells import column_cells_of, magnitude_edges, magnitudes_of
from tests.questions.trial import RECORDS, SCHEMA, Trial, X, summed

START = {"columns": ("x", "y"), "bins": 4, "norm": "l1"}
TRIALS = {
    "column_cells": Trial(
        START, "2e10f5a75577", forged=[{"norm": "linf"}, {"columns": ("x", "kind")}, {"bins": 2**20}]
    ),
    "magnitudes": Trial({"column": "x", "least": 1.0}, "d717dc842088"),
}


def test_the_cells_are_those_of_histograms() -> None:
    rng = np.random.default_rng(0)
    records = np.column_stack([rng.uniform(-10, 110, 300), rng.uniform(0, 1, 300)])
    found = summed(column_cells_of(SCHEMA, ("x", "y"), 4, "l2"), np.vstack([records, [[np.nan, 0.5]]]))
    ends = [(-10, 110), (0, 1)]
    expected = [np.histogram(own, 4, end)[0] for own, end in zip(records.T, ends, strict=True)]
    np.testing.assert_array_equal(found, np.concatenate(expected))


def test_a_value_is_between_two_powers_of_two() -> None:
    edges = magnitude_edges(SCHEMA.number("x"), 1.0)
    assert edges.tolist() == [-10, -8, -4, -2, -1, 1, 2, 4, 8, 16, 32, 64, 110]
    np.testing.assert_array_equal(summed(magnitudes_of(SCHEMA, "x", 1.0), RECORDS), np.histogram(X, edges)[0])
