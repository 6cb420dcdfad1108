"""Moments of a column: Bernstein polynomials, or two numbers where the count is public."""

from __future__ import annotations

import numpy as np

from discreet.questions.columns.moments import grouped_moments_of, moments_of, moments_size, squared_deviations_of
from tests.questions.trial import RECORDS, SCHEMA, Trial, X, clipping_never_acts, summed

A = (X + 10) / 120
TRIALS = {
    "moments": Trial({"column": "x", "degree": 2, "counted": True}, "8165f7127abe"),
    "squared_deviations": Trial(
        {"column": "x", "centre": 50.0, "degree": 2}, "f17057d433fe", forged=[{"degree": 7}, {"centre": 111.0}]
    ),
    "grouped_moments": Trial({"by": "kind", "column": "x", "degree": 2}, "237eaa94fb16"),
}


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


def test_the_sum_is_that_of_squared_distances_as_shares_of_the_largest() -> None:
    for centre, far in ((50.0, 60.0), (-10.0, 120.0)):
        share = np.square((X - centre) / far)
        one, two = (summed(squared_deviations_of(SCHEMA, "x", centre, degree), X[:, None]) for degree in (1, 2))
        np.testing.assert_allclose(one, [share.sum()], atol=1e-5)
        np.testing.assert_allclose(two, [(share - 0.5).sum(), (2 * share * (1 - share) - 1 / 16).sum()], atol=1e-5)


def test_the_sums_of_each_group_are_those_of_its_records() -> None:
    groups = np.random.default_rng(2).integers(0, 3, len(X)).astype(float)
    groups[:20] = np.nan
    found = summed(grouped_moments_of(SCHEMA, "kind", "x", 2), np.column_stack([groups, X])).reshape(3, 3)
    for group in range(3):
        a = (X[groups == group] + 10) / 120
        expected = [((1 - a) ** 2).sum(), (2 * a * (1 - a)).sum(), (a**2).sum()]
        np.testing.assert_allclose(found[group], expected, atol=1e-5)
