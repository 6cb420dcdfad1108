"""t-tests that know of their noise: rejecting no more than they say, and what is false in the end."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.accounting.accountant import pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors, Unit
from discreet.noise.deterministic import DeterministicBits
from discreet.releases.test_result import TestResult
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.hypotheses.t_test import t_test, two_sample_t_test
from discreet.trust.private_data import PrivateData
from tests.statistics.trial import StatisticTrial

TRIALS = {
    "t_test": StatisticTrial(hostile={"mean": [-21.0, 1e9]}),
    "two_sample_t_test": StatisticTrial(
        {"by": "kind", "groups": ("a", "b")},
        {"groups": [("a", "nobody"), ("a",), ("a", "a")]},
        extreme={"column": ["kind", "z" * 10_000], "groups": [("a", "a"), ("no", "such")]},
        arrays=False,
    ),
}

SCHEMA = Schema({"x": Number(0.0, 100.0), "group": Category(("a", "b", "c"))})
relations = pytest.mark.parametrize("neighbors", list(Neighbors))


def private(
    values: Array, groups: list[str], seed: int, epsilon: float, neighbors: Neighbors = Neighbors.ADD_REMOVE
) -> PrivateData:
    records = {"x": values, "group": groups}
    return PrivateData.of(records, SCHEMA, Budget(epsilon), neighbors=neighbors, bits=DeterministicBits(seed))


def one(values: Array, seed: int, epsilon: float, neighbors: Neighbors, hypothesis: float) -> TestResult:
    data = private(values, ["a"] * len(values), seed, epsilon, neighbors)
    return t_test(data, "x", hypothesis, epsilon=epsilon)


def two(values: Array, shift: float, seed: int, epsilon: float, neighbors: Neighbors, share: float = 0.5) -> TestResult:
    cut = int(share * len(values))
    groups = ["a"] * cut + ["c"] * (len(values) - cut)
    data = private(values + shift * (np.arange(len(values)) < cut), groups, seed, epsilon, neighbors)
    return two_sample_t_test(data, "x", by="group", groups=("a", "c"), epsilon=epsilon)


def rejected(test: Callable[[Array, int], TestResult], size: int, runs: int, draw: str = "normal") -> float:
    rng, found = np.random.default_rng(size), []
    for seed in range(runs):
        values = rng.normal(50, 10, size) if draw == "normal" else rng.gamma(2.0, 5.0, size)
        found.append(test(values, seed).p_value < 0.05)
    return float(np.mean(found))


@pytest.mark.parametrize(("neighbors", "epsilon"), list(zip(Neighbors, (0.1, 1.0), strict=True)))
def test_a_true_mean_is_rejected_one_time_in_twenty_at_most(neighbors: Neighbors, epsilon: float) -> None:
    """120 runs of a thousand records: 16 rejections or more have probability below 4e-4."""
    assert rejected(lambda values, seed: one(values, seed, epsilon, neighbors, 50.0), 1000, 120) < 16 / 120


@pytest.mark.parametrize(("share", "epsilon"), [(0.5, 0.1), (0.5, 1.0), (0.1, 1.0)])
def test_equal_means_are_rejected_one_time_in_twenty_at_most(share: float, epsilon: float) -> None:
    def test(values: Array, seed: int) -> TestResult:
        return two(values, 0.0, seed, epsilon, Neighbors.ADD_REMOVE, share)

    assert rejected(test, 1000, 120) < 16 / 120


@pytest.mark.slow
@relations
@pytest.mark.parametrize("draw", ["normal", "skewed"])
@pytest.mark.parametrize(("size", "epsilon"), [(1000, 0.1), (1000, 1.0), (10_000, 0.3), (10_000, 3.0)])
def test_what_is_true_is_rejected_35_to_65_times_in_a_thousand(
    neighbors: Neighbors, draw: str, size: int, epsilon: float
) -> None:
    """3,000 runs or 1,000, with two standard errors of the latter, 0.014, on either side."""
    hypothesis = 50.0 if draw == "normal" else 10.0
    tests: list[Callable[[Array, int], TestResult]] = [
        lambda values, seed: one(values, seed, epsilon, neighbors, hypothesis),
        lambda values, seed: two(values, 0.0, seed, epsilon, neighbors),
    ]
    for test in tests:
        assert 0.035 - 0.014 <= rejected(test, size, 3000 if size == 1000 else 1000, draw) <= 0.065 + 0.014


@pytest.mark.slow
@relations
@pytest.mark.parametrize("draw", ["normal", "skewed"])
@pytest.mark.parametrize("size", [10, 30, 100])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0])
def test_little_data_and_much_noise_never_reject_more_than_they_say(
    size: int, epsilon: float, draw: str, neighbors: Neighbors
) -> None:
    """2,000 runs: three standard errors are 0.015."""
    hypothesis = 50.0 if draw == "normal" else 10.0
    assert rejected(lambda values, seed: one(values, seed, epsilon, neighbors, hypothesis), size, 2000, draw) <= 0.065
    assert rejected(lambda values, seed: two(values, 0.0, seed, epsilon, neighbors, 0.2), size, 2000, draw) <= 0.065


@relations
def test_power_grows_with_the_data_and_the_budget(neighbors: Neighbors) -> None:
    """Means that are one off where the deviation is ten; 30 runs each, shares that are far apart."""

    def power(size: int, epsilon: float) -> float:
        return rejected(lambda values, seed: one(values, seed, epsilon, neighbors, 51.0), size, 30)

    def power_of_two(size: int, epsilon: float) -> float:
        return rejected(lambda values, seed: two(values, 2.0, seed, epsilon, neighbors), size, 30)

    assert power(300, 0.1) < 0.3 < power(1000, 1.0) < 0.95 < power(5000, 1.0)
    assert power_of_two(4000, 0.02) < 0.3 < 0.95 < power_of_two(4000, 1.0)


def test_with_a_large_budget_it_is_the_test_of_scipy() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(50, 10, 400).clip(0, 100)
    found = one(values, 1, 1e5, Neighbors.REPLACE, 51.0)
    classical = stats.ttest_1samp(values, 51.0)
    assert found.statistic == pytest.approx(classical.statistic, abs=1e-3)
    assert found.p_value == pytest.approx(classical.pvalue, abs=1e-4)
    assert found.interval == pytest.approx(classical.confidence_interval(), abs=1e-2)
    welch = stats.ttest_ind(values[:100] + 2, values[100:], equal_var=False)
    found = two(values, 2.0, 1, 1e5, Neighbors.ADD_REMOVE, 0.25)
    assert found.statistic == pytest.approx(welch.statistic, abs=1e-3)
    assert found.p_value == pytest.approx(welch.pvalue, abs=1e-4)


@relations
def test_a_hypothesis_is_rejected_where_its_interval_leaves_it_out(neighbors: Neighbors) -> None:
    values = np.random.default_rng(4).normal(50, 10, 800).clip(0, 100)
    for hypothesis in np.linspace(48, 52, 25):
        found = one(values, 2, 0.5, neighbors, hypothesis)
        assert found.interval is not None
        low, high = found.interval
        assert found.rejected is (found.p_value <= 0.05) is bool(not low <= hypothesis <= high)


def test_the_price_is_the_budget_whatever_the_test() -> None:
    values = np.random.default_rng(5).normal(50, 10, 100)
    for found in (one(values, 1, 0.3, Neighbors.ADD_REMOVE, 50.0), two(values, 0.0, 1, 0.3, Neighbors.ADD_REMOVE)):
        assert pure_epsilon(found.receipt.event) == pytest.approx(0.3)
        assert found.receipt is found.evidence.receipt


@relations
@pytest.mark.parametrize("records", [0, 1, 2])
def test_hardly_any_data_reject_nothing(neighbors: Neighbors, records: int) -> None:
    for seed, epsilon in product(range(8), (0.1, 1.0, 30.0)):
        found = one(np.full(records, 80.0), seed, epsilon, neighbors, 10.0)
        if records < 2 and neighbors is Neighbors.REPLACE:
            assert found.p_value == 1
        assert found.p_value > 1e-3
        assert two(np.full(records, 80.0), 0.0, seed, epsilon, neighbors).p_value > 0.05
        assert math.isfinite(found.statistic)
        assert 0 <= found.value <= 100


def test_people_with_many_rows_and_missing_values_are_answered_too() -> None:
    visits = {"who": np.repeat(np.arange(500), 2).astype(str), "x": [50.0, math.nan] * 500, "group": ["a", "b"] * 500}
    data = PrivateData.of(visits, SCHEMA, Budget(2.0), unit=Unit("user", column="who", rows=2))
    assert t_test(data, "x", 50.0, epsilon=2.0).p_value > 1e-3


def test_two_categories_need_not_be_named() -> None:
    schema = Schema({"x": Number(0, 100), "sex": Category(("f", "m"))})
    records = {"x": np.r_[np.full(500, 60.0), np.full(500, 40.0)], "sex": ["f"] * 500 + ["m"] * 500}
    found = two_sample_t_test(PrivateData.of(records, schema, Budget(1.0)), "x", by="sex", epsilon=1.0)
    assert found.evidence.name == "mean of x, f less m"
    assert found.value == pytest.approx(20, abs=5)


MISTAKES: list[Callable[[PrivateData], Any]] = [
    lambda data: t_test(data, "y"),
    lambda data: t_test(data, "group"),
    lambda data: t_test(data),
    lambda data: t_test(data, "x", 101.0),
    lambda data: t_test(data, "x", -0.1),
    lambda data: t_test(data, "x", math.nan),
    lambda data: t_test(data, "x", confidence=1.0),
    lambda data: t_test(data, "x", epsilon=0.0),
    lambda data: t_test(np.zeros(5)),
    lambda data: t_test(np.zeros(5), bounds=(1, 0)),
    lambda data: t_test(np.zeros(5), bounds=(0, 1e200)),
    lambda data: two_sample_t_test(data, "x", by="x"),
    lambda data: two_sample_t_test(data, "group", by="group"),
    lambda data: two_sample_t_test(data, "x", by="group"),
    lambda data: two_sample_t_test(data, "x", by="group", groups=("a",)),
    lambda data: two_sample_t_test(data, "x", by="group", groups=("a", "a")),
    lambda data: two_sample_t_test(data, "x", by="group", groups=("a", "d")),
    lambda data: two_sample_t_test(data, "x", by="group", groups=("a", "b"), confidence=0.0),
    lambda data: two_sample_t_test(data, "x", by="group", groups=("a", "b"), epsilon=9.0),
]


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    data = private(np.full(10, 50.0), ["a"] * 10, 0, 1.0)
    for wrong in MISTAKES:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            wrong(data)
    t_test(data, "x", 50.0, epsilon=1.0)


def test_it_prints_what_was_tested_and_what_was_found() -> None:
    values = np.random.default_rng(6).normal(50, 10, 5000)
    null, figures, follows, estimate = str(one(values, 1, 1.0, Neighbors.ADD_REMOVE, 49.9)).splitlines()
    assert null == "null hypothesis: mean of x is 49.9"
    assert figures.startswith("statistic ")
    assert ", p = 0." in figures
    assert follows.startswith("The null hypothesis is ")
    assert estimate.startswith("mean of x: ")
    assert estimate.endswith("(95% for the population)")
    sure = str(one(values, 1, 1.0, Neighbors.ADD_REMOVE, 10.0))
    assert "p <= 1e-06\nThe null hypothesis is rejected at the 5% level." in sure
    page = two(values, 0.0, 1, 1.0, Neighbors.REPLACE)._repr_html_()
    assert "mean of x is alike for a and c: not rejected at the 5% level" in page


def test_two_arrays_are_two_groups() -> None:
    rng = np.random.default_rng(0)
    days = rng.normal(12, 4, 3000), rng.normal(10, 4, 5000)
    found = two_sample_t_test(*days, bounds=(0, 30), epsilon=1.0)
    assert found.p_value < 1e-6
    assert found.value == pytest.approx(2.0, abs=0.5)
    assert str(found).startswith("null hypothesis: mean of value is alike for first and second\n")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda days: two_sample_t_test(days, "days", bounds=(0, 30)),
        lambda days: two_sample_t_test(days, days),
        lambda days: two_sample_t_test(days, days, bounds=(30, 0)),
        lambda days: two_sample_t_test(days[:, None, None], days, bounds=(0, 30)),
        lambda days: two_sample_t_test(days, 7.0, bounds=(0, 30)),
    ],
)
def test_what_is_not_two_arrays_with_bounds_is_refused(wrong: Callable[[np.ndarray], Any]) -> None:
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        wrong(np.arange(10.0))
