"""Variances of rows that may move: the law of their errors, and what refuses."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from discreet.core.answer import MovableRows
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.mechanisms.vectors.moved_row_sketch import MovedRowSketch
from discreet.noise.deterministic import DeterministicBits
from discreet.statistics.moments.moved_variance_sketch import moved_variance_sketch
from discreet.trust.moving_table import MovingTable

READ_ELSEWHERE = {
    "moved_variance_sketch": "a row without a position is no neighbor of one that has one",
}
"""Why odd values are not handed over to these: see `tests/conformance/test_odd_values.py`."""

RUNS = 200


def test_variances_are_unbiased_and_intervals_hold_as_often_as_they_say() -> None:
    rows = np.random.default_rng(0).normal([300.0, -20.0], [50.0, 100.0], (400, 2)) @ np.array([[1.0, 0.4], [0.0, 1.0]])
    one = moved_variance_sketch(MovingTable(rows, 2.0, Budget(2.0, 1e-5)), projections=30, epsilon=2.0, delta=1e-5)
    mechanism = MovedRowSketch(one.regularization / 4, 30, 2.0)
    many = mechanism.release(MovableRows(rows, 2.0).stacked(RUNS), DeterministicBits(1))
    exact = np.cov(rows.T, bias=True)
    for direction in np.array([[1.0, 0.0], [1.0, -1.0], [0.3, 1.0]]):
        found = [dataclasses.replace(one, vectors=each).variance(direction, 0.9) for each in many]
        values, true = np.array([each.value for each in found]), direction @ exact @ direction
        assert abs(values.mean() - true) < 5 * values.std() / math.sqrt(RUNS)
        assert np.mean([each.low <= true <= each.high for each in found]) >= 0.9 - 5 * math.sqrt(0.09 / RUNS)


@pytest.mark.parametrize(
    "mistake", [{"projections": 2}, {"delta": 0.0}, {"confidence": 1.0}, {"epsilon": 9.0}, {"epsilon": -1.0}], ids=str
)
def test_mistakes_cost_nothing(mistake: dict[str, Any]) -> None:
    table = MovingTable(np.ones((5, 2)), 1.0, Budget(2.0, 1e-5))
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        moved_variance_sketch(table, **mistake)
    assert table.ledger.balance().certified == 0
