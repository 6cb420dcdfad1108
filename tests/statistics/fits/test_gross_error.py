"""Gross error sensitivity: that of closed forms, bounds that hold, and never of secret data."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.optimize import brentq
from scipy.stats import norm, trim_mean, uniform

from discreet.core.budget import Budget
from discreet.core.errors import MissingExtra, NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.schema.schema import Schema
from discreet.statistics.fits.gross_error import gross_error_sensitivity, influence_function
from discreet.statistics.fits.influence import GrossError, GrossErrors
from discreet.trust.private_data import PrivateData

BELL, BOUNDS = norm(50, 10), (0.0, 100.0)


def weighted_variance(values: Array, weights: Array) -> float:
    return float(np.average(np.square(values - np.average(values, weights=weights)), weights=weights))


def weighted_median(values: Array, weights: Array) -> float:
    """Where the line through the cumulated weights, at the middle of each, passes a half."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order]) - weights[order] / 2
    return float(np.interp(0.5 * weights.sum(), below, values[order]))


def huber(values: Array, weights: Array) -> float:
    def slope(place: float) -> float:
        return float(weights @ np.clip(values - place, -13.45, 13.45))

    return float(brentq(slope, 0.0, 100.0, xtol=1e-10))


def one(estimator: Any, sample: Any = BELL, **options: Any) -> GrossError:
    return gross_error_sensitivity(estimator, sample, **{"bounds": BOUNDS, "contamination": 0.001, **options}).rows[0]


def test_of_a_mean_it_is_the_distance_to_the_farther_bound() -> None:
    found = one(np.mean, norm(30, 5))
    assert found.sensitivity == pytest.approx(70, rel=1e-6)
    assert found.place == 100
    np.testing.assert_allclose(found.influence, found.points - 30, atol=1e-6)
    centred = one(np.average)
    assert centred.sensitivity == pytest.approx(50, rel=1e-6)


@pytest.mark.parametrize("estimator", [np.median, weighted_median])
def test_of_a_median_it_is_one_over_twice_the_density(estimator: Any) -> None:
    found = one(estimator, contamination=0.01)
    assert found.sensitivity == pytest.approx(1 / (2 * BELL.pdf(50)), rel=0.02)
    below = found.influence[found.points < 45]
    np.testing.assert_allclose(below, -found.sensitivity, rtol=0.03)


def test_of_a_huber_location_it_is_its_threshold_over_what_lies_within() -> None:
    within = 2 * norm.cdf(1.345) - 1
    found = one(huber)
    assert found.sensitivity == pytest.approx(13.45 / within, rel=0.005)
    exact = np.clip(found.points - 50, -13.45, 13.45) / within
    np.testing.assert_allclose(found.influence, exact, atol=0.02)


def test_of_a_trimmed_mean_it_is_half_of_what_is_kept_over_its_share() -> None:
    found = one(lambda values: trim_mean(values, 0.1), contamination=0.01)
    assert found.sensitivity == pytest.approx(10 * norm.ppf(0.9) / 0.8, rel=0.03)


@pytest.mark.parametrize("estimator", [np.var, weighted_variance])
def test_of_a_variance_it_is_a_squared_distance_less_the_variance(estimator: Any) -> None:
    found = one(estimator)
    assert found.sensitivity == pytest.approx(50**2 - 100, rel=0.003)
    assert found.place in BOUNDS


def test_copies_and_weights_tell_the_same() -> None:
    values, places = np.random.default_rng(0).normal(50, 10, 990), np.linspace(0, 100, 11)
    copied, weighted = (influence_function(each, values, places, 0.01) for each in (np.mean, np.average))
    np.testing.assert_allclose(copied, weighted)
    np.testing.assert_allclose(
        influence_function(np.var, values, places, 0.01), influence_function(weighted_variance, values, places, 0.01)
    )


@pytest.mark.parametrize(("estimator", "exact"), [(np.mean, 10.0), (np.median, 10 * math.sqrt(math.pi / 2))])
def test_the_sampling_error_is_the_standard_error(estimator: Any, exact: float) -> None:
    assert one(estimator, contamination=0.01, expected_size=400).sampling_error == pytest.approx(exact / 20, rel=0.02)


def test_the_sampling_error_is_what_simulation_finds() -> None:
    """600 samples tell a standard deviation to 2.9 %, so 9 % are three standard errors."""
    samples = np.random.default_rng(1).normal(50, 10, (600, 500))
    simulated = np.std([trim_mean(sample, 0.1) for sample in samples])
    found = one(lambda values: trim_mean(values, 0.1), contamination=0.01, expected_size=500)
    assert found.sampling_error == pytest.approx(simulated, rel=0.09)


