"""Cumulative counts: what is read off a noisy tree."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.questions.tables.tree import Tree
from discreet.schema.schema import Number
from discreet.statistics.ranks.cumulative_counts import CumulativeCounts

UNIT, COARSE = Number(0, 1), Tree.even(16, 2, "l1")


def test_quantiles_of_exact_counts_are_exact_to_a_cell() -> None:
    values = np.sort(np.random.default_rng(3).gamma(4, 8, 20_000))
    counts = np.histogram(np.clip(values, -10, 110), 4096, (-10, 110))[0].astype(float)
    found = CumulativeCounts(Tree.even(16, 3, "l1"), counts, Number(-10, 110))
    assert found.number == pytest.approx(20_000)
    for q in (0.01, 0.3, 0.5, 0.99):
        assert found.quantile(q) == pytest.approx(np.quantile(values, q), abs=120 / 4096)
        place = found.place(q * 20_000)
        assert place.low <= np.quantile(values, q) <= place.high


def test_the_deviation_is_that_of_the_number_below_less_a_share_of_all() -> None:
    found = CumulativeCounts(COARSE, np.zeros(256), UNIT)
    below = (np.arange(256) < 100) - 0.3
    measured = COARSE.numbers(np.eye(256)).T
    assert found.deviation(100 / 256, 0.3) == pytest.approx(np.linalg.norm(below @ np.linalg.pinv(measured)))


def test_ranks_beyond_all_values_are_at_the_bounds() -> None:
    found = CumulativeCounts(COARSE, np.full(256, 10.0), UNIT)
    assert found.place(-5.0).high == 0.0
    assert found.place(1e9).low == 1.0


def test_a_tree_of_noise_alone_has_quantiles_too() -> None:
    leaves = COARSE.leaves_of(np.random.default_rng(4).normal(0, 100, sum(COARSE.sizes)))
    found = CumulativeCounts(COARSE, leaves, Number(3, 4))
    assert all(3 <= found.quantile(q) <= 4 for q in (0.0, 0.5, 1.0))
