"""A private min-max scaler: quantiles that are bought, or bounds that are given."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.learners.preprocessing.min_max_scaler import MinMaxScaler, between
from discreet.releases.least_noise import SumPlan
from discreet.releases.spread import spread
from tests.learners import trial
from tests.learners.audited_sum import check_sum
from tests.learners.preprocessing.test_standard_scaler import TRANSFORMERS
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(MinMaxScaler(bounds=trial.BOUNDS), exemptions=TRANSFORMERS)
BOUNDS = ([0.0, -5.0], [100.0, 5.0])


def people(n: int = 20_000) -> np.ndarray:
    return np.random.default_rng(0).uniform([20.0, -1.0], [60.0, 1.0], (n, 2))


def test_it_finds_where_the_records_are() -> None:
    for price in (1e-6, 0.0):
        scaler = MinMaxScaler(bounds=BOUNDS, epsilon=1.0, delta=price).fit(people())
        np.testing.assert_allclose(scaler.data_min_, [20.0, -1.0], atol=4.0)
        np.testing.assert_allclose((scaler.data_max_ - scaler.data_min_) / [40.0, 2.0], 1.0, atol=0.25)
        rows = scaler.transform(people())
        assert 0.0 <= rows.min() < rows.max() <= 1.0
        assert 0.45 < rows.mean() < 0.55


def test_public_bounds_cost_nothing() -> None:
    scaler = MinMaxScaler((-1, 1), q=None, bounds=BOUNDS).fit(people(10))
    assert scaler.receipt_.epsilon == 0.0
    np.testing.assert_array_equal(scaler.transform([[100.0, 0.0], [0.0, np.nan]]), [[1.0, 0.0], [-1.0, np.nan]])


def test_the_fit_costs_what_it_says() -> None:
    assert delta(MinMaxScaler(bounds=BOUNDS, epsilon=0.7).fit(people(10)).event_, 0.7) <= 1e-6
    pure = MinMaxScaler(bounds=BOUNDS, epsilon=0.7, delta=0.0).fit(people(10))
    assert pure_epsilon(pure.event_) == pytest.approx(0.7)


def test_the_ends_are_apart_whatever_the_counts() -> None:
    rng = np.random.default_rng(0)
    for counts in (np.zeros(64), -np.ones(64), *rng.normal(0, 100, (50, 64))):
        for q in ((0.0, 1.0), (0.01, 0.99), (0.5, 0.51)):
            low, high = between(counts, q)
            assert 0 <= low < high <= 1
    np.testing.assert_array_equal(between(np.array([0.0, 0.0, 9.0, 9.0]), (0.0, 1.0)), [0.5, 1.0])


def test_no_audit_refutes_it_and_one_does_with_two_thirds_of_the_noise() -> None:
    """Every record adds one mark on each level of the tree: all are as bad."""
    scaler = MinMaxScaler(bounds=BOUNDS, epsilon=3.0)
    task = scaler._task(people(1), None, Budget(3.0, 1e-6))
    question, noise = scaler._tree(task).question(task.schema, "x0", 64), scaler.plan(task).mechanisms[0]
    plan = SumPlan(question, spread(task.data, question, noise))
    check_sum(plan, np.array([50.0]))


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    for fields in ({"q": (0.9, 0.1)}, {"feature_range": (1.0, 1.0)}, {"bounds": None}, {"epsilon": 0.0}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            MinMaxScaler(**{"bounds": BOUNDS, **fields}).fit(people(10))  # type: ignore[arg-type]
