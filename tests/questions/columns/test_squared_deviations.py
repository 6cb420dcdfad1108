"""Squared deviations from a centre that was released before."""

from __future__ import annotations

import numpy as np

from discreet.questions.columns.squared_deviations import squared_deviations_of
from tests.questions.trial import SCHEMA, Trial, X, summed

TRIALS = {
    "squared_deviations": Trial(
        {"column": "x", "centre": 50.0, "degree": 2}, "f17057d433fe", forged=[{"degree": 7}, {"centre": 111.0}]
    )
}


def test_the_sum_is_that_of_squared_distances_as_shares_of_the_largest() -> None:
    for centre, far in ((50.0, 60.0), (-10.0, 120.0)):
        share = np.square((X - centre) / far)
        one, two = (summed(squared_deviations_of(SCHEMA, "x", centre, degree), X[:, None]) for degree in (1, 2))
        np.testing.assert_allclose(one, [share.sum()], atol=1e-5)
        np.testing.assert_allclose(two, [(share - 0.5).sum(), (2 * share * (1 - share) - 1 / 16).sum()], atol=1e-5)
