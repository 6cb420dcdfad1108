"""What output and objective perturbation share: bounded vectors, a loss, a penalty, and a certified minimiser."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.answer import Answer, NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_one_of, check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Event, GaussianLoss, LaplaceLoss
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.learning.penalized_loss import LOSSES, LossName, MarginLoss, PenalizedLoss
from discreet.mechanisms.vectors.spherical_laplace import SphericalLaplace

LIGHTEST = 2.0**-40  # share of a length
FINENESS = 2.0**-18  # of the length of a gradient, up to which minimisers are found
ROUNDING = 1 + 2.0**-30  # of the length of a vector, and of what is computed from it
SPHERICAL = SphericalLaplace()


@dataclass(frozen=True)
class Perturbation(CheckedParameters, ABC):
    """A minimiser of the sum of a loss over vectors, with a penalty on every coordinate.

    A vector that is longer than the radius, of which the share s of its length would be left, counts less: its loss is
    weighted by s^2, and so pulls no harder and bends no more than that of a vector of this length would, while the
    margin is its own. One with a missing value counts for nothing. What a solver returns is `off` away from the exact
    minimiser at most, on a grid.
    """

    multiplier: float = 1.0
    noise: SphericalLaplace | Gaussian = SPHERICAL
    loss: LossName = "huber_hinge"
    penalty: float = 16.0
    radius: float = 2.0**-30
    rows: int = 1
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    calibrated: ClassVar[str] = "multiplier"

    def __post_init__(self) -> None:
        name = type(self).__name__
        object.__setattr__(self, "noise", dataclasses.replace(self.noise, multiplier=self.multiplier))
        check_one_of(name, "loss", self.loss, tuple(LOSSES))
        check_positive(name, "penalty", self.penalty, 2.0**-20)
        check_positive(name, "radius", self.radius)
        check_whole(name, "rows", self.rows)

    @property
    def units(self) -> int:
        """How many vectors come or go, at most, between neighbors."""
        return self.rows * self.neighbors.reach

    @property
    def whole_penalty(self) -> float:
        """In the units of the vectors: J bends by this at least."""
        return self.penalty * self.radius**2

    @property
    @abstractmethod
    def event(self) -> Event:
        """The price of one release."""

    @abstractmethod
    def release(self, records: Records, bits: Bits) -> Array:
        """The minimiser, perturbed; once for each copy."""

    def problem(self, records: Records) -> PenalizedLoss:
        """What is minimised."""
        self._check(records)
        vectors = Bound("l2", self.radius).clip(records.values)
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(records.values, axis=1)
        shares = np.clip(self.radius / np.fmax(lengths, self.radius), LIGHTEST, 1.0)
        return PenalizedLoss(vectors, self.radius * ROUNDING, self._loss, self.whole_penalty, shares)

    def grid(self, size: int) -> Grid:
        """Of the coordinates of minimisers: rounding to it moves them less than the solver may."""
        return Grid(math.floor(math.log2(self.tolerance / (8 * self.whole_penalty * math.sqrt(size)))))

    @property
    def tolerance(self) -> float:
        """The length of the gradient up to which minimisers are found."""
        return FINENESS * self.radius

    def off(self, size: int) -> float:
        """How far what the solver returns may be from the minimiser: by its gradient, and by the grid."""
        return (self.tolerance / self.whole_penalty + math.sqrt(size) * self.grid(size).step / 2) * ROUNDING

    def against(self, others: int) -> NeighborPair:
        """One unit's vectors, and none or their opposites, beside so many others that pull the other way."""
        one = np.array([[self.radius]])
        rest, own = np.repeat(-one, others, axis=0), np.repeat(one, self.rows, axis=0)
        instead = own[:0] if self.neighbors is Neighbors.ADD_REMOVE else -own
        pair = (np.concatenate([rest, instead]), np.concatenate([rest, own]))
        return NeighborPair(*(Records(values, int(self.rows), self.neighbors) for values in pair))

    @property
    def _loss(self) -> MarginLoss:
        return LOSSES[self.loss]

    def _check(self, records: Records) -> None:
        if records.rows > self.rows or records.neighbors is not self.neighbors:
            raise ParameterError(
                type(self).__name__,
                f"the price is for units of {self.rows} rows and {self.neighbors.value} neighbors, the records have"
                f" units of {records.rows} and {records.neighbors.value} neighbors",
                "Set rows and neighbors to those of the data set.",
                "Nothing was released.",
            )


@dataclass(frozen=True)
class OutputPerturbation(Perturbation):
    """Minimise the sum of a loss of margins over all vectors, and release the minimiser with noise.

    The margin of a vector v at coefficients w is w'v: a record x of class y, which is 1 or -1, has v = y x. The penalty
    L |w|^2 / 2, with L = `penalty` times the squared radius, is on every coordinate. To add or remove a vector
    moves the minimiser by at most radius / L. Vectors beyond the radius count less, and one with a missing value
    for nothing.

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
        return self.noise.event

    def release(self, records: Records, bits: Bits) -> Array:
        size = records.values.shape[1]
        moved = self.radius * ROUNDING / self.whole_penalty + 2 * self.off(size)
        found = self.problem(records).minimizers(np.zeros((1, size)), self.tolerance, self.grid(size))[0]
        answer = Answer(found, self.grid(size), Bound("l2", moved).times(self.rows), self.neighbors)
        many = answer.stacked(math.prod(records.copies))
        return self.noise.release(many, bits).reshape(*records.copies, size)

    def worst_neighbors(self) -> NeighborPair:
        """One unit's vectors, and none or their opposites."""
        return self.against(0)
