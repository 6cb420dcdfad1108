"""Objective perturbation: the minimiser of a penalised loss that was tilted at random."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from discreet.core.answer import Answer, NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.events import Composed, Event, GaussianLoss, PureLoss
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.learning.perturbation import ROUNDING, Perturbation
from discreet.mechanisms.learning.tilted_loss import tilted_loss
from discreet.mechanisms.vectors.spherical_laplace import SphericalLaplace

AFTER = 64.0  # multipliers: the noise that hides the solver's error costs a 64th of the tilt


@dataclass(frozen=True)
class ObjectivePerturbation(Perturbation):
    """Add a random linear function to the sum of a loss of margins over all vectors, and release the minimiser.

    The margin of a vector v at coefficients w is w'v: a record x of class y, which is 1 or -1, has v = y x. The penalty
    L |w|^2 / 2, with L = `penalty` times the squared radius, is on every coordinate, the intercept's included:
    without it there is no bound. Vectors are shortened to the radius; one with a missing value counts for nothing.

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
