"""Totals: the sum of a column, from any origin."""

from __future__ import annotations

import numpy as np

from discreet.questions.columns.total import count_of, shrunk_total_of, total_of, trimmed_of, winsorized_of
from tests.questions.trial import RECORDS, SCHEMA, Trial, X, clipping_never_acts, summed

TRIALS = {
    "total": Trial({"column": "x", "origin": 0.0}, "de6578885557"),
    "count": Trial({"column": "x"}, "dc1be7b101ec"),
    "trimmed": Trial({"column": "x", "lower": 0.0, "upper": 50.0}, "0fd86d01c90f"),
    "winsorized": Trial({"column": "x", "lower": 0.0, "upper": 50.0}, "4c0bc56c459e"),
    "shrunk_total": Trial(
        {"column": "x", "center": 40.0, "size": 25.0},
        "3bfe8daaac0c",
        [{"center": -11.0}, {"center": np.nan}, {"size": 0.0}, {"size": -25.0}, {"size": np.nan}, {"size": np.inf}],
    ),
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


def test_the_sum_is_of_how_far_values_are_from_the_center_and_one_at_most() -> None:
    for center, size in ((40.0, 25.0), (-10.0, 1e-200), (110.0, 1e200)):
        question = shrunk_total_of(SCHEMA, "x", center, size)
        np.testing.assert_allclose(
            summed(question, RECORDS), [((X - center) / size).clip(-1, 1).sum()], rtol=1e-6, atol=1e-3
        )
        clipping_never_acts(question, RECORDS)
        assert question.bound.radius == 1


def test_the_masses_make_the_count_and_the_sum_of_what_is_between_the_cuts() -> None:
    kept = X[(X >= 0) & (X <= 50)]
    for question, expected in ((trimmed_of, kept), (winsorized_of, X.clip(0, 50))):
        low, high = summed(question(SCHEMA, "x", 0.0, 50.0), RECORDS)
        np.testing.assert_allclose([low + high, 50 * high], [len(expected), expected.sum()], rtol=1e-6)
    clipping_never_acts(winsorized_of(SCHEMA, "x", 0.0, 50.0), RECORDS)
