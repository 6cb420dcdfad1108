"""A figure of a graph with noise in proportion to its smooth sensitivity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.answer import LEAST_SCALE, GraphAnswer, NeighborPair
from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted
from discreet.core.events import Event
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.graphs.subgraphs import GraphFigure, Triangles, check_size
from discreet.mechanisms.stable.smooth_sensitivity import SmoothLaplace, SmoothSensitivity, SmoothStudent
from discreet.noise.request import LARGEST

MOST = 2.0**61
TRIANGLES = Triangles()


@dataclass(frozen=True)
class SmoothGraphCount(CheckedParameters):
    """Count subgraphs, and add noise in proportion to a smooth bound on how far one unit could move the count.

    Most graphs are such that no edge changes many triangles, though in some one edge changes them all: the noise is for
    this graph and those nearby. Its scale is as secret as the edges are, so that a release has no interval.

    Parameters
    ----------
    epsilon : float
        Public.
    delta : float
        Public. Without one, the noise is Student's, of three degrees; with one it is Laplace noise, which is less.
    figure : GraphFigure
        Public. What is counted; it says whether an edge or a node is the unit.

    Guarantee
    ---------
    `PureLoss(epsilon)`, or `ApproximateLoss(epsilon, delta)`: Nissim, Raskhodnikova and Smith 2007, with the noise of
    `SmoothStudent` or `SmoothLaplace`. A replaced edge is one that is removed and one that is added.

    Examples
    --------
    >>> SmoothGraphCount(0.5).event
    PureLoss(epsilon=0.5)
    """

    epsilon: float = 1.0
    delta: float = 0.0
    figure: GraphFigure = TRIANGLES
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        self.event  # noqa: B018  # the noise refuses what it cannot do

    @property
    def noise(self) -> SmoothSensitivity:
        return SmoothLaplace(self.epsilon, delta=self.delta) if self.delta else SmoothStudent(self.epsilon)

    @property
    def event(self) -> Event:
        return self.noise.event

    def check(self, nodes: int) -> None:
        """Refuse what could be too large to count, or need more noise than is drawn, in any graph of so many nodes."""
        check_size(self.figure, nodes, min(MOST, LARGEST * self.noise.slide / self._steps(2)))

    def release(self, answer: GraphAnswer, bits: Bits) -> Array:
        """The count with noise, a whole number; one for each copy."""
        if answer.unit.kind != self.figure.unit:
            obstacle = f"it protects one {self.figure.unit}, and the unit of the graph is a {answer.unit.kind}"
            raise NotPermitted("graph figure", obstacle, "Ask what protects that.", "Nothing was released.")
        self.check(answer.nodes)
        scale = max(self.bound(answer) / self.noise.slide, LEAST_SCALE)
        noise: Steps = self.noise.noise(bits, answer.copies, scale)
        return np.asarray(self.figure.count(answer.edges, answer.nodes) + noise, dtype=np.float64)[()]

    def bound(self, answer: GraphAnswer) -> float:
        """The smooth bound for what is between neighbors: two steps, where an edge is replaced."""
        steps = answer.neighbors.reach if self.figure.unit == "edge" else 1
        return self.figure.smooth_bound(answer.edges, answer.nodes, self.noise.beta / steps) * self._steps(steps)

    def _steps(self, steps: int) -> float:
        """How many times the bound of one step so many move the count, each after the others."""
        return math.fsum(math.exp(self.noise.beta / steps * i) for i in range(steps))

    def worst_neighbors(self) -> NeighborPair:
        """A book of triangles on one edge, with and without it."""
        pages = np.array([[end, page] for page in range(2, 40) for end in (0, 1)])
        return NeighborPair(
            *(GraphAnswer(edges, 40, Unit("edge"), Neighbors.ADD_REMOVE) for edges in (pages, _with(pages)))
        )


def _with(pages: Steps) -> Steps:
    return np.concatenate([pages, [[0, 1]]])
