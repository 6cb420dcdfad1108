"""A direction along which records vary much, by the exponential mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.answer import GramAnswer, NeighborPair
from discreet.core.bits import Bits
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.selection.exponential import Exponential
from discreet.noise.bingham import bingham

UNIT = 2.0**20  # steps of a unit vector's length: what is released is on this grid
MARGIN = 2.0**-20  # of epsilon, for float64
NOTHING = "Nothing was released."
LENGTH = 2.0**-30  # what the length of a given direction, or the angle of two, may be off by


@dataclass(frozen=True)
class Bingham(CheckedParameters):
    """Release a direction v: its density on the unit sphere is in proportion to exp(epsilon v'Av / reach).

    A is the sum of z z' over the records z. One record adds (v'z)^2 to v'Av: at least 0, and at most the greatest
    squared length R^2, which is the reach where records join and leave; where one is replaced, the reach is 2 R^2.
    Further directions are drawn one by one, each among those that are orthogonal to all before, and each is paid for.

    Parameters
    ----------
    epsilon : float
        Public.
    directions : tuple of tuples of float
        Public. Released before, orthonormal: the new one is orthogonal to them.

    Guarantee
    ---------
    The event of `Exponential(epsilon)`: McSherry and Talwar 2007, Theorem 6; Cesar and Rogers 2021, Lemma 3.4. If
    records join and leave, the scores of all directions move the same way, and if one is replaced, each moves by R^2 at
    most either way; so the logarithm of the ratio of two densities is in an interval of width epsilon. For components:
    Chaudhuri, Sarwate and Sinha 2013, Section 4; Kapralov and Talwar 2013 (one by one). Drawn by rejection, not by a
    Markov chain, whose law would be known only in the limit.

    What float64 leaves open: Gaussian numbers and coins are exact on their grids, and the release is rounded to
    2**-20, so no output betrays the numbers that it was made of by its last digits. But the density is computed in
    float64, by eigenvectors of A: its relative error, about 2**-45 for each unit of the exponent, is covered by the
    2**-20 of epsilon that is kept back, and not by a proof. How long it takes depends on A through the number of
    proposals; with 256 at a time one round is enough in all but one in a million draws of up to 60 columns.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> many = GramAnswer(np.diag([400, 100, 100]), 1, 1, Neighbors.ADD_REMOVE)
    >>> np.abs(Bingham(1.0).release(many, DeterministicBits(1)) / UNIT).round(1)
    array([1., 0., 0.])
    """

    epsilon: float = 1.0
    directions: tuple[tuple[float, ...], ...] = ()
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_positive("Bingham", "epsilon", self.epsilon)
        given = np.array(self.directions, dtype=np.float64)
        if len(given) and not np.abs(given @ given.T - np.eye(len(given))).max() <= LENGTH:
            raise ParameterError("Bingham", "the directions are not orthonormal", "Normalise what was released before.")

    @property
    def event(self) -> Event:
        return Exponential(self.epsilon).event

    def steepness(self, answer: GramAnswer) -> float:
        """How fast the logarithm of the density grows with v'Av, in steps."""
        return self.epsilon * (1 - MARGIN) / (answer.neighbors.reach * answer.rows * answer.longest)

    def release(self, answer: GramAnswer, bits: Bits) -> Array:
        """A direction in whole steps of 2**-20; one for each copy. Its sign is random."""
        across = self._across(len(answer.steps))
        form = across.T @ answer.steps.astype(np.float64) @ across * self.steepness(answer)
        found = bingham(bits, math.prod(answer.copies), 0.5 * (form + form.T)) @ across.T
        return np.rint(found * UNIT).reshape(*answer.copies, -1)

    def _across(self, size: int) -> Array:
        """An orthonormal basis of what is orthogonal to the directions, in columns."""
        if not self.directions:
            return np.eye(size)
        given = np.array(self.directions).T
        if len(given) != size or len(self.directions) >= size:
            obstacle = (
                f"there are {len(self.directions)} directions of {len(given)} columns, and the records have {size}"
            )
            raise ParameterError(
                "Bingham", obstacle, "Give fewer directions, of as many columns.", "Nothing was released."
            )
        return np.linalg.qr(given, mode="complete")[0][:, len(self.directions) :]

    def worst_neighbors(self) -> NeighborPair:
        """Few directions are close to a record that joins: so the probability of all the others hardly changes."""
        many = max(1, round(3 / self.epsilon))
        first, second = (np.diag([many, new]).astype(np.int64) for new in (0, 1))
        return NeighborPair(*(GramAnswer(steps, 1, 1, Neighbors.ADD_REMOVE) for steps in (first, second)))
