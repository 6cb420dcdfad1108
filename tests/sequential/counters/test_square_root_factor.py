"""The square root of the matrix of running sums."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.linalg import toeplitz

from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.sequential.counters.square_root_factor import BINARY, SquareRootFactor
from discreet.sequential.counters.tree_counter import TreeCounter


def test_both_factors_make_running_sums() -> None:
    factor = SquareRootFactor(300)
    zeros = np.zeros(300)
    right = toeplitz(factor.numerators / 2.0**BINARY, zeros)
    np.testing.assert_allclose(toeplitz(factor.left, zeros) @ right, np.tril(np.ones((300, 300))), atol=1e-9)
    assert (np.diff(factor.numerators) <= 0).all()
    assert factor.numerators.min() > 0


def test_no_unit_moves_farther_than_the_norm() -> None:
    """All units of up to three rows among up to nine, with signs too; the first rows attain it."""
    for horizon in (1, 2, 5, 9):
        factor = SquareRootFactor(horizon)
        right = toeplitz(factor.numerators / 2.0**BINARY, np.zeros(horizon))
        for k in range(1, min(3, horizon) + 1):
            moved = [
                np.linalg.norm(right[:, list(where)] @ signs)
                for where in itertools.combinations(range(horizon), k)
                for signs in itertools.product((-1.0, 1.0), repeat=k)
            ]
            assert max(moved) <= factor.norm(k)
            assert max(moved) == pytest.approx(factor.norm(k), rel=1e-6)


def test_noise_is_less_than_half_of_a_trees() -> None:
    """For 1,024 updates, over all of them: 3.11 against 7.42, and 22.6 where each sum has noise of its own updates."""
    assert SquareRootFactor(1024).rmse() == pytest.approx(3.11, abs=0.005)
    tree = TreeCounter(1024, Gaussian(1.0))
    assert np.sqrt(np.mean([tree.stddev(time) ** 2 for time in range(1, 1025)])) == pytest.approx(7.42, abs=0.005)
    assert np.sqrt(np.mean(np.arange(1, 1025))) == pytest.approx(22.6, abs=0.05)
