"""Moments by group: those of the records of each group."""

from __future__ import annotations

import numpy as np

from discreet.questions.columns.grouped_moments import grouped_moments_of
from tests.questions.trial import SCHEMA, Trial, X, summed

TRIALS = {"grouped_moments": Trial({"by": "kind", "column": "x", "degree": 2}, "237eaa94fb16")}


def test_the_sums_of_each_group_are_those_of_its_records() -> None:
    groups = np.random.default_rng(2).integers(0, 3, len(X)).astype(float)
    groups[:20] = np.nan
    found = summed(grouped_moments_of(SCHEMA, "kind", "x", 2), np.column_stack([groups, X])).reshape(3, 3)
    for group in range(3):
        a = (X[groups == group] + 10) / 120
        expected = [((1 - a) ** 2).sum(), (2 * a * (1 - a)).sum(), (a**2).sum()]
        np.testing.assert_allclose(found[group], expected, atol=1e-5)
