"""Moments of columns: count, means and mean squares of scaled values."""

from __future__ import annotations

import numpy as np

from discreet.questions.columns.column_moments import ColumnMoments, column_moments_of
from tests.questions.trial import SCHEMA, Trial, X, summed

TRIALS = {"column_moments": Trial({"columns": ("x", "y")}, "3f9ba69ff317")}


def test_they_are_those_of_the_scaled_records() -> None:
    records = np.column_stack([X, np.random.default_rng(3).uniform(0, 1, len(X))])
    scaled = (records - [50.0, 0.5]) / [60.0, 0.5]
    released = summed(column_moments_of(SCHEMA, ("x", "y")), np.vstack([records, [[np.nan, 0.5]]]))
    found = ColumnMoments.of(released, 0.0)
    np.testing.assert_allclose(found.count, len(X), rtol=1e-6)
    np.testing.assert_allclose(found.means, scaled.mean(axis=0), atol=1e-4)
    np.testing.assert_allclose(found.squares, np.square(scaled).mean(axis=0), atol=1e-4)
