"""Totals: the sum of a column, from any origin."""

from __future__ import annotations

import numpy as np

from discreet.questions.columns.total import count_of, total_of, trimmed_of, winsorized_of
from tests.questions.trial import RECORDS, SCHEMA, Trial, X, clipping_never_acts, summed

TRIALS = {
    "total": Trial({"column": "x", "origin": 0.0}, "de6578885557"),
    "count": Trial({"column": "x"}, "dc1be7b101ec"),
    "trimmed": Trial({"column": "x", "lower": 0.0, "upper": 50.0}, "0fd86d01c90f"),
    "winsorized": Trial({"column": "x", "lower": 0.0, "upper": 50.0}, "4c0bc56c459e"),
}


def test_the_sum_is_that_of_the_values_less_the_origin() -> None:
    for origin in (0.0, -10.0, 50.0):
        question = total_of(SCHEMA, "x", origin)
        np.testing.assert_allclose(summed(question, RECORDS), [(X - origin).sum()], rtol=1e-6)
        clipping_never_acts(question, RECORDS)
        assert question.bound.radius == max(110 - origin, origin + 10)


def test_the_sum_is_the_number_of_values_that_are_not_missing() -> None:
    question = count_of(SCHEMA, "x")
    assert summed(question, RECORDS).tolist() == [len(X)]
    clipping_never_acts(question, RECORDS)


def test_the_masses_make_the_count_and_the_sum_of_what_is_between_the_cuts() -> None:
    kept = X[(X >= 0) & (X <= 50)]
    for question, expected in ((trimmed_of, kept), (winsorized_of, X.clip(0, 50))):
        low, high = summed(question(SCHEMA, "x", 0.0, 50.0), RECORDS)
        np.testing.assert_allclose([low + high, 50 * high], [len(expected), expected.sum()], rtol=1e-6)
    clipping_never_acts(winsorized_of(SCHEMA, "x", 0.0, 50.0), RECORDS)
