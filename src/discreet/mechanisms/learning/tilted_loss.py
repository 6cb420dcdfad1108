"""The privacy loss of the minimiser of a sum that a Gaussian tilt was added to."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import gammaln, log_ndtr

from discreet.core.events import DiscreteLoss, LossTable
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors

CELLS = 1024
TAIL = 11.0  # standard deviations, beyond which lies 2e-28
ROUNDING = 1 + 2.0**-32


@lru_cache(maxsize=256)
def tilted_loss(shift: float, units: int, jacobian: float, neighbors: Neighbors) -> DiscreteLoss:
    """A table that dominates the loss, in both directions.

    Parameters
    ----------
    shift : float
        Public. What the gradients of one unit add at most, in standard deviations of the tilt.
    units : int
        Public. How many vectors come or go.
    jacobian : float
        Public. The logarithm that more vectors add to a density; fewer do not.
    neighbors : Neighbors
        Public. Under add/remove the smaller data set has no such logarithm.
    """
    step = (jacobian + shift * (TAIL + shift / 2)) / CELLS
    more = _table(step, shift, units, jacobian)
    return DiscreteLoss(step, more, more if neighbors is Neighbors.REPLACE else _table(step, shift, units, 0.0))


def _table(step: float, shift: float, units: int, jacobian: float) -> LossTable:
    """The logarithm, and the loss by the tilt where it is above 0; the mass of each cell goes to its upper end."""
    first = int(np.ceil(jacobian / step))
    tails = _tail(step * np.arange(first, CELLS + 2, dtype=np.float64) - jacobian, shift, units)
    return LossTable(first, (1 - tails[0], *(tails[:-1] - tails[1:]).tolist()), float(tails[-1]))


def _tail(at: Array, shift: float, units: int) -> Array:
    """The probability that the loss by the tilt is greater.

    Gradients of k of the vectors, at their full length, shift the tilt by k / units of `shift` at most: a loss of
    a t + a^2 / 2, with t standard normal. The loss is convex in these lengths, so no other lengths lose more. There are
    `units` choose k such shifts.
    """
    k = np.arange(1, units + 1)[:, None]
    part = shift * k / units
    choices = gammaln(units + 1) - gammaln(k + 1) - gammaln(units - k + 1)
    found = np.exp(np.minimum(choices + log_ndtr(part / 2 - at / part), 0.0)).sum(axis=0)
    return np.asarray(np.minimum(found * ROUNDING, 1.0))
