"""Filters of one signal: as scipy's, and only stable ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

from discreet.core.errors import ParameterError
from discreet.sequential import StateSpace, TransferFunction


def test_it_filters_as_scipy_does() -> None:
    values = np.random.default_rng(0).standard_normal((50, 3))
    for b, a in (([2.0], [1.0]), ([1.0, 2.0, 3.0], [2.0]), signal.butter(3, 0.2), ([0.0, 1.0], [1.0, -0.5])):
        system = TransferFunction(b, a)
        running = system.running(3)
        found = np.array([running.push(row[:, None])[:, 0] for row in values])
        np.testing.assert_allclose(found, signal.lfilter(b, a, values, axis=0), atol=1e-12)
        expected = signal.lfilter(b, a, np.eye(1, 20)[0])
        np.testing.assert_allclose(system.impulse(20)[0, 0], expected, atol=1e-12)


def test_a_state_space_filters_as_its_transfer_function_does() -> None:
    b, a = signal.butter(3, 0.2)
    system = StateSpace(*signal.tf2ss(b, a))
    np.testing.assert_allclose(system.impulse(37), TransferFunction(b, a).impulse(37), atol=1e-12)
    running, values = system.running(2), np.random.default_rng(0).standard_normal((30, 2))
    found = np.array([running.push(row[:, None])[:, 0] for row in values])
    np.testing.assert_allclose(found, signal.lfilter(b, a, values, axis=0), atol=1e-12)


def test_unstable_filters_are_refused() -> None:
    for a in ([1.0, -1.0], [1.0, 1.1], [1.0, -2 * np.cos(0.3), 1.0]):
        with pytest.raises(ParameterError, match=r"unstable.*Nothing was released or spent.*counters"):
            TransferFunction([1.0], a)
    with pytest.raises(ParameterError, match="unstable"):
        StateSpace([[0.5, 10.0], [0.0, 1.0]], [[1.0], [1.0]], [[1.0, 0.0]], [[0.0]])


def test_what_is_no_filter_is_refused() -> None:
    for b, a in (([], [1.0]), ([np.nan], [1.0]), ([0.0], [1.0]), ([1.0], [0.0, 1.0]), ([[1.0]], [1.0])):
        with pytest.raises(ParameterError, match="transfer function"):
            TransferFunction(b, a)
    with pytest.raises(ParameterError, match="Give \\(n, n\\)"):
        StateSpace([[0.5]], [[1.0]], [[1.0, 1.0]], [[0.0]])
    with pytest.raises(ParameterError, match="A is"):
        StateSpace([[np.inf]], [[1.0]], [[1.0]], [[0.0]])
