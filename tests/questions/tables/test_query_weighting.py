"""How a price is divided: against closed forms, and against a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from discreet.core.bound import Norm
from discreet.questions.tables.query_weighting import QueryWeighting

rng = np.random.default_rng(0)


@pytest.mark.parametrize(("norm", "power"), [("l1", 1 / 3), ("l2", 1 / 4)])
def test_separate_measurements_have_weights_in_closed_form(norm: Norm, power: float) -> None:
    """Lagrange: w^3 is as importance / cost in l1, w^4 as importance / cost^2 in l2."""
    importance, costs = rng.uniform(0.1, 5, 6), rng.uniform(0.5, 2, 6)
    weights = QueryWeighting(np.eye(6), costs, norm).optimal_weights(importance)
    expected = (importance / costs ** (1 if norm == "l1" else 2)) ** power
    np.testing.assert_allclose(weights / weights[0], expected / expected[0], rtol=0.01)
    assert QueryWeighting(np.eye(6), costs, norm).length(weights) == pytest.approx(1.0, rel=0.004)
    np.testing.assert_array_equal(weights * 2.0**20, np.rint(weights * 2.0**20))


@pytest.mark.parametrize(("norm", "length"), [("l1", 7.0), ("l2", 5.0)])
def test_weights_that_cancel_make_nothing_shorter(norm: Norm, length: float) -> None:
    assert QueryWeighting(np.eye(2), np.ones(2), norm).length(np.array([-3.0, 4.0])) == length


def test_in_l2_the_weights_are_as_good_as_a_general_optimiser_s() -> None:
    information = rng.uniform(0, 1, (5, 7)) * (rng.uniform(size=(5, 7)) < 0.6)
    information[0] = 0.1
    design, importance = QueryWeighting(information, rng.uniform(0.5, 2, 5), "l2"), rng.uniform(0, 1, 7)

    def error(logs: np.ndarray) -> float:
        weights = np.exp(logs) / design.length(np.exp(logs))
        return float(importance @ design.variances(weights))

    best = min(minimize(error, start, method="Nelder-Mead", options={"maxiter": 20_000}).fun for start in np.eye(5))
    weights = design.optimal_weights(importance)
    assert importance @ design.variances(weights) * design.length(weights) ** 2 <= best * 1.002


def test_in_l1_the_weights_are_never_worse_than_equal_ones() -> None:
    for _ in range(20):
        information = rng.uniform(0, 1, (5, 7))
        design, importance = QueryWeighting(information, rng.uniform(0.5, 2, 5), "l1"), rng.uniform(0, 1, 7)
        equal = 1 / design.costs / design.length(1 / design.costs)
        weights = design.optimal_weights(importance)
        error = importance @ design.variances(weights) * design.length(weights) ** 2
        assert error <= importance @ design.variances(equal) * 1.001


def test_what_is_not_needed_need_not_be_told() -> None:
    design = QueryWeighting(np.array([[1.0, 0.0]]), np.ones(1), "l1")
    np.testing.assert_array_equal(design.variances(np.ones(1)), [1.0, np.inf])
    np.testing.assert_array_equal(design.optimal_weights(np.array([1.0, 0.0])), [1.0])
