"""Weights of finite filters are exact, and their gains are the largest that there are."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from discreet.core.grid import Array
from discreet.sequential.filters.finite_filter import FiniteResponse


def moved(response: Array, times: tuple[int, ...]) -> float:
    """The farthest that samples at these times, each moved by one up or down, move all outputs of one input."""
    most = 0.0
    for signs in itertools.product((1.0, -1.0), repeat=len(times)):
        signal = np.zeros(max(times) + 1)
        signal[list(times)] = signs
        most = max(most, sum(float(np.square(np.convolve(one, signal)).sum()) for one in response))
    return math.sqrt(most)


def test_no_placement_of_events_moves_farther_than_is_said() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        response = rng.standard_normal((2, 1, 5))
        found = FiniteResponse(response)
        for contributions in (1, 2, 3):
            others = itertools.combinations(range(1, 7), contributions - 1)
            most = max(moved(response[:, 0], (0, *other)) for other in others)
            assert most <= found.event_gain(contributions) * (1 + 1e-6)
            assert found.event_gain(contributions) <= contributions * found.event_gain(1) * (1 + 1e-9)


def test_what_is_said_is_reached_where_responses_fall() -> None:
    response = 0.7 ** np.arange(12.0).reshape(1, 1, -1)
    for contributions in (1, 2, 5, 30):
        exact = moved(response[:, 0], tuple(range(contributions))) if contributions < 9 else None
        total = np.convolve(np.ones(contributions), response[0, 0])
        assert exact is None or exact == pytest.approx(float(np.linalg.norm(total)))
        assert FiniteResponse(response).event_gain(contributions) == pytest.approx(float(np.linalg.norm(total)))


def test_no_frequency_is_amplified_more_than_is_said() -> None:
    rng = np.random.default_rng(1)
    for length in (1, 2, 7, 50):
        response = rng.standard_normal((2, 3, length))
        dense = np.square(np.abs(np.fft.rfft(response, 2**16))).sum(axis=0).max()
        assert math.sqrt(dense) <= FiniteResponse(response).signal_gain() <= math.sqrt(dense) * 1.002


def test_weights_are_rounded_and_the_filter_makes_no_error_on_the_largest_samples() -> None:
    response = np.random.default_rng(2).standard_normal((1, 2, 9)) * 1e5
    found = FiniteResponse(response)
    np.testing.assert_allclose(np.ldexp(found.numerators, -found.binary), response, atol=2.0**-10 * 1e5 / 2**16)
    window, rows = found.running(1), np.random.default_rng(3).integers(-(2**31), 2**31, (40, 1, 2))
    for time in range(40):
        pairs = itertools.product(range(2), range(min(time + 1, 9)))
        exact = sum(int(found.numerators[0, i, k]) * int(rows[time - k, 0, i]) for i, k in pairs)
        assert int(window.push(rows[time])[0, 0]) == exact
