"""A published network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.grid import Steps
from discreet.mechanisms.graphs.subgraphs import adjacency_of
from discreet.releases.columns import Columns, Series
from discreet.releases.release import Release

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True)
class PublishedNetwork(Release):
    """A network on the public nodes of a private graph. Its edges are drawn anew: none says that a true one is there.

    Parameters
    ----------
    edges : array of int64, shape (m, 2)
        The ends of each edge, by places in the list of nodes, the lesser one first.
    nodes : tuple of str
        What the nodes are called.
    groups : array of int64, shape (nodes,)
        The group of each node, where the network was made by groups; else all zero.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.graphs import graph_data, publish_network
    >>> ring = [(node, (node + 1) % 50) for node in range(50)]
    >>> network = publish_network(graph_data(ring, 50, Budget(9.0), unit="edge"), communities=2, tiers=1, epsilon=9.0)
    >>> network.adjacency.shape, network.degrees.sum() == 2 * len(network.edges)
    ((50, 50), np.True_)
    """

    edges: Steps = field(repr=False)
    nodes: tuple[str, ...] = field(repr=False)
    groups: Steps = field(repr=False)

    @property
    def adjacency(self) -> Any:
        """The symmetric sparse matrix."""
        return adjacency_of(self.edges, len(self.nodes))

    @property
    def degrees(self) -> Steps:
        """How many edges each node has."""
        return np.bincount(self.edges.ravel(), minlength=len(self.nodes)).astype(np.int64)

    def tabulated(self) -> Columns:
        """A row for each group: its nodes, its edges inside, and its edges to others."""
        count = int(self.groups.max(initial=0)) + 1
        ends = self.groups[self.edges]
        inside = np.bincount(ends[ends[:, 0] == ends[:, 1], 0], minlength=count)
        across = np.bincount(ends.ravel(), minlength=count) - 2 * inside
        sizes = np.bincount(self.groups, minlength=count)
        columns = {"nodes": sizes, "edges inside": inside, "edges to others": across}
        series = tuple(Series(name, values.astype(np.float64)) for name, values in columns.items())
        return Columns({"group": tuple(map(str, range(count)))}, series)

    def draw(self, ax: Axes) -> None:
        """The adjacency matrix, nodes in the order of their groups."""
        place = np.argsort(np.argsort(self.groups, kind="stable"))
        ends = np.concatenate([place[self.edges], place[self.edges][:, ::-1]])
        ax.plot(ends[:, 0], ends[:, 1], ",", color="0.2")
        ax.set_aspect("equal")
        ax.invert_yaxis()
        ax.set_xlabel("node, by groups")
        ax.set_ylabel("node, by groups")
