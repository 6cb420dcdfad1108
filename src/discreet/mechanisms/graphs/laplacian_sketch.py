"""Random projections of a graph's Laplacian, from which all of its cuts can be estimated."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import coo_array

from discreet.core.answer import GraphAnswer, NeighborPair
from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted
from discreet.core.events import ApproximateLoss, DiscreteLoss
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.vectors.johnson_lindenstrauss import JohnsonLindenstrauss
from discreet.noise.gaussian import rounded_gaussian

SQUARE = 2.0  # the squared length of an edge's row, 1 at one end and -1 at the other
BLOCK = 2**21  # weights at a time
ROUNDED = 1 / 12  # the variance that rounding to whole numbers adds


@dataclass(frozen=True)
class LaplacianSketch(CheckedParameters):
    """Release sums of all edges' rows with random Gaussian weights and Gaussian noise, `projections` of them.

    An edge's row is 1 at one end, -1 at the other, and 0 elsewhere, and the sum of all outer products of rows is the
    Laplacian L. So each release is a vector of law N(0, L + w I), with the pad w, and x'Lx is estimated by the mean
    square of the products with x, less w |x|^2. For the indicator of a set it is the number of edges that leave it.

    Weights are whole numbers of small steps, and are added without rounding. Releases are rounded to whole numbers.

    Parameters
    ----------
    multiplier : float
        Public. The pad in units of 2, the squared length of a row.
    projections : int
        Public. How many vectors are released.
    neighbors : Neighbors
        Public. The relation that the price is for.

    Guarantee
    ---------
    The exact loss of `JohnsonLindenstrauss`, whose rows here are edges: an edge added or removed changes one of them.
    The mechanism is that of Blocki, Blum, Datta and Sheffet 2012, whose bound needs 80 times the pad. It needs no more
    nodes than pad, since the pad is added, and not mixed with the graph.

    Examples
    --------
    >>> LaplacianSketch(multiplier=168.0, projections=2952).pad
    336.0
    """

    multiplier: float = 1.0
    projections: int = 4
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    calibrated: ClassVar[str] = "multiplier"

    def __post_init__(self) -> None:
        self._rows  # noqa: B018  # refuses what has no meaning

    @property
    def _rows(self) -> JohnsonLindenstrauss:
        """The same for rows of any kind: it has the price, and knows how fine weights are."""
        return JohnsonLindenstrauss(self.multiplier, self.projections, 1.0, 1, self.neighbors)

    @property
    def pad(self) -> float:
        """What is added to the Laplacian in every direction."""
        return SQUARE * self.multiplier

    @property
    def event(self) -> DiscreteLoss | ApproximateLoss:
        return self._rows.event

    def release(self, answer: GraphAnswer, bits: Bits) -> Array:
        """The projections, whole numbers, one vector in each row."""
        if answer.unit.kind != "edge" or answer.neighbors is not self.neighbors:
            obstacle = f"the price is for edges and {self.neighbors.value} neighbors, the unit of the graph is a "
            obstacle += f"{answer.unit.kind} and it has {answer.neighbors.value} neighbors"
            raise NotPermitted("Laplacian sketch", obstacle, "Set neighbors to those of the graph.")
        count, fine = math.prod((*answer.copies, self.projections)), self._rows.fineness
        stddev = math.ldexp(math.sqrt(self.pad) * (1 + 2.0**-50), fine)
        total = rounded_gaussian(bits, (count, answer.nodes), stddev)
        ends = _incidence(answer)
        rows = max(1, BLOCK // max(1, len(answer.edges)))
        for start in range(0, count, rows):
            part = total[start : start + rows]
            weights = rounded_gaussian(bits, (len(part), len(answer.edges)), math.ldexp(1.0, fine))
            part += (ends @ weights.T).T
        whole = (total + (1 << (fine - 1))) >> fine
        return whole.astype(np.float64).reshape(*answer.copies, self.projections, answer.nodes)

    def quadratic(self, release: Array, directions: Array) -> Array:
        """x'(L + w I)x for each direction x, with what rounding adds: post-processing.

        Examples
        --------
        >>> LaplacianSketch(1.0).quadratic(np.array([[3.0, 0.0], [0.0, 1.0]]), np.array([1.0, 0.0]))
        np.float64(4.5)
        """
        return np.asarray(np.mean(np.square(release @ directions), axis=0))[()]

    def padding(self, directions: Array) -> Array:
        """The part of the quadratic form that is due to the padding and not to edges."""
        return (self.pad + ROUNDED) * np.square(directions).sum(axis=0)

    def worst_neighbors(self) -> NeighborPair:
        """No edge, and one."""
        none = GraphAnswer(np.empty((0, 2), dtype=np.int64), 2, Unit("edge"), self.neighbors)
        one = dataclasses.replace(none, edges=np.array([[0, 1]]))
        if self.neighbors is Neighbors.ADD_REMOVE:
            return NeighborPair(none, one)
        first, second = (np.array([[i, i + 1]]) for i in (0, 2))
        return NeighborPair(*(dataclasses.replace(none, edges=edges, nodes=4) for edges in (first, second)))


def _incidence(answer: GraphAnswer) -> Steps:
    """The sparse matrix with a column for each edge."""
    number = len(answer.edges)
    signs = np.repeat(np.array([1, -1], dtype=np.int64), number)
    places = (answer.edges.T.ravel(), np.tile(np.arange(number), 2))
    found: Steps = coo_array((signs, places), shape=(answer.nodes, number)).tocsr()
    return found
