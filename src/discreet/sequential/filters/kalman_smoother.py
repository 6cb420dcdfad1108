"""The Kalman smoother, for released measurements: it sees no sample, so it costs nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.sequential.filters.kalman_filter import RunningKalman
from discreet.sequential.filters.kalman_model import KalmanModel


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
