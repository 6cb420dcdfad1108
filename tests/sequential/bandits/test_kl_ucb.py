"""The index of KL-UCB."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr

from discreet.sequential.bandits.kl_ucb import upper_bound


def bisected(p: float, level: float) -> float:
    low, high = p, 1.0
    for _ in range(100):
        q = (low + high) / 2
        low, high = (q, high) if rel_entr(p, q) + rel_entr(1 - p, 1 - q) <= level else (low, q)
    return low


@given(st.floats(0, 1), st.floats(1e-6, 20))
def test_the_bound_is_the_one_that_bisection_finds_and_never_below(p: float, level: float) -> None:
    found, exact = float(upper_bound(np.array([p]), np.array([level]))[0]), bisected(p, level)
    assert exact - 1e-9 <= found <= exact + 1e-6
