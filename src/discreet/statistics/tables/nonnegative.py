"""The table without negative counts that is nearest to what was released: post-processing."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.tables.domain import codes_of
from discreet.questions.tables.residuals import MarginalResiduals, centered

MOST_CELLS = 2**14
ROUNDS, PRECISION = 1000, 1e-9


def nonnegative_table(residuals: MarginalResiduals) -> Array:
    """The table of all axes, without negative cells, whose residuals are nearest to the released ones.

    Distance is measured as the noise is: squared, each residual by its variance. The exact table is itself without
    negative cells, so the nearest such table is no farther from it, in this distance, than the release was.

    Parameters
    ----------
    residuals : MarginalResiduals
        Released estimates.
    """
    shape, size = residuals.shape, math.prod(residuals.shape)
    if size > MOST_CELLS:
        obstacle = f"it has {size} cells, more than {MOST_CELLS}"
        remedy = "Ask for marginals of fewer columns."
        raise ParameterError("table without negative counts", obstacle, remedy, "The release is as it was.", size=size)
    known = {axes: part for axes, part in residuals.parts.items() if math.isfinite(residuals.variances[axes])}
    unit = min(residuals.variances[axes] for axes in known)
    places = np.indices(shape).reshape(len(shape), size).T
    within = {axes: codes_of(places[:, sorted(axes)], [shape[axis] for axis in sorted(axes)]) for axes in known}

    def distance(cells: Array) -> tuple[float, Array]:
        far, slope = 0.0, np.zeros(size)
        for axes, part in known.items():
            marginal: Array = np.bincount(within[axes], cells, part.size).astype(np.float64).reshape(part.shape)
            off = centered(marginal, range(-len(axes), 0)) - part
            weight = unit / residuals.variances[axes]
            far += 0.5 * weight * float(np.square(off).sum())
            slope += weight * off.ravel()[within[axes]]
        return far, slope

    start = np.maximum(_unconstrained(residuals), 0.0).ravel()
    options = {"maxiter": ROUNDS, "maxfun": 2 * ROUNDS, "ftol": PRECISION, "gtol": 1e-9, "maxcor": 20}
    found = minimize(distance, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * size, options=options)
    return np.maximum(found.x, 0.0).reshape(shape)


def whole_table(table: Array) -> Array:
    """A table in whole numbers: of its cells, summed up one after another, every partial sum is off by at most a half.

    Examples
    --------
    >>> whole_table(np.array([[0.4, 0.4], [0.4, 1.8]]))
    array([[0., 1.],
           [0., 2.]])
    """
    sums = np.floor(np.cumsum(table) + 0.5)
    return np.diff(sums, prepend=0.0).reshape(table.shape)


def _unconstrained(residuals: MarginalResiduals) -> Array:
    """The table whose residuals are the released ones, and zero where none was."""
    shape = residuals.shape
    table = np.zeros(shape)
    for axes, part in residuals.parts.items():
        spread = [shape[axis] if axis in axes else 1 for axis in range(len(shape))]
        table += centered(part, range(-len(axes), 0)).reshape(spread) * (part.size / table.size)
    return table
