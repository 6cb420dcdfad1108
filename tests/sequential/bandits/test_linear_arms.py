"""Invented users with contexts."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.sequential.bandits.gram_sums import GramSums
from discreet.sequential.bandits.linear_arms import LinearArms, simulate_linear
from discreet.sequential.bandits.linear_ucb import LinearUCB


def test_contexts_have_length_one_and_means_from_0_to_1() -> None:
    contexts = LinearArms([0.6, 0.8], arms=4).contexts(50, np.random.default_rng(0))
    assert contexts.shape == (50, 4, 2)
    np.testing.assert_allclose(np.linalg.norm(contexts, axis=-1), 1.0)
    means = contexts @ [0.6, 0.8]
    assert means.min() >= 0
    assert means.max() <= 1 + 1e-12


def test_what_does_not_fit_is_refused() -> None:
    for theta in ([], [-0.1, 0.5], [1.0, 1.0]):
        with pytest.raises(ParameterError, match="contextual bandit: theta"):
            LinearArms(theta)
    with pytest.raises(ParameterError, match="dimension"):
        simulate_linear(LinearUCB(3, rounds=5, stddev=1.0, runs=2), LinearArms([0.5]), 5, GramSums(3, 5, runs=2))
