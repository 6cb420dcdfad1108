"""Frequencies: how they are shown, and what shuffling makes of the price."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.accounting.accountant import epsilon
from discreet.accounting.shuffling import shuffled, shuffled_response
from discreet.core.errors import ParameterError
from discreet.local.oracles.generalized_randomized_response import GeneralizedRandomizedResponse
from tests.local.test_oracle import found


def test_the_price_of_shuffled_reports_is_that_of_the_theorem_for_honest_people() -> None:
    for oracle, theorem in (
        (GeneralizedRandomizedResponse(1.0, 3), shuffled),
        (GeneralizedRandomizedResponse(1.0, 2), shuffled_response),
    ):
        estimate = found(oracle, np.zeros(5000, np.int64))
        assert (estimate.receipt.epsilon, estimate.receipt.delta) == (1.0, 0.0)
        for honest in (None, 1000):
            receipt = estimate.shuffled(1e-6, honest).receipt
            assert receipt.event == theorem(1.0, honest or 5000)
            assert receipt.epsilon == epsilon(receipt.event, 1e-6) < 0.3
    for wrong in ({"delta": 0.0}, {"honest": 5001}, {"honest": 0}):
        with pytest.raises(ParameterError):
            estimate.shuffled(**wrong)


def test_it_is_a_table_with_a_chart() -> None:
    estimate = found(GeneralizedRandomizedResponse(3.0, ("<a>", "b")), np.array(["<a>", "b", "b"] * 1000))
    assert estimate["frequency"].values is estimate.shares
    assert "&lt;a&gt;" in estimate._repr_html_()
    assert estimate.to_dict()["labels"] == {"value": ["<a>", "b"]}
    assert len(estimate.plot().patches) == 2
