"""Magnitudes: values by sign and size."""

from __future__ import annotations

import numpy as np

from discreet.questions.columns.magnitudes import magnitude_edges, magnitudes_of
from tests.questions.trial import RECORDS, SCHEMA, Trial, X, summed

TRIALS = {"magnitudes": Trial({"column": "x", "least": 1.0}, "d717dc842088")}


def test_a_value_is_between_two_powers_of_two() -> None:
    edges = magnitude_edges(SCHEMA.number("x"), 1.0)
    assert edges.tolist() == [-10, -8, -4, -2, -1, 1, 2, 4, 8, 16, 32, 64, 110]
    np.testing.assert_array_equal(summed(magnitudes_of(SCHEMA, "x", 1.0), RECORDS), np.histogram(X, edges)[0])
