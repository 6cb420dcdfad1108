"""Stated probabilities: both directions, sums over outputs, and what is no distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet.audit.exact_loss import ExactLoss
from discreet.core.errors import ParameterError


def test_delta_is_the_hockey_stick_divergence_in_the_worse_direction() -> None:
    loss = ExactLoss.of([0.5, 0.3, 0.2], [0.1, 0.1, 0.8])
    for epsilon in (0.0, 0.5, 1.0, 1.5):
        there = sum(max(p - math.exp(epsilon) * q, 0) for p, q in ((0.5, 0.1), (0.3, 0.1), (0.2, 0.8)))
        back = sum(max(q - math.exp(epsilon) * p, 0) for p, q in ((0.5, 0.1), (0.3, 0.1), (0.2, 0.8)))
        assert loss.delta(epsilon) == pytest.approx(max(there, back))
    assert loss.epsilon(0.0) == pytest.approx(math.log(5), abs=1e-6)
    assert loss.epsilon(loss.delta(0.7)) == pytest.approx(0.7, abs=1e-6)
    assert loss.output == 0


def test_an_output_of_one_data_set_alone_has_no_epsilon() -> None:
    loss = ExactLoss.of({"a": 0.9, "b": 0.1}, {"a": 1.0})
    assert loss.epsilon(0.0) == math.inf
    assert loss.epsilon(0.1) == 0.0
    assert loss.output == "b"


@pytest.mark.parametrize("found", [[0.5, 0.6], [-0.5, 1.5], [], [math.nan, 1.0], 3, {"a": "b"}, np.eye(2), [[1.0]]])
def test_what_is_no_distribution_is_refused(found: Any) -> None:
    with pytest.raises(ParameterError, match="no distribution"):
        ExactLoss.of(found, [1.0])
