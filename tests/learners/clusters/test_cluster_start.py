"""Where clustering starts: which cells count, and what happens where noise hides all of them."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.fitting.task import Task
from discreet.learners.clusters.cluster_start import ClusterStart, shortened
from discreet.learners.clusters.kmeans import KMeans
from discreet.noise.deterministic import DeterministicBits
from discreet.releases.joint_plan import staged, vector_noise
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData

SCHEMA = Schema.numeric(-1.0, 1.0, 3)


@pytest.mark.parametrize("price", [1e-6, 0.0], ids=["approximate", "pure"])
def test_noise_lifts_half_a_cell_above_the_level_of_full_ones(price: float) -> None:
    """Of 1728 empty cells, whatever the law of the noise: 0.5 on average, and so 20 in 40 releases, give or take 5."""
    budget = Budget(1.0, price)
    data = PrivateData.of(np.empty((0, 3)), SCHEMA, budget, bits=DeterministicBits(0))
    start = ClusterStart(Task(data, SCHEMA.features, None, budget), 5)
    shares = start.shares(1.0)
    noise = staged(data, shares, budget, vector_noise).mechanisms[1]
    cells = shares[1].question
    lifted = [np.count_nonzero(data._trust.ask(cells, noise) > start.full(cells, noise)) for _ in range(40)]
    assert 5 < sum(lifted) < 40


def test_where_noise_hides_all_cells_centers_stay_near_the_middle() -> None:
    """No worse than one center for all, with or without a delta: records all over their bounds tell nothing else."""
    X = np.random.default_rng(0).uniform(-0.5, 0.5, (100, 6))
    alone = np.square(X).sum()
    for price in (1e-6, 0.0):
        found = [KMeans(3, bounds=(-1, 1), epsilon=0.05, delta=price).fit(X).cluster_centers_ for _ in range(9)]
        inertias = [np.square(X[:, None] - each).sum(axis=2).min(axis=1).sum() for each in found]
        assert np.median(inertias) < 2 * alone


def test_noise_that_is_far_longer_than_any_vector_is_not_taken_for_one() -> None:
    """Its length varies by more than a vector has: so little is kept, however long it happens to be."""
    noisy = np.random.default_rng(0).laplace(0, 100.0, (500, 8))
    stddev = 100 * np.sqrt(2)
    assert np.square(shortened(noisy, stddev)).sum(axis=1).mean() > 1000
    assert np.square(shortened(noisy, stddev, 1.0)).sum(axis=1).max() < 0.01
    near = np.array([[3.0, 4.0]])
    np.testing.assert_array_equal(shortened(near, 0.5, 1e9), shortened(near, 0.5))
