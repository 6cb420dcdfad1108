"""What an M-estimate minimises: the losses of weighted points, as functions of its parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.tables.domain import Domain
from discreet.statistics.fits.layout import Layout
from discreet.statistics.fits.losses import Loss, loss_of


class Criterion(Protocol):
    """The losses of all points."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the parameters are called."""

    @property
    def start(self) -> Array:
        """Parameters to begin with."""

    @property
    def step(self) -> Array:
        """A change of each parameter that matters little."""

    @property
    def limits(self) -> tuple[float, float]:
        """Between which a single parameter is."""

    @property
    def matrix(self) -> Array:
        """What turns parameters, and then an offset, into those of the columns' own units."""

    @property
    def offset(self) -> Array:
        """The offset."""

    def of(self, theta: Array) -> Array:
        """The loss of each point."""

    def scores(self, theta: Array) -> Array:
        """How the loss of each point changes with each parameter."""

    def unseen(self, nodes: int) -> float:
        """By how much the variance of a score inside a cell is more than that of `nodes` points of it."""


@dataclass(frozen=True)
class Linear:
    """The loss of a response and a linear prediction, in units of half the bounds.

    Parameters
    ----------
    names : tuple of str
        Of the parameters.
    loss : Loss
        In these units.
    response : array of shape (points,)
        What is predicted.
    design : array of shape (points, parameters)
        What from: a column of ones, then numbers within [-1, 1] and categories but the first as 0 and 1.
    move : float
        A change of predictions that matters little.
    matrix, offset : arrays of shapes (parameters, parameters) and (parameters,)
        What turns parameters into those of the columns' own units.
    """

    names: tuple[str, ...]
    loss: Loss
    response: Array
    design: Array
    move: float
    matrix: Array
    offset: Array

    @classmethod
    def on(cls, loss: Loss, axes: Domain, layout: Layout) -> Linear:
        """The criterion of a regression of the first column on the others; of its location, if there are none."""
        response = _response(loss, axes, layout)
        middle, half = (0.0, 1.0) if loss.binary else (float(layout.middle[0]), float(layout.half[0]))
        names, columns = ["intercept" if len(axes.columns) > 1 else axes.columns[0]], [np.ones(len(response))]
        units, shifts = [1.0], [0.0]
        for i, (column, labels, edges) in enumerate(zip(axes.columns, axes.labels, axes.edges, strict=True)):
            if i and edges is not None:
                names, columns = [*names, column], [*columns, layout.points[:, i]]
                units, shifts = [*units, float(1 / layout.half[i])], [*shifts, float(layout.middle[i])]
            elif i:
                names += [f"{column}={label}" for label in labels[1:]]
                columns += [(layout.points[:, i] == place).astype(np.float64) for place in range(1, len(labels))]
                units, shifts = units + [1.0] * (len(labels) - 1), shifts + [0.0] * (len(labels) - 1)
        check_size(len(response), len(names))
        matrix = half * np.diag(units)
        matrix[0] -= half * np.array(units) * np.array(shifts)
        offset = np.r_[middle, np.zeros(len(names) - 1)]
        move = 0.1 if loss.binary else 2 / len(axes.labels[0])
        own = loss.in_units(half, float(layout.steps[0]))
        return cls(tuple(names), own, response, np.stack(columns, axis=1), move, matrix, offset)

    @property
    def start(self) -> Array:
        """The middle of the bounds."""
        return np.zeros(len(self.names))

    @property
    def limits(self) -> tuple[float, float]:
        """The bounds of a location."""
        return (-1.0, 1.0) if len(self.names) == 1 and not self.loss.binary else (-math.inf, math.inf)

    @property
    def step(self) -> Array:
        return np.full(len(self.names), self.move)

    def of(self, theta: Array) -> Array:
        return self.loss.of(self.response, self.design @ theta)

    def scores(self, theta: Array) -> Array:
        return self.loss.slope(self.response, self.design @ theta)[:, None] * self.design

    def unseen(self, nodes: int) -> float:
        """As of a straight score, or of one that jumps inside the cell: a share 1 / nodes**2 of it, or 1 / nodes."""
        return 1.0 if nodes == 1 else 1 / (1 - nodes ** -(1 if self.loss.jumps else 2))


def layout_of(loss: str | Loss | OwnLoss, axes: Domain, merged: int = 1) -> Layout:
    """The points of a table; a response of which only the halves matter is not spread inside its cells."""
    whole = not callable(loss) and loss_of(loss).binary
    return Layout.of([None if whole and not i else edges for i, edges in enumerate(axes.edges)], axes.shape, merged)


def criterion_of(loss: str | Loss | OwnLoss, axes: Domain, layout: Layout, start: ArrayLike | None) -> Criterion:
    """The criterion of a loss over the points of a table; refused where they do not suit one another."""
    if callable(loss) and not isinstance(loss, type):
        return Own.at(loss, layout, start)
    if start is not None:
        raise ParameterError("M-estimate", "a start is given for a loss that needs none", "Leave it out.")
    return Linear.on(loss_of(loss), axes, layout)


def _response(loss: Loss, axes: Domain, layout: Layout) -> Array:
    """The first column as a response; refused where it does not suit the loss."""
    values, labels = layout.points[:, 0], axes.labels[0]
    if axes.edges[0] is None and not (loss.binary and len(labels) == 2):
        obstacle = f"its response, the first column, has the categories {', '.join(labels)}"
        remedy = "Name a number first; or, for the logistic loss, a category of two values."
        raise ParameterError("M-estimate", obstacle, remedy)
    if axes.edges[0] is not None and loss.binary:
        if len(labels) % 2:
            obstacle = f"the response is cut into {len(labels)} cells, and its halves count as 0 and 1"
            raise ParameterError("M-estimate", obstacle, "Give it an even number of cells, such as 2.")
        return (values >= len(labels) / 2).astype(np.float64)
    return values


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
