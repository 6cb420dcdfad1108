"""What an M-estimate minimises where the loss is the user's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.statistics.fits.layout import Layout

OwnLoss = Callable[[Array, Array], Any]
SMALL = 1e-5  # of a parameter's step: between which two values of a loss its slope is taken
MOST_SCORES = 2**24  # points times parameters


@dataclass(frozen=True)
class Own:
    """A loss of the user's, any function of parameters and points; its slopes are taken numerically.

    Parameters
    ----------
    loss : callable
        Parameters and points in, the loss of each point out.
    points : array of shape (points, columns)
        In the units of the columns.
    start : array of shape (parameters,)
        Parameters to begin with.
    """

    loss: OwnLoss
    points: Array
    start: Array

    @classmethod
    def at(cls, loss: OwnLoss, layout: Layout, start: ArrayLike | None) -> Own:
        """The criterion of a loss, tried once at its start."""
        theta = np.atleast_1d(np.asarray(np.nan if start is None else start, dtype=np.float64))
        if theta.ndim != 1 or not theta.size or not np.isfinite(theta).all():
            raise ParameterError(
                "M-estimate", f"a loss of one's own begins at {start!r}", "Pass start=, a number for each parameter."
            )
        points = layout.own_points
        check_size(len(points), theta.size)
        found = np.asarray(loss(theta, points), dtype=np.float64)
        if found.shape != (len(points),) or not np.isfinite(found).all():
            obstacle = f"at its start, the loss of {len(points)} points has the shape {found.shape}, or is not finite"
            raise ParameterError("M-estimate", obstacle, "Return one finite number for each row of the points.")
        return cls(loss, points, theta)

    @property
    def names(self) -> tuple[str, ...]:
        """Numbered."""
        return tuple(f"theta{i}" for i in range(self.start.size))

    @property
    def step(self) -> Array:
        """A hundredth of the start, or of one."""
        return 0.01 * np.maximum(np.abs(self.start), 1.0)

    @property
    def limits(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @property
    def matrix(self) -> Array:
        return np.eye(self.start.size)

    @property
    def offset(self) -> Array:
        return np.zeros(self.start.size)

    def of(self, theta: Array) -> Array:
        """The loss of each point; what is no number counts as very much."""
        found = np.asarray(self.loss(theta, self.points), dtype=np.float64)
        return np.nan_to_num(found, nan=1e100, posinf=1e100, neginf=-1e100)

    def scores(self, theta: Array) -> Array:
        """Its slope by each parameter, by central differences."""
        moves = np.diag(SMALL * self.step)
        slopes = [(self.of(theta + move) - self.of(theta - move)) / (2 * move.max()) for move in moves]
        return np.stack(slopes, axis=1)

    def unseen(self, nodes: int) -> float:
        """As of a straight score."""
        return 1.0 if nodes == 1 else 1 / (1 - nodes**-2)


def check_size(points: int, parameters: int) -> None:
    if points * parameters > MOST_SCORES:
        obstacle = f"it would have {parameters} parameters on {points} points"
        remedy = "Use fewer cells, or columns with fewer categories."
        raise ParameterError("M-estimate", obstacle, remedy, parameters=parameters)
