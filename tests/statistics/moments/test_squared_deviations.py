"""The variance of a public number of records: two releases, less noise than any single one, honest intervals."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import duckdb
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.events import Composed, LaplaceLoss, PureLoss
from discreet.core.grid import Array
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.receipt import Receipt
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.columns.moments import squared_deviations_of, squares_between
from discreet.questions.named import question_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import Recipe
from discreet.releases.ask import ColumnOf
from discreet.releases.estimate import Estimate
from discreet.releases.figure import Figure
from discreet.releases.spread import Spread
from discreet.schema.schema import Number, Schema
from discreet.statistics.moments.column_moments import Moments
from discreet.statistics.moments.squared_deviations import SquaredDeviations, centre_share
from discreet.statistics.moments.variance import variance
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.source_of import source_of

NUMBER = Number(-10.0, 30.0)
SCHEMA = Schema({"x": NUMBER})
rng = np.random.default_rng(0)
VALUES = rng.normal(5, 6, 2000).clip(-10, 30)
RECEIPT = Receipt("variance", PureLoss(1.0), 1.0, 0.0, Neighbors.REPLACE, RECORD, False, "", "")
CENTRES = [-10.0, 4.7, 10.0, 30.0]
centres = pytest.mark.parametrize("centre", CENTRES)
degrees = pytest.mark.parametrize("degree", [1, 2])


def question(centre: float, degree: int) -> BoundedSum:
    return squared_deviations_of(SCHEMA, "x", centre, degree)


ONE = Budget(1.0)


def private(values: Array, seed: int, budget: Budget = ONE, schema: Schema = SCHEMA) -> PrivateData:
    return PrivateData.of({"x": values}, schema, budget, neighbors=Neighbors.REPLACE, bits=DeterministicBits(seed))


@centres
@degrees
def test_without_noise_it_is_the_mean_squared_distance(centre: float, degree: int) -> None:
    asked = question(centre, degree)
    sums = asked.grid.values(source_of({"x": VALUES}, SCHEMA).sum(asked))
    moments = Moments(sums, squares_between(NUMBER, centre), len(VALUES))
    squares = (VALUES - centre) ** 2
    assert moments.mean().value == pytest.approx(squares.mean(), rel=1e-6)
    if degree == 2:
        sampling = moments.sampled_mean().sampling
        assert sampling is not None
        assert sampling.variance == pytest.approx(squares.var(ddof=1) / len(squares), rel=1e-4)


@centres
@degrees
def test_the_fused_sum_and_the_engine_s_are_those_of_the_rows(centre: float, degree: int) -> None:
    values = [*VALUES[:300].tolist(), None, float("nan"), 1e308, -1e308, -10.0, 30.0]
    connection = duckdb.connect()
    connection.execute("CREATE TABLE seen (x DOUBLE)")
    connection.executemany("INSERT INTO seen VALUES (?)", [(value,) for value in values])
    asked = question(centre, degree)
    here = source_of({"x": values}, SCHEMA).sum(asked)
    inside = np.array([10.0 if value is None or value != value else value for value in values]).clip(-10, 30)
    np.testing.assert_array_equal(here, asked.steps(inside[:, None]).sum(axis=0))
    np.testing.assert_array_equal(here, source_of(connection.table("seen"), SCHEMA).sum(asked))


@centres
@degrees
def test_no_record_exceeds_the_bound_and_clipping_never_acts(centre: float, degree: int) -> None:
    asked = question(centre, degree)
    rows = asked.of(np.concatenate([np.linspace(-10, 30, 2049), [np.nan, centre]])[:, None])
    np.testing.assert_array_equal(asked.bound.clip(rows), rows)
    assert all(sum(abs(Fraction(part)) for part in row) <= Fraction(asked.bound.radius) for row in rows[::32].tolist())


@pytest.mark.parametrize("size", [1000, 10_000, 1_000_000])
def test_the_centre_s_share_is_close_to_the_best(size: int) -> None:
    """Against a search, at epsilon 1: within 2 % of the least noise."""
    of = ColumnOf(private(np.zeros(size), 0), "x", budget=Budget(1.0))

    def noise(share: float) -> float:
        return float(1 / (1 - share) ** 2 + 10 / (size**2 * share**4))

    best = minimize_scalar(noise, bounds=(1e-4, 0.9), method="bounded")
    assert noise(centre_share(of, size, Budget(1.0))) <= 1.02 * best.fun


def test_the_noise_is_less_than_that_of_releasing_the_variance_itself() -> None:
    """Whose sensitivity is (n - 1) / n^2 squared widths. 150 draws, ratio measured: 0.36 for a mean in the middle,
    0.93 a tenth from the lower bound; its standard error is below 0.1."""
    for mean, most in ((0.5, 0.6), (0.1, 1.15)):
        values = np.random.default_rng(1).normal(mean, 0.03, 1000).clip(0, 1)
        schema = Schema({"x": Number(0.0, 1.0)})
        found = [variance(private(values, seed, schema=schema), "x", epsilon=1.0).value for seed in range(150)]
        off = np.array(found) - values.var()
        assert np.sqrt(np.mean(np.square(off))) <= most * np.sqrt(2) / 1000


@cache
def estimates(budget: Budget) -> list[Estimate]:
    """Of the same data, 200 times."""
    epsilon, delta = budget.epsilon, budget.delta
    return [variance(private(VALUES, seed, budget), "x", epsilon=epsilon, delta=delta) for seed in range(200)]


@pytest.mark.parametrize(
    "budget", [Budget(1.0), pytest.param(Budget(0.5, 1e-6), marks=pytest.mark.slow)], ids=["pure", "approximate"]
)
def test_the_interval_holds_the_variance_of_these_data_as_often_as_it_says(budget: Budget) -> None:
    """200 runs from fixed generators: two and a half standard errors of a share of 0.95 are 0.04."""
    hits = [abs(found.value - VALUES.var()) <= found.half_width for found in estimates(budget)]
    assert 0.91 <= np.mean(hits) <= 0.99


def test_the_standard_error_is_that_of_the_draws() -> None:
    """200 draws: the spread of a spread of Laplace draws is 8 %."""
    found = estimates(Budget(1.0))
    assert np.std([one.value for one in found]) == pytest.approx(float(found[0].standard_error or 0), rel=0.25)


def test_two_releases_cost_the_budget_and_no_more() -> None:
    event = variance(private(VALUES, 1, Budget(0.3)), "x", epsilon=0.3).receipt.event
    assert isinstance(event, Composed)
    assert [type(part) for part in event.events] == [LaplaceLoss, LaplaceLoss]
    assert pure_epsilon(event) == pytest.approx(0.3, rel=1e-5)
    assert pure_epsilon(event) <= 0.3
    approximate = variance(private(VALUES, 1, Budget(0.3, 1e-3)), "x", epsilon=0.3, delta=1e-3).receipt.event
    assert delta(approximate, 0.3) <= 1e-3


def test_few_records_and_secret_numbers_have_a_single_release() -> None:
    for data in (
        private(VALUES[:200], 1),
        PrivateData.of({"x": VALUES}, SCHEMA, Budget(1.0)),
        private(VALUES[:0], 1),
    ):
        assert isinstance(variance(data, "x", epsilon=1.0).receipt.event, LaplaceLoss)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("noise", [Laplace(), Gaussian()], ids=["laplace", "gaussian"])
def test_the_squared_error_of_the_centre_counts_as_what_it_is(noise: Laplace | Gaussian, confidence: float) -> None:
    """400,000 draws of noise on the squares and on a centre whose square is as large: five standard errors."""
    draws = np.random.default_rng(5)
    first, second = (
        draws.laplace(size=400_000) if isinstance(noise, Laplace) else draws.normal(size=400_000) * 2**0.5
        for _ in range(2)
    )
    one = Figure(0.0, np.ones(1))
    found = SquaredDeviations(one, one, Spread(noise, 2**0.5), Spread(noise, 2**0.5), RECEIPT)
    off = np.abs(second + first**2 - 2)
    share = (off <= found.half_width(confidence)).mean()
    assert share == pytest.approx(confidence, abs=5 * np.sqrt(confidence * (1 - confidence) / 400_000) + 1e-3)
    assert np.std(second + first**2) == pytest.approx(found.law.deviation, rel=0.02)


def test_a_retry_gives_the_same_variance_and_costs_nothing() -> None:
    data = private(VALUES, 1)
    once, again = (variance(data, "x", epsilon=1.0, key="monday") for _ in range(2))
    assert (once.value, once.half_width) == (again.value, again.half_width)
    assert again.receipt.replayed
    with pytest.raises(DiscreetError, match="monday"):
        variance(data, "x", epsilon=1.0, key="monday", population=True)


def test_the_question_travels() -> None:
    asked = question(4.7, 2)
    assert asked.recipe is not None
    again = question_of(Recipe.read(asked.recipe.written()), SCHEMA)
    np.testing.assert_array_equal(again.of(VALUES[:, None]), asked.of(VALUES[:, None]))
    assert (again.bound, again.grid) == (asked.bound, asked.grid)
