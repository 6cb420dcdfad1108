"""Randomised response: the chances, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.aggregator import Aggregator
from discreet.local.oracles.randomized_response import KaryResponse
from discreet.noise.deterministic import DeterministicBits

RANDOMIZERS = [KaryResponse(1.0, 16), KaryResponse(0.7, ("a", "b")), KaryResponse(3.0, 300)]


def test_the_truth_and_every_lie_have_their_chances() -> None:
    survey = KaryResponse(1.0, 4)
    counts = np.bincount(survey.reports([2] * 40_000, DeterministicBits(1)), minlength=4) / 40_000
    assert np.abs(counts - [survey.other, survey.other, survey.own, survey.other]).max() < 0.01  # 4 standard errors
    assert survey.own + 3 * survey.other == pytest.approx(1.0)


def test_values_outside_the_domain_are_refused() -> None:
    for survey, value in ((KaryResponse(1.0, ("no", "yes")), "maybe"), (KaryResponse(1.0, 4), 4)):
        for wrong in (value, -1, 0.5, None):
            with pytest.raises(ParameterError, match="is not one of"):
                survey.report(wrong, DeterministicBits(1))
    with pytest.raises(ParameterError, match="twice"):
        KaryResponse(1.0, ("a", "a"))
    with pytest.raises(ParameterError, match="number of values is 1"):
        KaryResponse(1.0, 1)


def test_reports_that_nobody_can_make_are_refused_and_none_is_counted() -> None:
    survey = KaryResponse(1.0, 4)
    votes = Aggregator(survey)
    for wrong in ([0, 4], [-1], [0.5], [[0, 1]]):
        with pytest.raises(ParameterError, match="Nothing was counted"):
            votes.add(np.asarray(wrong))
    assert votes.n == votes.tally.sum() == 0
