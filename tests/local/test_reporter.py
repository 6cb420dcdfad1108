"""The device: one report for each value that the budget pays for, the same one ever after."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from discreet.core.errors import BudgetExceeded, ParameterError
from discreet.local.oracles.randomized_response import KaryResponse
from discreet.local.reporter import Reporter

SURVEY = KaryResponse(0.5, 1000)


def test_a_value_is_reported_once_and_others_within_the_budget() -> None:
    device = Reporter(SURVEY, budget=1.0)
    first, second = device.message(7), device.message(8)
    assert (device.message(7), device.message(8), device.spent) == (first, second, 1.0)
    with pytest.raises(BudgetExceeded, match=r"epsilon 1.5 of 1"):
        device.message(9)
    assert device.spent == 1.0
    with pytest.raises(ParameterError, match="is not one of"):
        Reporter(SURVEY).message(1000)
    with pytest.raises(TypeError, match="neither copied nor pickled"):
        pickle.dumps(device)


def test_ten_tenths_fit_and_no_rounding_lets_an_eleventh_pass() -> None:
    device = Reporter(KaryResponse(0.125, 100), budget=1.25)
    for value in range(10):
        device.message(value)
    with pytest.raises(BudgetExceeded):
        device.message(10)


def test_the_account_outlives_the_process_and_one_of_another_survey_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "account"
    message = Reporter(SURVEY, path=path).message(7)
    again = Reporter(SURVEY, path=path)
    assert (again.message(7), again.spent) == (message, 0.5)
    with pytest.raises(BudgetExceeded):
        again.message(8)
    for other in (KaryResponse(0.5, 999), KaryResponse(0.6, 1000)):
        with pytest.raises(ParameterError, match="not the account of this reporter"):
            Reporter(other, path=path)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ParameterError, match="not the account of this reporter"):
        Reporter(SURVEY, path=path)
