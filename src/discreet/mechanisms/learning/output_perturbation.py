"""Output perturbation: the minimiser of a penalised loss, with noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.answer import Answer, NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.events import GaussianLoss, LaplaceLoss
from discreet.core.grid import Array
from discreet.mechanisms.learning.perturbation import ROUNDING, Perturbation


@dataclass(frozen=True)
class OutputPerturbation(Perturbation):
    """Minimise the sum of a loss of margins over all vectors, and release the minimiser with noise.

    The margin of a vector v at coefficients w is w'v: a record x of class y, which is 1 or -1, has v = y x. The penalty
    L |w|^2 / 2, with L = `penalty` times the squared radius, is on every coordinate. To add or remove a vector
    moves the minimiser by at most radius / L. Vectors are shortened to the radius; one with a missing value counts for
    nothing.

    Parameters
    ----------
    multiplier : float
        Public. The noise in units of what one unit moves.
    noise : SphericalLaplace or Gaussian
        Public. Its law.
    loss : {"huber_hinge", "logistic"}
        Public. The loss of a margin.
    penalty : float
        Public. In units of the squared radius; for the sum over all vectors, and not their mean.
    radius : float
        Public. The greatest length of a vector.
    rows : int
        Public. The most vectors of one unit that the price is for.
    neighbors : Neighbors
        Public. The relation that the price is for.

    Guarantee
    ---------
    `noise.event`. Chaudhuri and Monteleoni 2008; Chaudhuri, Monteleoni and Sarwate 2011, Theorem 6 and Corollary 8, for
    a sum in place of a mean. They assume the exact minimiser: here the solver's own error, certified, is
    part of the sensitivity, as that of the grid is (`perturbation.md`).

    Examples
    --------
    >>> from discreet.core.neighbors import Neighbors
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> people = Records(np.tile([0.6, 0.8], (1000, 1)), 1, Neighbors.ADD_REMOVE)
    >>> OutputPerturbation(2.0, radius=1.0).release(people, DeterministicBits(1)).round(1)
    array([1.3, 1.6])
    """

    @property
    def event(self) -> LaplaceLoss | GaussianLoss:
        """The price of one release."""
        return self.noise.event

    def release(self, records: Records, bits: Bits) -> Array:
        """The minimiser with noise; once for each copy."""
        size = records.values.shape[1]
        moved = self.radius * ROUNDING / self.whole_penalty + 2 * self.off(size)
        found = self.problem(records).minimizers(np.zeros((1, size)), self.tolerance, self.grid(size))[0]
        answer = Answer(found, self.grid(size), Bound("l2", moved).times(self.rows), self.neighbors)
        many = answer.stacked(math.prod(records.copies))
        return self.noise.release(many, bits).reshape(*records.copies, size)

    def worst_neighbors(self) -> NeighborPair:
        """One unit's vectors, and none or their opposites."""
        return self.against(0)