def test_the_privacy_error_is_the_sensitivity_over_epsilon_and_records() -> None:
    found = one(np.mean, epsilon=0.2, expected_size=500)
    assert found.privacy_error == pytest.approx(50 / 100)
    assert found.error == pytest.approx(math.hypot(found.sampling_error, 0.5))


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0])
def test_the_least_error_is_that_of_the_hardest_number_of_changed_records(epsilon: float) -> None:
    """By trying them all; for small epsilon it is 0.139 over epsilon."""
    found = one(np.mean, epsilon=epsilon, expected_size=1000)
    hardest = max(k / (2 * (1 + math.exp(k * epsilon))) for k in range(1, round(7 / epsilon) + 2))
    assert found.least_error == pytest.approx(50 * hardest / 1000, rel=1e-9)
    if epsilon == 0.01:
        assert hardest * epsilon == pytest.approx(0.1392, abs=1e-4)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_no_mean_with_laplace_noise_has_less_than_the_least_error(epsilon: float) -> None:
    """Its expected error is the scale, 100 / (epsilon n) by replacement; and the bound is not empty."""
    found = one(np.mean, epsilon=epsilon, expected_size=1000)
    assert 0.1 * 50 / (epsilon * 1000) < found.least_error < 100 / (epsilon * 1000)


def test_estimators_are_compared_in_one_table() -> None:
    found = gross_error_sensitivity(
        {"mean": np.mean, "median": np.median}, BELL, bounds=BOUNDS, epsilon=0.1, expected_size=200
    )
    assert isinstance(found, GrossErrors)
    assert found.best is found["median"]
    lines = str(found).splitlines()
    assert lines[0] == "200 records, epsilon 0.1"
    assert [line.split()[0] for line in lines[1:]] == ["estimator", "mean", "median"]
    assert len({len(line) for line in lines[1:]}) == 1
    assert found._repr_html_().count("<tr>") == 3
    assert list(found.to_pandas().index) == ["mean", "median"]
    assert found.to_dict()["labels"] == {"estimator": ["mean", "median"]}
    with pytest.raises(KeyError, match="mode"):
        found["mode"]


def test_names_come_from_functions_and_text_is_escaped() -> None:
    assert one(np.mean).name == "mean"
    odd = gross_error_sensitivity({"<b>": np.mean}, uniform(0, 100), bounds=BOUNDS, points=5)
    assert "<b>" not in odd._repr_html_()


def test_influence_functions_are_drawn() -> None:
    found = gross_error_sensitivity({"mean": np.mean, "median": np.median}, BELL, bounds=BOUNDS, points=21)
    axes = found.plot(Figure().add_subplot())
    assert [str(line.get_label()).split(",")[0] for line in axes.get_lines()[:2]] == ["mean", "median"]
    np.testing.assert_array_equal(axes.get_lines()[0].get_ydata(), found["mean"].influence)
    assert found.plot(axes) is axes


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found, real = gross_error_sensitivity(np.mean, BELL, bounds=BOUNDS, points=5), builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtra, match=r"discreet\[plots\]"):
        found.plot()


def test_private_data_are_refused() -> None:
    data = PrivateData.of(np.ones((10, 1)), Schema.numeric(0.0, 2.0, 1), Budget(1.0))
    with pytest.raises(NotPermitted, match="public or made-up"):
        gross_error_sensitivity(np.mean, data, bounds=(0, 2))
    assert data.ledger.balance().certified == 0


MISTAKES: list[dict[str, Any]] = [
    {"bounds": (1.0, 0.0)},
    {"bounds": (0.0, math.nan)},
    {"bounds": (0.0, math.inf)},
    {"bounds": 7},
    {"epsilon": 0.0},
    {"expected_size": 0},
    {"contamination": 0.0},
    {"contamination": 0.7},
    {"points": 1},
    {"sample": np.zeros((3, 2))},
    {"sample": []},
    {"sample": [1.0, math.nan]},
    {"estimators": {}},
    {"estimators": lambda values: values},
    {"estimators": lambda values: math.nan},
]


def test_a_mistake_is_refused() -> None:
    for wrong in MISTAKES:
        asked = {"estimators": np.mean, "sample": [1.0, 2.0], "bounds": (0.0, 3.0), **wrong}
        with pytest.raises(ParameterError, match="gross error sensitivity"):
            gross_error_sensitivity(asked.pop("estimators"), asked.pop("sample"), **asked)
