"""A filter of several signals, as a linear system with a state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.held import Held, exclusive
from discreet.sequential.filters.linear_filter import Memory, check_stable

ASKED = "state space"


@dataclass(frozen=True, eq=False)
class StateSpace:
    """Filter several signals: s[t+1] = A s[t] + B x[t], y[t] = C s[t] + D x[t], from s[0] = 0.

    Parameters
    ----------
    A, B, C, D : array
        Public. Of shapes (order, order), (order, inputs), (outputs, order) and (outputs, inputs).

    Raises
    ------
    ParameterError
        The shapes do not fit, or an eigenvalue of A is on or outside the unit circle.

    Examples
    --------
    >>> two = StateSpace([[0.5]], [[1.0, 1.0]], [[1.0]], [[0.0, 1.0]])
    >>> two.impulse(3)
    array([[[0. , 1. , 0.5],
            [1. , 1. , 0.5]]])
    """

    A: Array
    B: Array
    C: Array
    D: Array

    def __init__(self, A: ArrayLike, B: ArrayLike, C: ArrayLike, D: ArrayLike) -> None:
        for name, given in (("A", A), ("B", B), ("C", C), ("D", D)):
            each = np.array(given, np.float64, ndmin=2)
            if each.ndim != 2 or not np.isfinite(each).all():
                raise ParameterError(ASKED, f"{name} is {given!r}", "Give a matrix of numbers.")
            each.setflags(write=False)
            object.__setattr__(self, name, each)
        order, (outputs, inputs) = len(self.A), self.D.shape
        found = (self.A.shape, self.B.shape, self.C.shape)
        if found != ((order, order), (order, inputs), (outputs, order)) or not inputs * outputs:
            obstacle = f"A, B, C and D have the shapes {', '.join(map(str, (*found, self.D.shape)))}"
            raise ParameterError(ASKED, obstacle, "Give (n, n), (n, inputs), (outputs, n) and (outputs, inputs).")
        check_stable(ASKED, float(np.abs(np.linalg.eigvals(self.A)).max(initial=0.0)))

    def __repr__(self) -> str:
        return f"StateSpace({', '.join(repr(each.tolist()) for each in (self.A, self.B, self.C, self.D))})"

    @property
    def inputs(self) -> int:
        return int(self.D.shape[1])

    @property
    def outputs(self) -> int:
        return int(self.D.shape[0])

    @property
    def order(self) -> int:
        return len(self.A)

    def impulse(self, length: int) -> Array:
        states, power = self.B[None], self.A
        while len(states) < length - 1:  # A^k B for k < 1, 2, 4, ...
            states, power = np.concatenate([states, power @ states]), power @ power
        later = np.moveaxis(self.C @ states[: length - 1], 0, 2)
        return np.asarray(np.concatenate([self.D[:, :, None], later], axis=2)[:, :, :length])

    def running(self, streams: int) -> Memory:
        return RunningStateSpace(self, streams)


class RunningStateSpace(Held):
    """A linear system at work on several streams."""

    def __init__(self, system: StateSpace, streams: int) -> None:
        self.system = system
        self._held: Array = np.zeros((streams, system.order))

    @exclusive
    def push(self, row: Array) -> Array:
        found = self._held @ self.system.C.T + row @ self.system.D.T
        self._held = self._held @ self.system.A.T + row @ self.system.B.T
        return np.asarray(found)

    @exclusive
    def state(self) -> Array:
        """The state of each stream."""
        return self._held

    @exclusive
    def restore(self, state: Array) -> None:
        self._held = np.array(state, np.float64)
