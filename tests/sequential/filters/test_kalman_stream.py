"""Private Kalman filters: their errors are those that are said, and states go on."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import GaussianLoss
from discreet.core.grid import Array
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential import (
    KalmanModel,
    KalmanStream,
    better_kalman_placement,
    kalman_smoother,
    resume_stream,
    save_stream,
)
from discreet.sequential.filters.filter_stream import FilterStream
from discreet.sequential.filters.kalman_filter import SteadyKalman
from discreet.sequential.filters.placement import PLACES
from tests.sequential.filters.test_filter_stream import VALUES, FilterTrial
from tests.sequential.trial import opened

MODELS = KalmanModel(A=1.0, C=1.0, Q=0.01, R=1.0), KalmanModel(A=1.0, C=1.0, Q=0.01, R=1.0, start=1.0)
TRIAL = FilterTrial(
    KalmanStream, VALUES | {"model": MODELS}, (KalmanModel(A=0.9, C=1.0, Q=0.1, R=0.1),), ("input", "output")
)


TRACK = KalmanModel(  # a place and its speed, which fades; the place is measured
    A=[[1.0, 1.0], [0.0, 0.8]], C=[[1.0, 0.0]], Q=[[0.0, 0.0], [0.0, 0.04]], R=[[0.5]], L=[[1.0, 0.0]]
)
AR = KalmanModel(A=0.9, C=[[1.0], [0.5]], Q=0.2, R=np.diag([0.5, 0.1]))
WIDE = Bound("linf", 50.0)


def lived(streams: int, times: int) -> tuple[Array, Array]:
    """States and measurements of the autoregression, from its stationary law."""
    rng = np.random.default_rng(0)
    state, states, measured = rng.standard_normal(streams) * math.sqrt(0.2 / 0.19), [], []
    for _ in range(times):
        states.append(state)
        errors = rng.standard_normal((streams, 2)) * np.sqrt([0.5, 0.1])
        measured.append(state[:, None] * [1.0, 0.5] + errors)
        state = 0.9 * state + rng.standard_normal(streams) * math.sqrt(0.2)
    return np.array(states), np.array(measured)


def test_errors_are_those_that_are_said() -> None:
    """1,000 streams: squared errors are known to 4.5 %, their means over ten times to 3 %, and 15 % are allowed."""
    states, measured = lived(1000, 60)
    report = better_kalman_placement(AR, Gaussian(0.04), WIDE)
    found = {}
    for place in PLACES:
        stream = opened(KalmanStream(AR, Gaussian(0.04), WIDE, placement=place, streams=1000), DeterministicBits(0))
        assert stream.description.event == GaussianLoss(0.04)
        errors = np.array([stream.update(row) for row in measured]) - states
        found[place] = float(np.square(errors[-10:]).mean())
        assert found[place] == pytest.approx(report.mean_squared_errors[place], rel=0.15)
        assert stream.description.stddev() ** 2 == pytest.approx(report.mean_squared_errors[place], rel=1e-6)
    assert report.best.place == KalmanStream(AR, Gaussian(0.04), WIDE).placed.place


def test_a_filter_that_does_not_know_of_the_noise_is_worse() -> None:
    told, untold = AR.steady_covariance(4.0), AR.steady_covariance(4.0, design=0.0)
    assert told.item() < 0.8 * untold.item()
    assert AR.steady_covariance(0.0).item() < told.item()


def test_noise_at_the_input_leaves_the_estimate_of_a_textbook() -> None:
    """The posterior of the last state, by the joint normal law of all states and noisy measurements."""
    times, start = 6, np.diag([4.0, 1.0])
    model = KalmanModel(TRACK.A, TRACK.C, TRACK.Q, TRACK.R, TRACK.L, start)
    stream = opened(KalmanStream(model, Gaussian(1.0), Bound("linf", 3.0), placement="input"), DeterministicBits(0))
    noisy, found = [], []
    for value in np.linspace(0, 3, times):
        found.append(float(stream.update(value)))
        noisy.append(stream.noisy[0])
    covariance = np.zeros((times, 2, times, 2))
    spread = start
    for t in range(times):
        across = spread
        for s in range(t, times):
            covariance[s, :, t], covariance[t, :, s] = across, across.T
            across = TRACK.A @ across
        spread = TRACK.A @ spread @ TRACK.A.T + TRACK.Q
    places = covariance[:, 0, :, 0]
    back = kalman_smoother(model, np.array(noisy), stream.description.extra)
    total = places + (0.5 + stream.description.extra) * np.eye(times)
    np.testing.assert_allclose(back.values[:, 0], places @ np.linalg.solve(total, np.array(noisy)[:, 0]), rtol=1e-8)
    left = places - places @ np.linalg.solve(total, places)
    np.testing.assert_allclose(back.standard_error[:, 0] ** 2, np.diag(left), rtol=1e-8)
    assert found[-1] == pytest.approx(back.values[-1, 0])
    assert stream.description.stddev(times) == pytest.approx(back.standard_error[-1, 0])
    assert stream.description.extra == pytest.approx(9.0, rel=1e-6)


def test_a_resumed_filter_releases_what_the_first_would_have(tmp_path: Path) -> None:
    values = np.random.default_rng(0).random((30, 3, 2))
    described, bits = KalmanStream(AR, Gaussian(0.1), placement="input", streams=3), DeterministicBits(1)
    whole, first = opened(described, DeterministicBits(1)), described.open(Budget(500.0, 0.01), bits=bits)
    found = [first.update(value) for value in values[:20]]
    save_stream(first, tmp_path / "state")
    second = resume_stream(described, tmp_path / "state", bits=bits)
    found += [second.update(value) for value in values[20:]]
    np.testing.assert_array_equal(found, [whole.update(value) for value in values])


def test_what_is_no_model_is_refused() -> None:
    for more in ({"R": 0.0}, {"Q": -1.0}, {"C": np.nan}, {"L": [[1.0, 1.0]]}, {"start": -1.0}, {"A": [[1.0, 0.0]]}):
        with pytest.raises(ParameterError, match="Kalman model"):
            KalmanModel(**{"A": 1.0, "C": 1.0, "Q": 1.0, "R": 1.0, **more})  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="without end"):
        KalmanModel(A=1.1, C=0.0, Q=1.0, R=1.0)
    with pytest.raises(ParameterError, match="measurements of shape"):
        kalman_smoother(AR, np.zeros((5, 1)), 1.0)


def test_filters_of_other_models_have_other_identities() -> None:
    """Their matrices may be the same, where they only start differently."""
    models = [KalmanModel(A=1.0, C=1.0, Q=0.01, R=1.0, start=start) for start in (None, 1.0)]
    made = [(models[0], 0.0), (models[1], 0.0), (models[0], 1.0)]
    assert len({FilterStream(SteadyKalman(*each), Gaussian(1.0)).identity for each in made}) == 3
