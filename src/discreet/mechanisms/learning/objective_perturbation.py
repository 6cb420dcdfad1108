"""Objective perturbation: the minimiser of a penalised loss that was tilted at random."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import gammaln, log_ndtr

from discreet.core.answer import Answer, NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.events import Composed, DiscreteLoss, Event, GaussianLoss, LossTable, PureLoss
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.learning.perturbation import ROUNDING, Perturbation
from discreet.mechanisms.vectors.spherical_laplace import SphericalLaplace

CELLS = 1024
TAIL = 11.0  # standard deviations, beyond which lies 2e-28
LOSS_ROUNDING = 1 + 2.0**-32
AFTER = 64.0  # multipliers: the noise that hides the solver's error costs a 64th of the tilt


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
    return np.asarray(np.minimum(found * LOSS_ROUNDING, 1.0))


@dataclass(frozen=True)
class ObjectivePerturbation(Perturbation):
    """Add a random linear function to the sum of a loss of margins over all vectors, and release the minimiser.

    The margin of a vector v at coefficients w is w'v: a record x of class y, which is 1 or -1, has v = y x. The penalty
    L |w|^2 / 2, with L = `penalty` times the squared radius, is on every coordinate, the intercept's included:
    without it there is no bound. Longer vectors than the radius count less; one with a missing value counts for
    nothing.

    Parameters
    ----------
    multiplier : float
        Public. The tilt in units of what one unit's gradients add.
    noise : SphericalLaplace or Gaussian
        Public. The law of the tilt: of a length of the Gamma law, for pure privacy, or Gaussian.
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
    For exact minimisers epsilon = 1 / multiplier + rows ln(1 + c / penalty) with a Gamma tilt, where c is the greatest
    second derivative of the loss; with a Gaussian tilt a tabulated loss, that of Gaussian noise with this multiplier
    and the same logarithm. A second release, of what the solver found, hides how far that is from the minimiser.
    Chaudhuri, Monteleoni and Sarwate 2011, Theorem 9; Kifer, Smith and Thakurta 2012; approximate minima perturbation
    of Iyengar et al. 2019; with the proof, and why one logarithm suffices: `perturbation.md`.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> people = Records(np.tile([0.6, 0.8], (1000, 1)), 1, Neighbors.ADD_REMOVE)
    >>> ObjectivePerturbation(2.0, radius=1.0).release(people, DeterministicBits(1)).round(1)
    array([1.1, 1.6])
    """

    @property
    def jacobian(self) -> float:
        """The most that the density of the minimiser changes by how much J bends: a logarithm."""
        return self.rows * math.log1p(self._loss.bend / self.penalty * ROUNDING)

    @property
    def event(self) -> Event:
        """The price of one release: of the exact minimiser, and then of what was found."""
        first: Event = PureLoss((1 / self.multiplier + self.jacobian) * ROUNDING)
        if isinstance(self.noise.event, GaussianLoss):
            first = tilted_loss(1 / self.multiplier, self.units, self.jacobian, self.neighbors)
        return Composed((first, self._after.event))

    @property
    def tolerance(self) -> float:
        """The length of the gradient up to which minimisers are found: less than any tilt."""
        return super().tolerance * max(self.multiplier * self.units, 1.0)

    def release(self, records: Records, bits: Bits) -> Array:
        """The minimiser; once for each copy, each with a tilt of its own."""
        size = records.values.shape[1]
        fine = Grid(math.floor(math.log2(self.tolerance / (4 * math.sqrt(size)))))
        scale = self.multiplier * self.units * self.radius * ROUNDING / fine.step
        tilts = fine.values(self.noise.noise(bits, (math.prod(records.copies), size), scale))
        lost = math.sqrt(size) * fine.step / 2  # tilts are rounded, which the certificate makes up for
        found = self.problem(records).minimizers(tilts, self.tolerance - lost, self.grid(size))
        answer = Answer(found, self.grid(size), Bound("l2", self.off(size)), Neighbors.REPLACE)
        return self._after.release(answer, bits).reshape(*records.copies, size)

    def worst_neighbors(self) -> NeighborPair:
        """One unit's vectors on the wrong side, where their gradients are longest, and none or their opposites."""
        return self.against(math.ceil(2 * self.penalty))

    @property
    def _after(self) -> SphericalLaplace | Gaussian:
        """The noise on what was found. Given the exact minimiser, two data sets may differ there by 2 `off`."""
        return dataclasses.replace(self.noise, multiplier=AFTER * self.multiplier)
