"""Moments of a column, and the records that have no value: all coordinates together count everybody."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.questions.columns.moments import moments_of
from discreet.questions.columns.moments_of_all import moments_of_all_of
from tests.questions.trial import RECORDS, SCHEMA, Trial, clipping_never_acts, summed

TRIALS = {
    "moments_of_all": Trial({"column": "x", "degree": 2}, "d1965fbf1c72", forged=[{"degree": 3}, {"column": "kind"}])
}


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_the_sums_are_the_moments_and_the_number_of_missing_values(degree: int) -> None:
    question = moments_of_all_of(SCHEMA, "x", degree)
    *moments, missing = summed(question, RECORDS)
    np.testing.assert_array_equal(moments, summed(moments_of(SCHEMA, "x", degree, False), RECORDS))
    assert missing == 2.0
    assert sum(moments) + missing == pytest.approx(len(RECORDS), abs=1e-5)
    clipping_never_acts(question, RECORDS)


def test_every_record_adds_one_unit_of_mass_at_most() -> None:
    records = np.array([[-np.inf], [-10.0], [3.0], [np.nan], [110.0], [np.inf]])
    masses = np.abs(moments_of_all_of(SCHEMA, "x", 2).of(records)).sum(axis=1)
    assert np.all(masses <= 1)
    assert np.all(masses > 1 - 1e-9)


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ParameterError):
        moments_of_all_of(SCHEMA, "x", 0)
