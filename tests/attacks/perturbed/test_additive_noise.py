"""Noise is filtered out where columns depend on one another, and not where nothing is behind it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.attacks import BayesEstimate, SpectralFilter
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.microdata import add_correlated_noise, add_noise
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData
from tests.attacks.trial import AttackTrial

BOTH = (SpectralFilter, BayesEstimate)


def _rows(seed: int, columns: int = 20) -> Any:
    """Two causes behind all columns."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(1500, 2)) @ rng.normal(size=(2, columns)) + rng.normal(5, 0.05, (1500, columns))


def _filtered(kind: Any, behind: int) -> list[tuple[Any, Any]]:
    """Noise on the rows, or on those of others."""
    noise = np.random.default_rng(7).normal(0, 1, (1500, 20))
    return [(kind(_rows(8), 1.0), _rows(behind) + noise)]


TRIALS = {
    kind.__name__: AttackTrial(lambda kind=kind: _filtered(kind, 8), lambda kind=kind: _filtered(kind, 9))  # type: ignore[misc]
    for kind in BOTH
}


def test_most_of_the_noise_is_filtered_out() -> None:
    """Of 20 directions two are kept, so the error falls to the root of a tenth."""
    rows, rng = _rows(0), np.random.default_rng(1)
    noisy = rows + rng.normal(0, 1, rows.shape)
    for attack in BOTH:
        result = attack(rows, 1.0).run(noisy)
        assert result.beats_chance
        assert result.success > result.details["success as released"] + 0.25
        assert result.details["error in standard deviations"] < 0.4 * result.details["error as released"]
    assert SpectralFilter(rows, 1.0).run(noisy).details["directions kept"] == 2
    units = np.linspace(0.1, 9, 20)
    for attack in BOTH:
        assert attack(rows * units, units).run(noisy * units).right == attack(rows, 1.0).run(noisy).right


def test_noise_of_the_library_is_filtered_out_and_correlated_noise_is_not() -> None:
    """A column that is unchanged tells which row is whose."""
    rows = np.clip(_rows(2, 10) / 20, -1, 1)
    rows[:, 9] = np.arange(1500) / 1500
    names = [f"x{place}" for place in range(9)]
    ways: list[Any] = [(add_noise, {"stddev": 0.05}), (add_correlated_noise, {"relative_variance": 1.0})]
    for give, options in ways:
        data = PrivateData.of(rows, Schema.numeric(-1.0, 1.0, 10), Budget(1.0))
        table = give(data, names, unchanged=["x9"], waiver="made up", **options)
        own = np.rint(1500 * table["x9"]).astype(int)
        released, true = table.records[:, :9], rows[own, :9]
        law: Any = 0.05 if give is add_noise else np.cov(true.T)
        result = BayesEstimate(true, law).run(released)
        gain = result.details["error in standard deviations"] / result.details["error as released"]
        assert gain < 0.65 if give is add_noise else gain > 0.65


def test_nothing_is_found_where_nothing_is_behind_the_noise() -> None:
    rows, rng = _rows(3), np.random.default_rng(4)
    for attack in BOTH:
        result = attack(rows, 1.0).run(rng.normal(0, 1, rows.shape))
        assert not result.beats_chance
        assert not attack(rows, 1.0).run(np.zeros(rows.shape)).beats_chance
    assert SpectralFilter(rows, 1.0).run(rng.normal(0, 1, rows.shape)).details["directions kept"] <= 1


def test_the_estimate_of_two_gaussian_columns_is_the_conditional_mean() -> None:
    """With covariance S and noise N, the error has covariance S - S (S + N)^-1 S."""
    rng = np.random.default_rng(5)
    spread = np.array([[1.0, 0.8], [0.8, 1.0]])
    rows = rng.multivariate_normal([0, 0], spread, 40_000)
    result = BayesEstimate(rows, [0.5, 1.0]).run(rows + rng.normal(0, [0.5, 1.0], rows.shape))
    left = spread - spread @ np.linalg.solve(spread + np.diag([0.25, 1.0]), spread)
    wanted = np.sqrt(np.mean(np.diag(left)))
    assert result.details["error in standard deviations"] == pytest.approx(wanted, rel=0.02)


def test_what_does_not_fit_is_refused() -> None:
    rows = _rows(6, 3)
    for attack in BOTH:
        for stddev, target in (
            (0.0, rows),
            ([1.0, 2.0], rows),
            ("a", rows),
            (np.nan, rows),
            (np.ones((3, 3)), rows),
            (1.0, rows[:, :2]),
            (1.0, rows[:9]),
            (1.0, "<b>"),
        ):
            with pytest.raises(ParameterError, match="Nothing was released or spent"):
                attack(rows, stddev).run(target)
        with pytest.raises(ParameterError, match="at least 5"):
            attack(rows[:4], 1.0).run(rows[:4])
    with pytest.raises(ParameterError, match="BayesEstimate takes it"):
        SpectralFilter(rows, np.eye(3) + 0.1).run(rows)
