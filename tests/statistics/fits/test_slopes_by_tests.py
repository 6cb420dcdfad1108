"""Slopes by propose-test-release: what is paid for, when there is an answer, and what no answer looks like."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.accounting.accountant import delta
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import ApproximateLoss, LaplaceLoss
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Schema
from discreet.statistics.fits.robust_regression import Method, RobustRegression, robust_regression
from discreet.trust.permit import releases
from discreet.trust.private_data import PrivateData

SLOPES = np.array([0.5, -0.3])


def rows(number: int, columns: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (number, columns))
    return np.column_stack([x, x @ SLOPES[:columns] / 2 + 0.05 * rng.normal(size=number)])


def fitted(
    records: np.ndarray, epsilon: float, seed: int = 0, neighbors: Neighbors = Neighbors.REPLACE
) -> RobustRegression:
    columns = records.shape[1]
    data = PrivateData.of(
        records,
        Schema.numeric(-1.0, 1.0, columns),
        Budget(epsilon, 1e-6),
        neighbors=neighbors,
        bits=DeterministicBits(seed),
    )
    return robust_regression(data, method="propose_test_release", epsilon=epsilon, delta=1e-6)


def test_both_tests_and_the_release_are_paid_for_each_column() -> None:
    """Two tests of classes, one test of a median and its release; and two chances to fail."""
    paid = releases(fitted(rows(50, 2), 1.0).receipt.event)
    assert sum(count for event, count in paid.items() if isinstance(event, LaplaceLoss)) == 2 * 4
    failures = {event: count for event, count in paid.items() if isinstance(event, ApproximateLoss)}
    assert sum(event.delta * count for event, count in failures.items()) == pytest.approx(0.5e-6)
    assert delta(fitted(rows(50, 2), 1.0).receipt.event, 1.0) <= 1e-6


def test_few_records_have_no_answer_which_costs_the_same() -> None:
    few, many = fitted(rows(200, 1), 3.0), fitted(rows(10_000, 1), 3.0)
    assert not few.answered
    assert math.isnan(few["x0"])
    assert math.isnan(few.intercept)
    assert np.isnan(few.predict(np.zeros((3, 1)))).all()
    assert str(few).count("no answer") == 2
    assert few.receipt.event == many.receipt.event


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize("columns", [1, 2])
def test_many_records_have_an_answer_near_the_truth(columns: int, neighbors: Neighbors) -> None:
    for seed in range(5):
        found = fitted(rows(30_000, columns), 3.0, seed, neighbors)
        assert found.answered
        np.testing.assert_allclose(found.slopes, SLOPES[:columns] / 2, atol=0.05)
        assert found.intercept == pytest.approx(0, abs=0.02)


def test_there_are_no_intervals() -> None:
    found = fitted(rows(10_000, 1), 3.0)
    assert found.confidence is None
    assert found.interval.high[0] == math.inf


def test_depth_is_far_closer_at_the_same_price() -> None:
    """Which is why it is the default."""
    records, schema = rows(10_000, 2), Schema.numeric(-1.0, 1.0, 3)
    off = []
    methods: list[Method] = ["depth", "propose_test_release"]
    for method in methods:
        found = [
            robust_regression(
                PrivateData.of(records, schema, Budget(3.0, 1e-6), bits=DeterministicBits(seed)),
                method=method,
                epsilon=3.0,
            ).slopes
            for seed in range(3)
        ]
        off.append(np.abs(np.array(found) - SLOPES / 2).mean())
    assert off[0] < off[1] / 5


def test_tests_need_a_delta() -> None:
    with pytest.raises(ParameterError, match="a test that may err needs a positive delta"):
        robust_regression(rows(50, 1), bounds=(-1, 1), method="propose_test_release", delta=0.0)
