"""Randomised response: reports that nobody can make."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.aggregator import Aggregator
from discreet.local.oracles.generalized_randomized_response import GeneralizedRandomizedResponse
from tests.local.trial import ReportTrial

TRIAL = ReportTrial(
    [
        GeneralizedRandomizedResponse(1.0, 16),
        GeneralizedRandomizedResponse(0.7, ("a", "b")),
        GeneralizedRandomizedResponse(3.0, 300),
    ],
    fingerprints={"grr": "4d31efdd4ef9a571"},
)


def test_reports_that_nobody_can_make_are_refused_and_none_is_counted() -> None:
    survey = GeneralizedRandomizedResponse(1.0, 4)
    votes = Aggregator(survey)
    for wrong in ([0, 4], [-1], [0.5], [[0, 1]]):
        with pytest.raises(ParameterError, match="Nothing was counted"):
            votes.add(np.asarray(wrong))
    assert votes.n == votes.tally.sum() == 0
