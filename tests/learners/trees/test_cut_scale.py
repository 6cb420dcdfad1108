"""Scales of random cuts: as quantiles and widths say, and inside the node that is cut."""

from __future__ import annotations

import numpy as np

from discreet.core.budget import Budget
from discreet.learners.trees.cut_scale import CutScale
from discreet.learners.trees.random_forest import RandomForestClassifier

FEW, LARGE = 20.0, 1000.0
MODEL = RandomForestClassifier(classes=[0, 1], bounds=((0.0, 0.0), (LARGE, 1.0)))
TASK = MODEL._task(np.zeros((1, 2)), np.zeros(1), Budget(1.0))


def test_half_of_all_cuts_are_where_nearly_all_records_are() -> None:
    """Of 4000 nodes, a share of a half has the deviation 0.012."""
    counts = np.zeros((2, 100))
    counts[:, :2] = 500.0
    trees = CutScale.of(TASK, counts + np.random.default_rng(0).normal(size=counts.shape)).drawn(
        np.random.RandomState(0), 8000, 1
    )
    first = trees.cuts[trees.features == 0]
    assert abs(np.mean(first < FEW) - 0.5) < 0.06
    even = CutScale.even(TASK).drawn(np.random.RandomState(0), 8000, 1)
    own = even.cuts[even.features == 0]
    assert 0.15 * LARGE < own.min() < 0.16 * LARGE
    assert 0.84 * LARGE < own.max() < 0.85 * LARGE


def test_a_cut_is_between_the_cuts_above_it() -> None:
    trees = CutScale.even(TASK).drawn(np.random.RandomState(1), 200, 4)
    for features, cuts in zip(trees.features, trees.cuts, strict=True):
        for node in range(1, 15):
            child = node
            while child:
                parent = (child - 1) // 2
                if features[parent] == features[node]:
                    assert (cuts[node] >= cuts[parent]) == (child % 2 == 0)
                child = parent


def test_counts_that_are_all_noise_are_a_scale_too() -> None:
    for noisy in (np.zeros((2, 16)), np.full((2, 16), -5.0), np.random.default_rng(0).normal(0, 100, (2, 16))):
        trees = CutScale.of(TASK, noisy).drawn(np.random.RandomState(2), 50, 3)
        assert np.isfinite(trees.cuts).all()
        assert ((trees.cuts >= 0) & (trees.cuts <= LARGE)).all()
