"""A hidden state that moves at random and is measured with errors: what a Kalman filter assumes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_discrete_are, solve_discrete_lyapunov

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.parameters import CheckedParameters

ASKED = "Kalman model"


@dataclass(frozen=True, eq=False)
class KalmanModel(CheckedParameters):
    """A state x[t+1] = A x[t] + w[t], of which y[t] = C x[t] + v[t] is measured and L x[t] is wanted.

    Parameters
    ----------
    A : array of shape (n, n)
        Public. How the state moves.
    C : array of shape (m, n)
        Public. What is measured; each of the m measurements is one signal, which one unit feeds.
    Q : array of shape (n, n)
        Public. The covariance of w.
    R : array of shape (m, m)
        Public. The covariance of v, the errors of measurements; positive definite.
    L : array of shape (p, n), optional
        Public. What is to be estimated; by default the state.
    start : array of shape (n, n), optional
        Public. The covariance of the first state, around zero; by default what it is before a measurement, after many.

    Examples
    --------
    >>> walk = KalmanModel(A=1.0, C=1.0, Q=0.01, R=1.0)
    >>> round(walk.steady_covariance(extra=0.0).item(), 3)
    0.095
    """

    A: Array
    C: Array
    Q: Array
    R: Array
    L: Array
    start: Array | None

    def __init__(
        self,
        A: ArrayLike,
        C: ArrayLike,
        Q: ArrayLike,
        R: ArrayLike,
        L: ArrayLike | None = None,
        start: ArrayLike | None = None,
    ) -> None:
        order = len(np.array(A, ndmin=2))
        given = {"A": A, "C": C, "Q": Q, "R": R, "L": np.eye(order) if L is None else L}
        for name, value in given.items():
            object.__setattr__(self, name, _matrix(name, value))
        object.__setattr__(self, "start", None if start is None else _matrix("start", start))
        m, p = len(self.C), len(self.L)
        shapes = {"A": (order, order), "C": (m, order), "Q": (order, order), "R": (m, m), "L": (p, order)}
        for name, shape in (shapes | ({"start": (order, order)} if start is not None else {})).items():
            if getattr(self, name).shape != shape:
                raise ParameterError(ASKED, f"{name} has shape {getattr(self, name).shape}", f"Give {shape}.")
        for name, least in (("Q", -1e-9), ("R", 0.0), ("start", -1e-9)):
            each = getattr(self, name)
            if each is not None and not (np.allclose(each, each.T) and np.linalg.eigvalsh(each).min() > least):
                raise ParameterError(ASKED, f"{name} is not a covariance", "Give a symmetric, positive one.")
        self.steady_gain(0.0)

    def __repr__(self) -> str:
        names = ("A", "C", "Q", "R", "L", "start")
        parts = ((name, getattr(self, name)) for name in names)
        return f"KalmanModel({', '.join(f'{name}={v if v is None else v.tolist()}' for name, v in parts)})"

    def predicted(self, extra: float) -> Array:
        """The covariance of the state before a measurement, after many with this variance more than R."""
        try:
            found = solve_discrete_are(self.A.T, self.C.T, self.Q, self.noisy(extra))
        except np.linalg.LinAlgError as why:
            obstacle = "the measurements do not determine what moves without end"
            raise ParameterError(ASKED, obstacle, "Measure it, or let it fade.") from why
        return np.asarray(found)

    def noisy(self, extra: float) -> Array:
        """The covariance of errors of measurements with noise of this variance."""
        return np.asarray(self.R + extra * np.eye(len(self.R)))

    def gain(self, predicted: Array, extra: float) -> Array:
        """How much a measurement moves an estimate whose covariance is this."""
        across = predicted @ self.C.T
        return np.asarray(np.linalg.solve(self.C @ across + self.noisy(extra), across.T).T)

    def steady_gain(self, extra: float) -> Array:
        """The same after many measurements."""
        return self.gain(self.predicted(extra), extra)

    def steady_covariance(self, extra: float, design: float | None = None) -> Array:
        """Of the error of L x, if the filter is made for noise of variance `design`, by default of that which there is.

        With K the gain, the error is (I - K C)(A e + w) - K v, so its covariance solves a Lyapunov equation.
        """
        gain = self.steady_gain(extra if design is None else design)
        kept = np.eye(len(self.A)) - gain @ self.C
        driven = kept @ self.Q @ kept.T + gain @ self.noisy(extra) @ gain.T
        return np.asarray(self.L @ solve_discrete_lyapunov(kept @ self.A, driven) @ self.L.T)


def _matrix(name: str, given: ArrayLike) -> Array:
    found = np.array(given, np.float64, ndmin=2)
    if found.ndim != 2 or not np.isfinite(found).all():
        raise ParameterError(ASKED, f"{name} is {given!r}", "Give a matrix of numbers.")
    found.setflags(write=False)
    return found
