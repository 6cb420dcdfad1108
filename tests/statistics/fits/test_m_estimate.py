"""M-estimates: those of others without noise, with honest intervals, any number of them for one price."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.display.notebook import facts
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.statistics.fits.losses import Huber, Logistic, Loss, Pinball, Squared, Tukey
from discreet.statistics.fits.m_estimate import MEstimate, m_estimate, m_estimate_of
from discreet.statistics.fits.perturbed_histogram import perturbed_histogram
from discreet.statistics.tables.contingency import contingency
from discreet.trust.private_data import PrivateData
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial({"bins": 4}, {"loss": ["nobody"]}, extreme={"start": [(1e300, -1e300)]})

SCHEMA = Schema(
    {"y": Number(0, 100), "x": Number(-5, 5), "z": Number(0, 1), "kind": Category(("a", "b", "c")), "name": Text()}
)
QUIET, LOUD = Budget(1e6), Budget(1.0)
FINE = {"y": 200, "x": 100}


def line(rng: np.random.Generator, size: int) -> Array:
    x = rng.normal(0.5, 1.5, size).clip(-5, 5)
    return np.column_stack([(55 + 5 * x + 5 * rng.normal(size=size)).clip(0, 100), x])


def skew(rng: np.random.Generator, size: int) -> Array:
    return (12 + rng.exponential(10, (size, 1))).clip(0, 100)


def bell(rng: np.random.Generator, size: int) -> Array:
    return rng.normal(30, 8, (size, 1)).clip(0, 100)


ROWS = line(np.random.default_rng(0), 4000)
Y, X = ROWS.T
DESIGN = np.column_stack([np.ones(len(Y)), X])


def private(
    rows: Array, seed: int = 0, budget: Budget = LOUD, neighbors: Neighbors = Neighbors.ADD_REMOVE, **more: Any
) -> PrivateData:
    records = {**dict(zip(("y", "x", "z"), rows.T, strict=False)), **more}
    schema = Schema({name: SCHEMA.columns[name] for name in records})
    return PrivateData.of(records, schema, budget, neighbors=neighbors, bits=DeterministicBits(seed))


def quiet(columns: Any, loss: Any, **options: Any) -> MEstimate:
    fine = {name: FINE[name] for name in columns}
    return m_estimate(private(ROWS, budget=QUIET), columns, loss, epsilon=1e6, bins=fine, **options)


def exact(loss: Loss, rows: Array, start: Array | None = None) -> Array:
    """By a general optimiser, over the records themselves."""
    design, y = np.column_stack([np.ones(len(rows)), *rows[:, 1:].T]), rows[:, 0]
    if isinstance(loss, Pinball):
        if rows.shape[1] == 1:
            return np.array([np.quantile(y, loss.q)])
        loss = dataclasses.replace(loss, step=0.01)

    def height(theta: Array) -> tuple[float, Array]:
        at = design @ theta
        return float(loss.of(y, at).mean()), design.T @ loss.slope(y, at) / len(y)

    begin = np.linalg.lstsq(design, y, rcond=None)[0] if start is None else start
    return np.asarray(minimize(height, begin, jac=True, method="BFGS", options={"gtol": 1e-9}).x)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_without_noise_a_quantile_is_that_of_numpy(share: float) -> None:
    assert float(quiet(["x"], Pinball(share))) == pytest.approx(np.quantile(X, share), abs=0.01)


@pytest.mark.parametrize("loss", [Huber(3.0), Tukey(20.0), Squared()], ids=lambda loss: loss.title)
def test_without_noise_a_location_is_the_lowest_of_a_fine_grid(loss: Loss) -> None:
    places = np.linspace(40, 70, 6001)
    heights = [loss.of(Y, np.full(len(Y), place)).sum() for place in places]
    assert float(quiet(["y"], loss)) == pytest.approx(places[int(np.argmin(heights))], abs=0.02)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_without_noise_a_quantile_regression_is_that_of_sklearn(share: float) -> None:
    known = QuantileRegressor(quantile=share, alpha=0.0).fit(X[:, None], Y)
    np.testing.assert_allclose(quiet(["y", "x"], Pinball(share)).values, [known.intercept_, *known.coef_], atol=0.08)


def test_without_noise_least_squares_are_those_of_sklearn() -> None:
    known = LinearRegression().fit(X[:, None], Y)
    np.testing.assert_allclose(quiet(["y", "x"], "squared").values, [known.intercept_, *known.coef_], atol=0.01)


@pytest.mark.parametrize("loss", [Huber(4.0), Tukey(15.0)], ids=lambda loss: loss.title)
def test_without_noise_a_robust_regression_is_that_of_a_general_optimiser(loss: Loss) -> None:
    np.testing.assert_allclose(quiet(["y", "x"], loss).values, exact(loss, ROWS), atol=0.03)


def logit() -> tuple[Array, Any]:
    rng = np.random.default_rng(1)
    x = rng.normal(0.5, 1.5, 4000).clip(-5, 5)
    return x, rng.random(4000) < 1 / (1 + np.exp(-(0.3 + 0.8 * x)))


@pytest.mark.parametrize("response", [Number(0, 1), Category(("no", "yes"))])
def test_without_noise_a_logistic_regression_is_that_of_sklearn(response: Any) -> None:
    x, yes = logit()
    known = LogisticRegression(C=np.inf, tol=1e-8).fit(x[:, None], yes)
    y = yes.astype(float) if isinstance(response, Number) else np.where(yes, "yes", "no").tolist()
    schema = Schema({"yes": response, "x": Number(-5, 5)})
    data = PrivateData.of({"yes": y, "x": x}, schema, QUIET, bits=DeterministicBits(0))
    found = m_estimate(data, ["yes", "x"], Logistic(), bins={"x": 100}, epsilon=1e6)
    np.testing.assert_allclose(found.values, [*known.intercept_, *known.coef_[0]], atol=5e-3)


def test_without_noise_a_category_is_a_parameter_for_each_value_but_the_first() -> None:
    kinds = np.arange(4000) % 3
    y = (Y + 7.0 * (kinds == 1) - 9.0 * (kinds == 2)).clip(0, 100)
    data = private(np.column_stack([y, X]), budget=QUIET, kind=np.array(["a", "b", "c"])[kinds].tolist())
    found = m_estimate(data, ["y", "x", "kind"], "squared", bins=60, epsilon=1e6)
    known = np.linalg.lstsq(np.column_stack([DESIGN, kinds == 1, kinds == 2]), y, rcond=None)[0]
    assert found.names == ("intercept", "x", "kind=b", "kind=c")
    np.testing.assert_allclose(found.values, known, atol=0.05)
    assert found["kind=c"] == found.values[3]


def test_a_loss_of_ones_own_gives_what_the_named_one_gives() -> None:
    def own(theta: Array, points: Array) -> Array:
        return Huber(4.0).of(points[:, 0], theta[0] + theta[1] * points[:, 1])

    found, known = quiet(["y", "x"], own, start=[40.0, 0.0]), quiet(["y", "x"], Huber(4.0))
    assert found.names == ("theta0", "theta1")
    np.testing.assert_allclose(found.values, known.values, atol=1e-3)
    np.testing.assert_allclose(found.standard_error, known.standard_error, rtol=0.05)


def test_a_likelihood_of_ones_own_has_the_parameters_of_the_sample() -> None:
    def normal(theta: Array, points: Array) -> Array:
        return theta[1] + 0.5 * np.square((points[:, 0] - theta[0]) / np.exp(theta[1]))

    found = quiet(["y"], normal, start=[50.0, 2.0])
    assert found["theta0"] == pytest.approx(Y.mean(), abs=0.01)
    assert found["theta1"] == pytest.approx(np.log(Y.std()), abs=1e-3)


def test_usual_thresholds_are_read_off_the_release() -> None:
    spread = 1.4826 * np.median(np.abs(Y - np.median(Y)))
    title = quiet(["y"], "huber").name
    assert float(title.split()[2].rstrip(")")) == pytest.approx(1.345 * spread, rel=0.02)
    with_it = quiet(["y"], Huber(float(title.split()[2].rstrip(")"))))
    assert float(with_it) == pytest.approx(float(quiet(["y"], "huber")), abs=1e-3)


@cache
def sweep(draw: Any, loss: Any, size: int, epsilon: float, runs: int, truth: Any = None) -> list[Any]:
    """Fits of fresh samples, each with what it is to find: of these data, or the truth."""
    rng, found = np.random.default_rng(9), []
    for seed in range(runs):
        rows = draw(rng, size)
        data = private(rows, 77 + seed, Budget(epsilon))
        fit = m_estimate(data, None, loss, epsilon=epsilon, expected_size=size, population=truth is not None)
        found.append((fit, exact(loss, rows) if truth is None else np.asarray(truth)))
    return found


def share_held(found: list[Any]) -> float:
    """How often intervals held what they should, for the parameter that does worst."""
    held = [(fit.interval.low <= true) & (true <= fit.interval.high) for fit, true in found]
    return float(np.mean(held, axis=0).min())


BELL, LINE = (30.0,), (55.0, 5.0)


@pytest.mark.parametrize(
    ("draw", "loss", "epsilon", "truth"),
    [
        (bell, Pinball(), 0.1, None),
        (bell, Huber(10.0), 1.0, BELL),
        (skew, Pinball(), 1.0, None),
        (skew, Pinball(0.9), 1.0, (12 + 10 * np.log(10),)),
    ],
)
def test_an_interval_holds_a_location_as_often_as_it_says(draw: Any, loss: Any, epsilon: float, truth: Any) -> None:
    """40 runs: 33 of 40 are three and a half standard errors below 95 %."""
    assert share_held(sweep(draw, loss, 1000, epsilon, 40, truth)) >= 33 / 40


@pytest.mark.parametrize(("loss", "truth"), [(Huber(6.0), None), (Pinball(), LINE)])
def test_intervals_hold_a_line_as_often_as_they_say(loss: Any, truth: Any) -> None:
    """40 runs: 33 of 40 are three and a half standard errors below 95 %."""
    assert share_held(sweep(line, loss, 1000, 1.0, 40, truth)) >= 33 / 40


HARD: list[Any] = [
    (draw, loss, size, epsilon, truth)
    for draw, truth in ((bell, None), (bell, BELL), (skew, None), (line, None), (line, LINE))
    for loss in (Pinball(), Huber(6.0), Squared())
    for size, epsilon in ((1000, 1.0), (20_000, 0.1))
]


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "loss", "size", "epsilon", "truth"), HARD)
def test_intervals_hold_in_easy_and_hard_cases(draw: Any, loss: Any, size: int, epsilon: float, truth: Any) -> None:
    """300 runs, one of 30 cases: 273 of 300 are three standard errors below 95 %."""
    assert share_held(sweep(draw, loss, size, epsilon, 300, truth)) >= 273 / 300


@pytest.mark.parametrize("loss", [Squared(), Huber(6.0), Pinball()], ids=lambda loss: loss.title)
def test_standard_errors_are_what_simulation_finds(loss: Loss) -> None:
    """40 runs show a standard deviation to 11 %, so 34 % are three standard errors."""
    found = sweep(line, loss, 1000, 1.0, 40, LINE)
    simulated = np.std([fit.values for fit, _ in found], axis=0)
    told = np.median([fit.standard_error for fit, _ in found], axis=0)
    np.testing.assert_allclose(told / simulated, 1.0, atol=0.34)


def test_kept_negative_counts_have_no_bias_where_raised_ones_have() -> None:
    """With 128 cells at epsilon 1, raising counts to zero moves the median of 1000 records by more than it strays."""
    rng = np.random.default_rng(5)
    kept: list[float] = []
    raised: list[float] = []
    for seed in range(60):
        rows = bell(rng, 1000)
        fit = m_estimate(private(rows, seed), None, "absolute", bins=128)
        clipped = dataclasses.replace(fit.table, counts=np.maximum(fit.table.counts, 0.0))
        for errors, one in ((kept, fit), (raised, m_estimate_of(clipped, "absolute"))):
            errors.append(float(one) - np.median(rows))
    bias, others = np.mean(kept), np.mean(raised)
    assert abs(bias) < 4 * np.std(kept) / np.sqrt(60)
    assert others > 5 * np.std(raised) / np.sqrt(60)
    assert np.square(kept).mean() < np.square(raised).mean()


def test_one_release_serves_for_any_number() -> None:
    data = private(ROWS)
    table = perturbed_histogram(data, ["y", "x"], epsilon=1.0)
    fits = [
        m_estimate_of(table, "huber"),
        m_estimate_of(table, "absolute", ["x"]),
        m_estimate_of(table, "squared", "y"),
    ]
    again = m_estimate_of(fits[0].table, "tukey", ["x", "y"])
    assert data.ledger.balance().certified == pytest.approx(1.0)
    assert {fit.receipt for fit in fits} == {table.receipt}
    assert [fit.names for fit in fits] == [("intercept", "x"), ("x",), ("y",)]
    assert again.names == ("intercept", "y")
    assert float(fits[1]) == pytest.approx(np.median(X), abs=0.5)
    assert fits[2].interval.low[0] < Y.mean() < fits[2].interval.high[0]


def test_a_sum_over_a_column_has_its_noise() -> None:
    table = perturbed_histogram(private(ROWS), ["y", "x"], bins=20)
    assert table.marginal(["x"]).stddev == pytest.approx(table.stddev * 20**0.5)
    np.testing.assert_array_equal(table.marginal(["x"]).counts, table.counts.sum(axis=0))
    np.testing.assert_array_equal(table.marginal(["x"]).domain.edges[0], np.linspace(-5, 5, 21))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_noise_is_on_every_cell_and_as_wide_as_told(epsilon: float) -> None:
    """50,000 empty cells tell its standard deviation to 0.5 %."""
    data = private(np.zeros((0, 2)), 3, Budget(epsilon))
    table = perturbed_histogram(data, ["y"], bins=50_000, epsilon=epsilon)
    assert table.counts.std() == pytest.approx(table.stddev, rel=0.02)
    assert abs(table.counts.mean()) < 4 * table.stddev / 50_000**0.5


def test_the_price_is_the_budget() -> None:
    assert pure_epsilon(m_estimate(private(ROWS), ["y"], epsilon=0.3).receipt.event) == pytest.approx(0.3)
    data = private(ROWS, budget=Budget(1.0, 1e-6))
    found = m_estimate(data, ["y", "x"], "huber", epsilon=0.3, delta=1e-6)
    assert 0.9e-6 <= delta(found.receipt.event, 0.3) <= 1e-6


def test_cells_come_from_public_numbers_alone() -> None:
    many, none = (perturbed_histogram(private(rows), ["y", "x"]).counts.shape for rows in (ROWS, ROWS[:0]))
    assert many == none == (29, 29)  # 2 * 3000**(1/3)
    assert perturbed_histogram(private(ROWS), ["y"], expected_size=100_000).counts.shape == (400,)
    known = private(ROWS, neighbors=Neighbors.REPLACE)
    assert perturbed_histogram(known, ["y"]).counts.shape == (round(4 * 2000**0.4),)  # twice the noise
    assert perturbed_histogram(private(ROWS), ["y", "x"], bins={"x": 6}).counts.shape == (29, 6)


@pytest.mark.parametrize("loss", ["absolute", "huber", "tukey", "squared"])
@pytest.mark.parametrize(("columns", "population"), [(["y"], True), (["y", "x"], False)])
def test_hardly_any_record_is_answered_in_the_same_shape(loss: str, columns: Any, population: bool) -> None:
    for odd in (ROWS[:0], ROWS[:1], np.full((2, 2), np.nan)):
        answered_alike(odd, loss, columns, population)


def answered_alike(odd: Array, loss: str, columns: list[str], population: bool) -> None:
    found = m_estimate(private(odd), columns, loss, population=population)
    assert found.values.shape == found.low.shape == found.high.shape == (len(columns),)
    assert np.isfinite(found.values).all()
    assert (found.interval.low <= found.values).all()
    assert (found.values <= found.interval.high).all()
    assert str(found)
    if len(columns) == 1:
        assert found.interval.low[0] >= 0
        assert found.interval.high[0] <= 100


def test_where_noise_hides_a_line_intervals_are_without_end() -> None:
    found = m_estimate(private(ROWS[:50], budget=Budget(0.01)), ["y", "x"], "squared", epsilon=0.01)
    assert np.isinf(found.standard_error).all()
    assert "[-inf, inf]" in str(found)


def test_it_prints_for_a_reader() -> None:
    found = m_estimate(private(ROWS, budget=Budget(100.0)), ["y", "x"], "huber", epsilon=100.0, population=True)
    first, *others = str(found).splitlines()
    assert first.startswith("Huber (threshold ")
    assert first.endswith(") of y on x (95% for the population)")
    assert [text.split()[0] for text in others] == ["coefficient", "intercept", "x"]
    assert facts(found.receipt.lines()) in found._repr_html_()
    one = m_estimate(private(ROWS), ["y"], confidence=0.9)
    assert str(one).startswith("Median of y: 5")
    assert str(one).endswith("(90% for these data)")
    with pytest.raises(TypeError, match="2 coefficients"):
        float(found)
    with pytest.raises(KeyError, match="not among"):
        found["w"]


def test_an_array_with_bounds_is_enough() -> None:
    found = m_estimate(ROWS, ["y", "x"], "huber", bounds=([0, -5], [100, 5]), epsilon=10.0)
    assert found["x"] == pytest.approx(5, abs=0.3)
    assert float(m_estimate(Y, bounds=(0, 100), epsilon=10.0)) == pytest.approx(np.median(Y), abs=0.5)


def test_a_loss_that_fails_later_leaves_what_was_paid_for() -> None:
    def sulky(theta: Array, points: Array) -> Array:
        if theta[0] != 10:
            raise RuntimeError("not here")
        return np.abs(points[:, 0] - theta[0])

    with pytest.raises(ParameterError, match="released and paid for") as caught:
        m_estimate(private(ROWS), ["y"], sulky, start=10.0)
    assert float(m_estimate_of(caught.value.values["table"])) == pytest.approx(np.median(Y), abs=2)


MISTAKES: list[Callable[[PrivateData], Any]] = [
    lambda data: m_estimate(data, ["y", "w"]),
    lambda data: m_estimate(data, ["y", "y"]),
    lambda data: m_estimate(data, []),
    lambda data: m_estimate(data, ["y", "x", "z", "kind"]),
    lambda data: m_estimate(data, ["y", "name"]),
    lambda data: m_estimate(data, ["kind", "y"]),
    lambda data: m_estimate(data, ["kind"], "logistic"),
    lambda data: m_estimate(data, ["y", "x"], "logistic", bins={"y": 3}),
    lambda data: m_estimate(data, ["y"], "cubic"),
    lambda data: m_estimate(data, ["y"], Huber),  # type: ignore[arg-type]
    lambda data: m_estimate(data, ["y"], "huber", start=1.0),
    lambda data: m_estimate(data, ["y"], lambda theta, points: points[:, 0]),
    lambda data: m_estimate(data, ["y"], lambda theta, points: points[:, 0], start=[np.nan]),
    lambda data: m_estimate(data, ["y"], lambda theta, points: points, start=1.0),
    lambda data: m_estimate(data, ["y"], lambda theta, points: np.nan * points[:, 0], start=1.0),
    lambda data: m_estimate(data, ["y"], bins=0),
    lambda data: m_estimate(data, ["y"], bins="many"),  # type: ignore[call-overload]
    lambda data: m_estimate(data, ["y"], bins={"x": 3}),
    lambda data: m_estimate(data, ["y", "x", "z"], bins=500),
    lambda data: m_estimate(data, ["y"], expected_size=0),
    lambda data: m_estimate(data, ["y"], expected_size=2.5),  # type: ignore[call-overload]
    lambda data: m_estimate(data, ["y"], confidence=95),
    lambda data: m_estimate(data, ["y"], epsilon=-1.0),
    lambda data: m_estimate(data, ["y"], epsilon=100.0),
    lambda data: m_estimate(data, ["y"], bounds=(0, 1)),
    lambda data: perturbed_histogram(data, ["y"], bins=-1),
]


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    data = private(np.column_stack([ROWS[:50], ROWS[:50, 1]]), kind=["a"] * 50, name=["somebody"] * 50)
    for wrong in MISTAKES:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            wrong(data)
    assert data.ledger.balance().certified == 0


def test_any_table_of_counts_makes_m_estimates() -> None:
    rows = np.random.default_rng(0).uniform(0, 1, (2000, 4))
    table = contingency(rows, bounds=(0, 1), bins=4, epsilon=100.0)
    assert float(m_estimate_of(table, "absolute", ["x1"])) == pytest.approx(0.5, abs=0.05)
    with pytest.raises(ParameterError, match="The table is as it was"):
        m_estimate_of(table, "absolute")
