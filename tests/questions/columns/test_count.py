"""Counts: one for each value that is there."""

from __future__ import annotations

from discreet.questions.columns.count import count_of
from tests.questions.trial import RECORDS, SCHEMA, Trial, X, clipping_never_acts, summed

TRIALS = {"count": Trial({"column": "x"}, "dc1be7b101ec")}


def test_the_sum_is_the_number_of_values_that_are_not_missing() -> None:
    question = count_of(SCHEMA, "x")
    assert summed(question, RECORDS).tolist() == [len(X)]
    clipping_never_acts(question, RECORDS)
