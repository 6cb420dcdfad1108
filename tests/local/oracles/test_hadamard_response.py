"""Hadamard response: the transform, the number of blocks."""

from __future__ import annotations

import numpy as np
from scipy.linalg import hadamard as matrix

from discreet.local.oracles.hadamard_response import HadamardResponse, hadamard
from tests.local.trial import ReportTrial

TRIAL = ReportTrial(
    [HadamardResponse(), HadamardResponse(0.5, 3), HadamardResponse(3.0, 100)],
    fingerprints={"hadamard": "74b48c57e79e21f9"},
)


def test_the_transform_is_that_of_the_matrix() -> None:
    rows = np.random.default_rng(1).integers(-9, 9, (3, 16))
    assert np.array_equal(hadamard(rows), rows @ matrix(16))


def test_blocks_grow_with_epsilon_and_lower_the_variance() -> None:
    assert [HadamardResponse(epsilon, 1000).blocks for epsilon in (0.1, 1.0, 2.0, 4.0)] == [1, 1, 4, 32]
    assert HadamardResponse(4.0, 1000).noise < 2.1 * 4 * np.exp(4) / (np.exp(4) - 1) ** 2
    assert HadamardResponse(1.0, 1000).noise < 1.28 * 4 * np.exp(1) / (np.exp(1) - 1) ** 2
