"""Covariances and correlations: those of numpy without noise, with honest error bars, refusing what has no answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.pair_moments import PairMoments, pair_moments_of, pair_moments_size
from discreet.releases.figure import Figure
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.moments.covariance import correlation, covariance
from discreet.statistics.moments.pair_table import PairTable
from discreet.statistics.moments.products import Pair
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from tests.statistics.trial import StatisticTrial

TRIALS = {name: StatisticTrial({"radius": 1.0}, {"radius": [0.0, -1.0]}) for name in ("covariance", "correlation")}

SCHEMA = Schema({"x": Number(-10, 10), "y": Number(0, 100), "z": Number(-3e6, 1e6), "kind": Category(("a", "b"))})
SCHEMA_OF_NUMBERS = Schema({"x": Number(-10, 10), "y": Number(0, 100), "z": Number(-3e6, 1e6)})
UNITS = np.array([10.0, 50.0, 2e6])
LOUD, QUIET = Budget(1.0, 1e-6), Budget(1e7)
each = pytest.mark.parametrize("statistic", [covariance, correlation])


def draw(rng: np.random.Generator, size: int, r: float) -> Array:
    g = rng.normal(size=(size, 3))
    x, y, z = 2 * g[:, 0] + 1, 40 + 12 * (r * g[:, 0] + (1 - r * r) ** 0.5 * g[:, 1]), -1e6 + 5e5 * (g[:, 2] - g[:, 0])
    return np.column_stack([x, y, z]).clip([-10, 0, -3e6], [10, 100, 1e6])


ROWS = draw(np.random.default_rng(0), 5000, 0.6)


def private(rows: Array, seed: int, budget: Budget, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> PrivateData:
    records: dict[str, Any] = {"x": rows[:, 0], "y": rows[:, 1], "z": rows[:, 2], "kind": ["a"] * len(rows)}
    return PrivateData.of(records, SCHEMA, budget, neighbors=neighbors, bits=DeterministicBits(seed))


def asked(statistic: Any, seed: int, budget: Budget, rows: Array = ROWS, **options: Any) -> Any:
    return statistic(private(rows, seed, budget), epsilon=budget.epsilon, delta=budget.delta, **options)


def held(found: PairTable, exact: Any) -> Any:
    slack = 1e-3 * np.abs(exact)
    return (found.low - slack <= exact) & (exact <= found.high + slack)


@pytest.mark.parametrize("population", [False, True])
def test_without_noise_they_are_those_of_numpy(population: bool) -> None:
    found = asked(covariance, 0, QUIET, population=population)
    exact = np.cov(ROWS.T, bias=not population)
    np.testing.assert_allclose(found.values / np.outer(UNITS, UNITS), exact / np.outer(UNITS, UNITS), atol=1e-4)
    found = asked(correlation, 0, QUIET, population=population)
    np.testing.assert_allclose(found.values, np.corrcoef(ROWS.T), atol=2e-3)


@each
@pytest.mark.parametrize("budget", [LOUD, Budget(5.0)], ids=["gaussian", "laplace"])
def test_error_bars_hold_what_is_true_of_these_data_as_often_as_they_say(statistic: Any, budget: Budget) -> None:
    """60 runs: 51 of 60 are three and a half standard errors below 95 %; so for the pair that does worst."""
    exact = np.cov(ROWS.T, bias=True) if statistic is covariance else np.corrcoef(ROWS.T)
    hits = np.zeros((3, 3))
    for seed in range(60):
        found = asked(statistic, seed, budget)
        hits += held(found, exact)
    assert hits.min() >= 33


@each
@pytest.mark.slow
@pytest.mark.parametrize("r", [0.6, 0.0, 0.95])
def test_error_bars_hold_what_is_true_of_a_normal_population(statistic: Any, r: float) -> None:
    """40 fresh samples: 33 of 40 are three and a half standard errors below 95 %."""
    rng = np.random.default_rng(7)
    many = draw(np.random.default_rng(8), 400_000, r)
    exact = np.cov(many.T) if statistic is covariance else np.corrcoef(many.T)
    hits = np.zeros((3, 3))
    for seed in range(40):
        found = asked(statistic, seed, LOUD, draw(rng, 4000, r), population=True)
        hits += held(found, exact)
    assert hits.min() >= 33


FORMULAS = ["covariance", "correlation", "covariance_varies", "correlation_varies"]


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize(("i", "j"), [(0, 1), (2, 1), (0, 0)])
def test_weights_are_derivatives_by_the_released_sums(formula: str, i: int, j: int) -> None:
    """By central differences in each released number, of which those with other columns do not count."""
    coordinates, size = Coordinates.of(SCHEMA, ("x", "y", "z"), 1.7), pair_moments_size(3)
    asked = pair_moments_of(SCHEMA, ("x", "y", "z"), 1.7, "l2")
    released = asked.grid.values(Matrix(ROWS[:300], SCHEMA_OF_NUMBERS).sum(asked))

    def figure(sums: Array) -> Figure:
        pair = Pair.of(PairMoments.of_fourth(sums, coordinates, "l2"), i, j)
        return pair.figure(getattr(pair, formula))

    steps = 1e-3 * np.eye(size)
    slopes = [(figure(released + step).value - figure(released - step).value) / 2e-3 for step in steps]
    weights = figure(released).weights
    assert np.linalg.norm(weights) == pytest.approx(np.linalg.norm(slopes), rel=1e-5, abs=1e-10)
    np.testing.assert_allclose(np.sort(np.abs(weights))[-3:], np.sort(np.abs(slopes))[-3:], rtol=1e-5, atol=1e-10)


def test_what_a_sample_throws_them_by_is_the_deviation_of_what_they_are_means_of() -> None:
    """Against numpy, on the records; a step of the coordinates is 2^-15."""
    asked = pair_moments_of(SCHEMA, ("x", "y", "z"), 1.8, "l1")
    released = asked.grid.values(Matrix(ROWS, SCHEMA_OF_NUMBERS).sum(asked))
    moments = PairMoments.of_fourth(released, Coordinates.of(SCHEMA, ("x", "y", "z"), 1.8), "l1")
    units = (ROWS - ROWS.mean(axis=0)) / UNITS
    for i, j in ((0, 1), (1, 2), (1, 1)):
        pair = Pair.of(moments, i, j)
        x, y = units[:, i], units[:, j]
        assert pair.figure(pair.covariance_varies).value == pytest.approx(np.var(x * y), rel=1e-3)
        x, y = x / x.std(), y / y.std()
        influence = x * y - np.mean(x * y) * (x**2 + y**2) / 2
        assert pair.figure(pair.correlation_varies).value == pytest.approx(np.var(influence), rel=2e-3, abs=2e-3)
        assert np.var(x * y) * (units[:, i].std() * units[:, j].std()) ** 2 <= pair.most()


def test_correlations_stay_within_one_and_of_a_column_with_itself_are_one() -> None:
    twice = ROWS[:, [0, 0, 0]] * [1.0, 4.0, 1e5] + [0.0, 50.0, -1e6]
    for seed in range(30):
        found = asked(correlation, seed, LOUD, twice)
        assert np.abs(found.values).max() <= 1
        assert (np.diag(found.values) == 1).all()
        assert (np.diag(found.high) == 1).all()


def test_where_a_variance_may_be_noise_a_correlation_is_unknown() -> None:
    constant = np.tile([5.0, 50.0, 0.0], (500, 1))
    for seed in range(20):
        found = asked(correlation, seed, LOUD, constant)
        off = ~np.eye(3, dtype=bool)
        assert (found.values[off] == 0).all()
        assert (found.high[off] == 1).all()


def test_the_projected_covariance_is_one() -> None:
    for seed in range(10):
        assert np.linalg.eigvalsh(asked(covariance, seed, Budget(0.1, 1e-6)).projected().values / 1e6).min() > -1e-3


@each
@pytest.mark.parametrize("rows", [0, 1, 2])
@pytest.mark.parametrize("population", [False, True])
@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_hardly_any_record_is_answered_in_the_same_shape(
    statistic: Any, rows: int, population: bool, neighbors: Neighbors
) -> None:
    odd = np.full((rows, 3), np.nan) if rows == 2 else ROWS[:rows]
    found = statistic(private(odd, 1, LOUD, neighbors), population=population)
    for each in (found.values, found.low, found.high):
        assert each.shape == (3, 3)
        assert np.isfinite(each).all()
    assert str(found)


def test_the_price_is_the_budget() -> None:
    assert pure_epsilon(asked(covariance, 0, Budget(0.3)).receipt.event) == pytest.approx(0.3)
    assert 0.99e-6 <= delta(asked(correlation, 0, Budget(0.3, 1e-6)).receipt.event, 0.3) <= 1e-6


def test_columns_are_taken_in_the_order_in_which_they_are_named() -> None:
    all_of, some = (asked(covariance, 0, QUIET, columns=names) for names in (None, ("z", "x")))
    assert all_of.columns == ("x", "y", "z")
    assert some.columns == ("z", "x")
    np.testing.assert_allclose(some.values, all_of.values[np.ix_([2, 0], [2, 0])], rtol=1e-2)
    assert asked(covariance, 0, QUIET, columns="y").values[0, 0] == pytest.approx(ROWS[:, 1].var(), rel=1e-3)


MISTAKES: list[Callable[[PrivateData], Any]] = [
    lambda data: covariance(data, ("x", "w")),
    lambda data: covariance(data, ("x", "kind")),
    lambda data: covariance(data, ()),
    lambda data: covariance(data, ("x", "x")),
    lambda data: correlation(data, ("x",)),
    lambda data: correlation(data, "xy"),
    lambda data: correlation(data, radius=0.0),
    lambda data: correlation(data, radius=float("nan")),
    lambda data: correlation(data, confidence=1.5),
    lambda data: covariance(data, epsilon=-1.0),
    lambda data: covariance(data, epsilon=100.0),
]


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    data = private(ROWS[:50], 0, LOUD)
    for wrong in MISTAKES:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            wrong(data)
    covariance(data)
