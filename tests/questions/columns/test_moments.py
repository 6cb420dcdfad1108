"""Moments of a column: Bernstein polynomials, or two numbers where the count is public."""

from __future__ import annotations

import numpy as np

from discreet.questions.columns.moments import moments_of, moments_size
from tests.questions.trial import RECORDS, SCHEMA, Trial, X, clipping_never_acts, summed

TRIALS = {"moments": Trial({"column": "x", "degree": 2, "counted": True}, "8165f7127abe")}
A = (X + 10) / 120


def test_the_sums_are_those_of_bernstein_polynomials() -> None:
    for degree in (1, 2, 4):
        k = np.arange(degree + 1)[:, None]
        binomials = np.array([1.0, 4.0, 6.0, 4.0, 1.0])[:, None] if degree == 4 else np.array([[1.0], [2.0], [1.0]])
        expected = (binomials[: degree + 1] if degree > 1 else 1.0) * A**k * (1 - A) ** (degree - k)
        question = moments_of(SCHEMA, "x", degree, False)
        np.testing.assert_allclose(summed(question, RECORDS), expected.sum(axis=1), atol=1e-5)
        clipping_never_acts(question, RECORDS)


def test_where_the_count_is_public_two_numbers_are_enough_and_a_missing_value_is_in_the_middle() -> None:
    whole = np.append(A, [0.5, 0.5])
    for degree, expected in ((1, [whole]), (2, [whole - 0.5, 2 * whole * (1 - whole) - 1 / 16])):
        question = moments_of(SCHEMA, "x", degree, True)
        np.testing.assert_allclose(summed(question, RECORDS), np.sum(expected, axis=1), atol=1e-5)
        clipping_never_acts(question, RECORDS)
        assert moments_size(degree, True) == degree == len(expected)
