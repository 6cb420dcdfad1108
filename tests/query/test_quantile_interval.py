"""Intervals for quantiles: they hold the quantile as often as they say, and are no wider than cells and noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.core.grid import Array
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.query.quantile_interval import Enclosure, quantile_interval
from discreet.releases.spread import Spread

EDGES = np.linspace(0.0, 100.0, 33)


def quantile(values: Array, share: float) -> float:
    """The least value with at least that share at or below it, from the definition."""
    return min(value for value in values if np.mean(values <= value) >= share)


def test_without_noise_it_is_the_cell() -> None:
    values = np.array([3.0, 10.0, 50.0, 51.0, 90.0])
    counts = np.histogram(values, EDGES)[0].astype(float)
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        found = quantile_interval(counts, EDGES, share, Spread(Gaussian(1.0), 1e-9))
        assert found.low <= quantile(values, share) <= found.high
        assert found.high - found.low == pytest.approx(100 / 32)


def test_when_noise_drowns_the_data_it_is_everything() -> None:
    assert quantile_interval(np.zeros(32), EDGES, 0.5, Spread(Gaussian(1.0), 5.0)) == Enclosure(0.0, 100.0)


@pytest.mark.parametrize(
    ("law", "family"), [("bell", Laplace), ("two lumps", Gaussian), ("one value", Laplace), ("few", Gaussian)]
)
def test_it_holds_the_quantile_as_often_as_it_says(law: str, family: type[Laplace] | type[Gaussian]) -> None:
    rng = np.random.default_rng(7)
    values = {
        "bell": rng.normal(40, 12, 400).clip(0, 99.9),
        "two lumps": np.r_[rng.uniform(10, 12, 200), rng.uniform(70, 72, 200)],  # D is flat and near 0 at the median
        "one value": np.full(400, 33.0),
        "few": rng.uniform(0, 99, 20),
    }[law]
    exact, stddev, runs = np.histogram(values, EDGES)[0], 4.0, 400
    truth = {share: quantile(values, share) for share in (0.05, 0.5, 0.95)}
    missed = dict.fromkeys(truth, 0)
    for _ in range(runs):
        noise = rng.laplace(0, stddev / math.sqrt(2), 32) if family is Laplace else rng.normal(0, stddev, 32)
        for share, value in truth.items():
            found = quantile_interval(exact + noise, EDGES, share, Spread(family(1.0), stddev))
            missed[share] += not found.low <= value <= found.high
    # 5 % may be missed: 20 of 400; 42 or more would have probability below 1e-5, were it exactly 5 %.
    assert max(missed.values()) < 42


def test_the_error_bar_reaches_the_farther_end() -> None:
    assert Enclosure(1.0, 4.0).error(2.0) == 2.0
    assert Enclosure(1.0, 4.0).error(5.0) == 4.0
