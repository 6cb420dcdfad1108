"""All cuts of a graph at one price: a sketch of its Laplacian."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2

from discreet.accounting.accountant import delta as delta_of
from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.graphs.asking import of_a_graph, whole_graph
from discreet.mechanisms.graphs.laplacian_sketch import LaplacianSketch
from discreet.questions.graphs.graph_statistic import WholeGraph
from discreet.releases.columns import Columns, Series
from discreet.releases.drawing import draw_bars
from discreet.releases.estimate import Estimate
from discreet.releases.release import Release, check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.trust.private_graph import PrivateGraph

MOST_NUMBERS = 2**30  # of all vectors together

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True)
class SketchedLaplacian(Release):
    """A released sketch of a graph's Laplacian. Every cut that is computed from it is post-processing.

    Parameters
    ----------
    vectors : array of shape (projections, nodes)
        What was released.
    sketch : LaplacianSketch
        How.
    names : tuple of str
        What the nodes are called.

    Examples
    --------
    >>> from discreet.graphs import graph_data
    >>> data = graph_data([(0, 1), (1, 2)], 3, Budget(9.0, 1e-3), unit="edge")
    >>> laplacian_sketch(data, projections=10, epsilon=9.0, delta=1e-3).laplacian().shape
    (3, 3)
    """

    vectors: Array
    sketch: LaplacianSketch
    names: tuple[str, ...]

    def cut(self, nodes: Iterable[int], confidence: float = CONFIDENCE) -> Estimate:
        """How many edges leave a set of nodes, with an interval for a set that was named beforehand.

        The sum over all nodes of a release is noise alone, so the indicator of the set is centred first, which leaves
        its cut as it is. The sum of squares is then a chi-square variable times x'(L + w I)x.

        Parameters
        ----------
        nodes : iterable of int
            Places of nodes in the list of all. They cost nothing, also if they are chosen after looking at other cuts;
            but of many cuts, the one that is chosen for its value is outside its interval more often.
        confidence : float
            Of the interval, for one cut.
        """
        check_confidence("cut", confidence)
        chosen = sorted(set(map(int, nodes)))
        count = self.vectors.shape[1]
        if not chosen or len(chosen) == count or chosen[0] < 0 or chosen[-1] >= count:
            remedy = f"Give places from 0 to {count - 1}, not all of them."
            raise ParameterError("cut", f"its set has {len(chosen)} nodes", remedy, "The release is as it was.")
        inside = np.zeros(count)
        inside[chosen] = 1.0
        return self._estimate(f"cut of {len(chosen)} nodes", inside - inside.mean(), confidence)

    def _estimate(self, name: str, direction: Array, confidence: float) -> Estimate:
        """X'Lx and its interval."""
        number = len(self.vectors)
        found = float(self.sketch.quadratic(self.vectors, direction))
        padding = float(self.sketch.padding(direction))
        low, high = (number * found / chi2.isf(side, number) for side in ((1 - confidence) / 2, (1 + confidence) / 2))
        return Estimate(
            name=name,
            value=found - padding,
            standard_error=math.sqrt(2 / number) * found,
            low=max(float(low) - padding, 0.0),
            high=max(float(high) - padding, 0.0),
            confidence=confidence,
            receipt=self.receipt,
        )

    def laplacian(self) -> Array:
        """The whole matrix, without bias; it may have negative eigenvalues."""
        size = self.vectors.shape[1]
        return self.vectors.T @ self.vectors / len(self.vectors) - self.sketch.padding(np.eye(size)) * np.eye(size)

    def tabulated(self) -> Columns:
        """The degree of each node: the cut of that node alone."""
        squares = np.mean(np.square(self.vectors), axis=0)
        padding = self.sketch.padding(np.ones((1, len(squares))))
        error = math.sqrt(2 / len(self.vectors)) * squares
        return Columns({"node": self.names}, (Series("degree", squares - padding, error),))

    def draw(self, ax: Axes) -> None:
        """A bar for the degree of each node."""
        columns = self.tabulated()
        draw_bars(ax, columns, columns.series[0])


@of_a_graph
def laplacian_sketch(
    data: PrivateGraph,
    *,
    projections: int = 1000,
    pad: float | None = None,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    key: str | None = None,
) -> SketchedLaplacian:
    """Release random projections of a graph's Laplacian, which answer every cut, as many as one likes.

    The error of a cut of s of n nodes is about sqrt(2 / projections) times the cut and the pad times s (n - s) / n. For
    sets of less than about a third of the nodes that is less than the error of noise on every pair, and for a few known
    sets `cut` or `block_counts` are better still.

    Parameters
    ----------
    projections : int
        Public. How many vectors: time and memory grow with it, and the pad with its root. More of them are a little
        better, and much better where cuts are greater than what the pad adds.
    pad : float, optional
        Public. What is added to the Laplacian in every direction. By default the least that epsilon and delta pay for;
        `as_published.published_pad` is that of the paper, 80 times as much.
    epsilon, delta : float
        Public. What this may cost; delta is above zero.

    Guarantee
    ---------
    The event on the receipt, one `LaplacianSketch`: Blocki, Blum, Datta and Sheffet 2012, with the exact loss in place
    of their bound (`johnson_lindenstrauss.md`).

    Examples
    --------
    >>> from discreet.graphs import graph_data
    >>> clique = [(i, j) for i in range(100) for j in range(i)]
    >>> sketch = laplacian_sketch(graph_data(clique, 100, Budget(2.0, 1e-6), unit="edge"), epsilon=2.0, projections=400)
    >>> found = sketch.cut(range(50))
    >>> bool(abs(found.value - 50 * 50) < 6 * found.standard_error)
    True
    """
    name = "sketch of the Laplacian"
    graph = whole_graph(data, name, "edge")
    check_whole(name, "projections", projections, 1, MOST_NUMBERS // max(1, graph.nodes))
    plain = LaplacianSketch(projections=projections, neighbors=graph.neighbors)
    if pad is None:
        sketch = calibrate(plain, Budget(epsilon, delta))
    else:
        sketch = LaplacianSketch(pad / 2, projections, graph.neighbors)
        if delta_of(sketch.event, epsilon) > delta:
            remedy = "Give a greater one, or leave it out: then it is the least that will do."
            raise ParameterError(name, f"a pad of {pad} needs more than epsilon {epsilon} and delta {delta}", remedy)
    with graph.whole.permit(sketch.event, name, key=key) as permit:
        vectors = np.asarray(permit.ask(WholeGraph(graph.nodes), sketch))
    return SketchedLaplacian(
        name=name, receipt=permit.receipt, confidence=None, vectors=vectors, sketch=sketch, names=graph.names
    )
