"""A Kalman filter, from the first measurement on and after many, and the smoother of all measurements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.held import Held, exclusive
from discreet.sequential.filters.kalman_model import KalmanModel
from discreet.sequential.filters.state_space import StateSpace


class SteadyKalman(StateSpace):
    """The Kalman filter after many measurements: linear, and always the same.

    It is what the error after many measurements is computed from. At work it starts from the model's first state.

    Parameters
    ----------
    model : KalmanModel
        Public. What moves.
    extra : float
        Public. The variance of noise on each measurement that it is made for.

    Examples
    --------
    >>> SteadyKalman(KalmanModel(A=1.0, C=1.0, Q=0.01, R=1.0), 0.0).A.round(3)
    array([[0.905]])
    """

    def __init__(self, model: KalmanModel, extra: float) -> None:
        gain = model.steady_gain(extra)
        moved = (np.eye(len(model.A)) - gain @ model.C) @ model.A
        super().__init__(moved, gain, model.L @ moved, model.L @ gain)
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "extra", extra)

    model: KalmanModel
    extra: float

    @property
    def identified_by(self) -> dict[str, object]:
        """What it was made from: two models may have the same matrices and start differently."""
        return {"model": self.model, "extra": self.extra}

    def __repr__(self) -> str:
        return f"SteadyKalman({self.model!r}, {self.extra!r})"

    def running(self, streams: int) -> RunningKalman:
        """The filter before the first measurement, for so many streams side by side."""
        return RunningKalman(self.model, self.extra, streams)


class RunningKalman(Held):
    """A Kalman filter at work on several streams, from the first measurement on.

    Parameters
    ----------
    model : KalmanModel
        Public. What moves.
    extra : float
        Public. The variance of the noise on each measurement.
    streams : int
        Public. How many there are.
    """

    def __init__(self, model: KalmanModel, extra: float, streams: int) -> None:
        self.model, self.extra = model, extra
        self.ahead: Array = model.predicted(extra) if model.start is None else np.array(model.start)
        self.covariance: Array = self.ahead
        self._mean: Array = np.zeros((streams, len(model.A)))  # predicted

    @exclusive
    def push(self, row: Array) -> Array:
        """Take measurements of shape (streams, m), and give out estimates of shape (streams, p)."""
        gain = self.model.gain(self.ahead, self.extra)
        kept = np.eye(len(gain)) - gain @ self.model.C
        self.covariance = kept @ self.ahead @ kept.T + gain @ self.model.noisy(self.extra) @ gain.T  # Joseph's form
        self.mean = self._mean + (row - self._mean @ self.model.C.T) @ gain.T
        self._mean = self.mean @ self.model.A.T
        self.ahead = self.model.A @ self.covariance @ self.model.A.T + self.model.Q
        return np.asarray(self.mean @ self.model.L.T)

    @exclusive
    def state(self) -> Array:
        """The predicted states, and below them their covariance."""
        return np.vstack([self._mean, self.ahead])

    @exclusive
    def restore(self, state: Array) -> None:
        self._mean, self.ahead = (np.array(each) for each in np.split(state, [len(state) - len(self.model.A)]))


@dataclass(frozen=True, eq=False)
class SmoothedSignal:
    """Estimates of what a model wants, and the standard deviations of their errors.

    Parameters
    ----------
    values : array of shape (times, p)
        The estimates.
    standard_error : array of shape (times, p)
        Of the model, its measurements and the noise together.
    """

    values: Array
    standard_error: Array


def kalman_smoother(model: KalmanModel, measurements: ArrayLike, extra: float) -> SmoothedSignal:
    """Estimate a signal at all times from noisy measurements of all times (Rauch, Tung and Striebel 1965).

    Parameters
    ----------
    model : KalmanModel
        Public. What moves.
    measurements : array of shape (times, m)
        Released. Measurements with noise: `noisy` after each update of a `KalmanStream` with noise at the input.
    extra : float
        Public. The variance of this noise: `KalmanStream.extra`.

    Returns
    -------
    SmoothedSignal

    Examples
    --------
    >>> walk = KalmanModel(A=1.0, C=1.0, Q=0.01, R=1.0)
    >>> found = kalman_smoother(walk, np.ones((100, 1)), extra=1.0)
    >>> found.values[50].round(2), found.standard_error[[0, 50, 99], 0].round(2)
    (array([0.99]), array([0.27, 0.27, 0.37]))
    """
    rows = np.asarray(measurements, np.float64)
    if rows.ndim != 2 or rows.shape[1] != len(model.C) or not len(rows):
        raise ParameterError("smoother", f"measurements of shape {rows.shape}", f"Give (times, {len(model.C)}).")
    running = RunningKalman(model, extra, 1)
    means, found, ahead = [], [], []
    for row in rows:
        running.push(row[None])
        means.append(running.mean[0])
        found.append(running.covariance)
        ahead.append(running.ahead)
    for time in range(len(rows) - 2, -1, -1):
        back = np.linalg.solve(ahead[time].T, model.A @ found[time].T).T
        means[time] = means[time] + back @ (means[time + 1] - model.A @ means[time])
        found[time] = found[time] + back @ (found[time + 1] - ahead[time]) @ back.T
    variances = np.einsum("pi,tij,pj->tp", model.L, np.array(found), model.L)
    return SmoothedSignal(np.array(means) @ model.L.T, np.sqrt(variances))
