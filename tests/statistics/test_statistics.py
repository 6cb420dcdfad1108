"""Count, sum, mean, variance: close to the truth, honest about the error, careful with bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors, Unit
from discreet.noise.deterministic import DeterministicBits
from discreet.releases.estimate import Estimate
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.moments.count import count
from discreet.statistics.moments.mean import mean
from discreet.statistics.moments.total import total
from discreet.statistics.moments.variance import variance
from discreet.trust.private_data import PrivateData

AGES = np.random.default_rng(0).gamma(8, 5, 4000)
CLIPPED = np.clip(AGES, 0, 100)
TRUTH: dict[Any, float] = {mean: CLIPPED.mean(), variance: CLIPPED.var(), total: CLIPPED.sum(), count: 4000.0}
Statistic = Callable[..., Estimate]


def ages(neighbors: Neighbors, seed: int, budget: Budget) -> PrivateData:
    schema = Schema({"age": Number(0, 100)})
    return PrivateData.of({"age": AGES}, schema, budget, neighbors=neighbors, bits=DeterministicBits(seed))


BUDGETS = [
    pytest.param(Budget(0.5), Neighbors.ADD_REMOVE, id="pure, add or remove"),
    pytest.param(Budget(0.5), Neighbors.REPLACE, id="pure, replace"),
    pytest.param(Budget(0.5, 1e-6), Neighbors.ADD_REMOVE, id="approximate, add or remove"),
    pytest.param(Budget(0.5, 1e-6), Neighbors.REPLACE, id="approximate, replace", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("budget", "neighbors"), BUDGETS)
@pytest.mark.parametrize("statistic", list(TRUTH), ids=lambda statistic: statistic.__name__)
def test_the_error_bar_holds_the_truth_as_often_as_it_says(
    statistic: Statistic, budget: Budget, neighbors: Neighbors
) -> None:
    """40 runs of a 95 % interval: fewer than 31 hits have probability below 1e-4."""
    hits = 0
    for seed in range(40):
        estimate = statistic(ages(neighbors, seed, budget), "age", epsilon=budget.epsilon, delta=budget.delta)
        lower, upper = estimate.interval
        hits += lower - 1e-6 * abs(lower) <= TRUTH[statistic] <= upper + 1e-6 * abs(upper)
    assert hits >= 31


@pytest.mark.parametrize("statistic", [mean, variance, total])
def test_the_price_is_the_budget_and_no_more(statistic: Statistic) -> None:
    pure = statistic(AGES, bounds=(0, 100), epsilon=0.3).receipt.event
    assert pure_epsilon(pure) == pytest.approx(0.3)
    assert pure_epsilon(pure) <= 0.3
    approximate = statistic(AGES, bounds=(0, 100), epsilon=0.3, delta=1e-6).receipt.event
    assert delta(approximate, 0.3) <= 1e-6


def test_a_mean_with_a_public_number_of_records_has_the_textbook_noise() -> None:
    """Sensitivity (upper - lower) / n, Laplace."""
    runs = [mean(ages(Neighbors.REPLACE, seed, Budget(1.0)), "age", epsilon=1.0).value for seed in range(400)]
    assert np.std(runs) == pytest.approx(np.sqrt(2) * 100 / 4000, rel=0.2)


def test_a_mean_with_a_secret_number_of_records_costs_at_most_twice_the_variance_of_a_public_one() -> None:
    secret = mean(ages(Neighbors.ADD_REMOVE, 1, Budget(1.0)), "age", epsilon=1.0)
    public = mean(ages(Neighbors.REPLACE, 1, Budget(1.0)), "age", epsilon=1.0)
    assert secret.half_width < np.sqrt(2) * public.half_width


@pytest.mark.parametrize("statistic", [mean, variance, total])
@pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf, 1e308, 5e-324, -0.0])
def test_one_wild_record_changes_neither_kind_nor_size_of_the_answer(statistic: Statistic, wild: float) -> None:
    calm = statistic(AGES, bounds=(0, 100), epsilon=1.0)
    shaken = statistic(np.append(AGES, wild), bounds=(0, 100), epsilon=1.0)
    assert abs(calm.value - shaken.value) <= 20 * (calm.half_width + shaken.half_width)
    assert np.isfinite(shaken.value)
    assert type(calm) is type(shaken)


@pytest.mark.parametrize("statistic", [mean, variance, total])
@pytest.mark.parametrize("records", [np.array([]), np.array([50.0]), np.full(10, np.nan)], ids=["none", "one", "nan"])
def test_hardly_any_data_is_an_answer_within_its_range(statistic: Statistic, records: np.ndarray) -> None:
    for _ in range(20):
        estimate = statistic(records, bounds=(0, 100), epsilon=1.0)
        assert np.isfinite(estimate.value)
        if statistic is not total:
            assert 0 <= estimate.value <= 2500


@pytest.mark.parametrize("wild", ["x", None, "", "1e999", 10**400], ids=repr)
def test_what_is_no_number_is_missing_and_does_not_raise(wild: object) -> None:
    estimate = mean([50.0, 60.0, wild], bounds=(0, 100), epsilon=50.0)
    assert estimate.value == pytest.approx(55.0, abs=8)


def test_a_mean_cannot_leave_its_bounds() -> None:
    values = [mean(np.full(5, 99.0), bounds=(0, 100), epsilon=0.01).value for _ in range(50)]
    assert min(values) >= 0
    assert max(values) <= 100


def test_values_of_people_with_many_rows_get_noise_for_all_of_them() -> None:
    visits = {"who": np.repeat(np.arange(1000), 3).astype(str), "age": np.full(3000, 50.0)}
    schema = Schema({"age": Number(0, 100)})
    one, three = (
        mean(
            PrivateData.of(visits, schema, Budget(1.0), unit=Unit("user", column="who", rows=rows)), "age", epsilon=1.0
        )
        for rows in (1, 3)
    )
    assert one.half_width == pytest.approx(three.half_width, rel=0.1)  # three times the noise over three times the rows
    assert str(three.receipt).count("at most 3 rows") == 1


def test_counting_a_category_leaves_out_what_is_not_listed() -> None:
    data = PrivateData.of({"sex": ["f"] * 300 + ["?"] * 300}, Schema({"sex": Category(("f", "m"))}), Budget(2.0))
    assert count(data, "sex", epsilon=2.0).value == pytest.approx(300, abs=12)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda data: mean(data, "height", epsilon=1.0),
        lambda data: mean(data, epsilon=1.0),
        lambda data: mean(data, "age", bounds=(0, 1), epsilon=1.0),
        lambda data: mean(data, "age", epsilon=0.0),
        lambda data: mean(data, "age", epsilon=np.inf),
        lambda data: mean(data, "age", epsilon=1.0, delta=1.0),
        lambda data: mean(AGES, epsilon=1.0),
        lambda data: mean(AGES, bounds=(5, 5), epsilon=1.0),
        lambda data: mean(AGES, bounds=(5, 0), epsilon=1.0),
        lambda data: mean(np.zeros((2, 2)), bounds=(0, 1), epsilon=1.0),
        lambda data: mean(data, "age", epsilon=3.0),
    ],
)
def test_a_mistake_is_refused_before_anything_is_spent(wrong: Callable[[PrivateData], Any]) -> None:
    data = ages(Neighbors.ADD_REMOVE, 0, Budget(2.0))
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        wrong(data)
    mean(data, "age", epsilon=2.0)


def test_an_estimate_prints_its_error_and_its_receipt() -> None:
    estimate = mean(AGES, bounds=(0, 100), epsilon=1.0)
    assert str(estimate).startswith("mean of value: ")
    assert "±" in str(estimate)
    assert "<table" in estimate._repr_html_()
    assert float(estimate) == estimate.value
