"""The zero-forcing equaliser: a product that is the filter, and the least error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

from discreet.core.grid import Array
from discreet.sequential import StateSpace, TransferFunction, better_placement
from discreet.sequential.filters.linear_filter import LinearFilter, whole_response
from discreet.sequential.filters.zero_forcing import zero_forcing

FILTERS: list[LinearFilter] = [
    TransferFunction([0.1], [1.0, -0.9]),
    TransferFunction(np.ones(20) / 20),
    TransferFunction([1.0, -1.0]),
    TransferFunction(*signal.butter(4, 0.1)),
    StateSpace(np.diag([0.9, 0.5, 0.2]), np.eye(3), [[1.0, 1.0, 1.0], [1.0, -1.0, 0.0]], np.zeros((2, 3))),
]


def spectrum(response: Array) -> Array:
    return np.asarray(np.fft.rfft(response, 2**16))


def test_the_parts_multiply_to_the_filter() -> None:
    for system in FILTERS:
        response = whole_response("trial", system, None)
        for per_signal in (False, True):
            parts = zero_forcing(response, per_signal=per_signal)
            product = np.einsum("jkf,kif->jif", spectrum(parts.after), spectrum(parts.before))
            np.testing.assert_allclose(product, spectrum(response), atol=2e-4 * np.abs(spectrum(response)).max())


def test_one_signal_has_the_squared_mean_of_the_gain_as_its_error() -> None:
    """Raising spectra to a floor and finite lengths cost less than 1 %."""
    for system in FILTERS[:4]:
        sizes = np.abs(np.fft.fft(system.impulse(4096)[0, 0], 2**16))
        found = better_placement(system).mean_squared_errors
        assert found["zero_forcing"] == pytest.approx(sizes.mean() ** 2, rel=0.01)
        assert found["zero_forcing"] < found["input"] == pytest.approx(found["output"], rel=1e-6)


def test_for_whole_signals_nothing_is_better_than_the_input() -> None:
    for system in FILTERS[:4]:
        found = better_placement(system, adjacency="signal").mean_squared_errors
        assert found["input"] <= found["zero_forcing"] * (1 + 1e-6) < found["output"]
        sizes = np.abs(np.fft.fft(system.impulse(4096)[0, 0], 2**16))
        assert found["output"] == pytest.approx(sizes.max() ** 2, rel=0.005)


def test_many_people_who_feed_inputs_of_their_own_are_hidden_by_noise_that_is_added_once() -> None:
    many = StateSpace([[0.9]], np.full((1, 50), 0.1), [[1.0]], np.zeros((1, 50)))
    found = better_placement(many).mean_squared_errors
    assert found["input"] == pytest.approx(50 * found["output"], rel=1e-6)
    assert found["zero_forcing"] == pytest.approx(better_placement(FILTERS[0]).best.mean_squared_error, rel=0.01)


def test_weights_of_several_inputs_are_the_best() -> None:
    """By duality, all weights give a lower bound of the error, and the largest of these bounds is reached."""
    system = FILTERS[4]
    best = better_placement(system).mean_squared_errors["zero_forcing"]
    squares = np.square(np.abs(np.fft.fft(system.impulse(400), 4096)))
    bounds = [
        np.sqrt(np.einsum("jif,i->jf", squares, weights)).mean(axis=1).sum() ** 2
        for weights in (*np.random.default_rng(0).dirichlet(np.ones(3), 200), *np.eye(3))
    ]
    assert max(bounds) <= best * 1.001
    assert max(bounds) >= best * 0.995
