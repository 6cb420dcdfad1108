"""Totals: the sum of a column, from any origin."""

from __future__ import annotations

import numpy as np

from discreet.questions.columns.total import total_of
from tests.questions.trial import RECORDS, SCHEMA, Trial, X, clipping_never_acts, summed

TRIALS = {"total": Trial({"column": "x", "origin": 0.0}, "de6578885557")}


def test_the_sum_is_that_of_the_values_less_the_origin() -> None:
    for origin in (0.0, -10.0, 50.0):
        question = total_of(SCHEMA, "x", origin)
        np.testing.assert_allclose(summed(question, RECORDS), [(X - origin).sum()], rtol=1e-6)
        clipping_never_acts(question, RECORDS)
        assert question.bound.radius == max(110 - origin, origin + 10)
