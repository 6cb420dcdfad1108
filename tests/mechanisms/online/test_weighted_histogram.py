"""WeightedHistogram histograms: each step gains what the bound says, and answers are fitted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.core.grid import Array
from discreet.mechanisms.online import weighted_histogram
from discreet.mechanisms.online.queries import Queries
from discreet.mechanisms.online.weighted_histogram import WeightedHistogram


def divergence(exact: Array, guess: Array) -> float:
    return float(np.where(exact > 0, exact * np.log(np.where(exact > 0, exact, 1) / guess), 0.0).sum())


@pytest.mark.parametrize("plain", [True, False])
def test_each_step_brings_the_exact_histogram_nearer_by_twice_the_squared_error(
    plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weighted_histogram, "SWEEPS", 1)
    rng = np.random.default_rng(0)
    for _ in range(200):
        exact, start = rng.dirichlet(np.full(12, 0.3)), rng.dirichlet(np.ones(12))
        query = (rng.random(12) < 0.5).astype(float) if plain else rng.random(12)
        guess = WeightedHistogram(np.array(1000.0), start)
        error = query @ exact - query @ start
        guess.learn(query, np.array(1000 * query @ exact))
        assert guess.shares.sum() == pytest.approx(1.0, abs=1e-12)
        assert divergence(exact, guess.shares) <= divergence(exact, start) - 2 * error**2 + 1e-12


def test_no_sequence_of_queries_finds_more_errors_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst query that there is, each time: the sign of the difference, over all cells."""
    monkeypatch.setattr(weighted_histogram, "SWEEPS", 1)
    exact, least = np.eye(64)[7], 0.05
    guess, found = WeightedHistogram(np.array(1.0), np.ones(64)), 0
    while True:
        query = (exact > guess.shares).astype(float)
        if query @ exact - query @ guess.shares < least:
            break
        guess.learn(query, np.array(query @ exact))
        guess._past.clear()
        found += 1
    assert 1 < found <= math.log(64) / (2 * least**2)


def test_all_answers_are_fitted_and_nothing_else_is_assumed() -> None:
    """Of all histograms with these answers, the one of greatest entropy: independent columns, for two marginals."""
    rows, columns = np.array([0.2, 0.8]), np.array([0.1, 0.3, 0.6])
    guess = WeightedHistogram(np.array(100.0), np.ones(6))
    cells = np.arange(6).reshape(2, 3)
    for _ in range(12):
        for place in range(2):
            guess.learn(np.isin(np.arange(6), cells[place]).astype(float), np.array(100 * rows[place]))
        for place in range(3):
            guess.learn(np.isin(np.arange(6), cells[:, place]).astype(float), np.array(100 * columns[place]))
    np.testing.assert_allclose(guess.counts.reshape(2, 3), 100 * np.outer(rows, columns), atol=1e-6)


def test_stacked_histograms_learn_by_themselves() -> None:
    both = WeightedHistogram(np.array([100.0, 200.0]), np.ones((2, 3)))
    both.learn(np.array([1, 0, 0]), np.array([90.0, 20.0]), np.array([True, False]))
    alone = WeightedHistogram(np.array(100.0), np.ones(3))
    alone.learn(np.array([1, 0, 0]), np.array(90.0))
    np.testing.assert_allclose(both.counts[0], alone.counts)
    np.testing.assert_allclose(both.counts[1], 200 / 3)
    each = WeightedHistogram(np.array([100.0, 100.0]), np.ones((2, 3)))
    each.learn(np.array([[1, 0, 0], [0, 1, 0]]), np.array([90.0, 90.0]))
    np.testing.assert_allclose(each.counts[0], each.counts[1][[1, 0, 2]])


def test_answers_beyond_nobody_and_everybody_are_taken_as_such() -> None:
    for measured, share in ((-50.0, 0.0), (500.0, 1.0)):
        guess = WeightedHistogram(np.array(-3.0), np.ones(4))
        for _ in range(10):
            guess.learn(np.array([1, 1, 0, 0]), np.array(measured))
        assert guess.total == 1.0
        assert guess.answers(Queries([1, 1, 0, 0]))[0] == pytest.approx(share, abs=0.01)
        assert np.isfinite(guess.shares).all()


def test_answers_that_contradict_each_other_do_not_move_the_total() -> None:
    """Rounding of the total grows up to 50 times whenever nearly all shares are taken from a query."""
    rng, guess = np.random.default_rng(0), WeightedHistogram(np.full(8, 10.0), np.ones((8, 4)))
    for place in rng.integers(4, size=40):
        guess.learn(np.eye(4)[place], 10.0 * rng.integers(2, size=8).astype(np.float64))
        np.testing.assert_allclose(guess.shares.sum(axis=-1), 1.0, atol=1e-12)
