"""A whole graph at once: for mechanisms that need more than a sum over its edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from discreet.core.answer import GraphAnswer
from discreet.core.errors import NotPermitted
from discreet.core.grid import Steps
from discreet.questions.question import View

ENDS = ("source", "target")


@runtime_checkable
class GraphView(Protocol):
    """A view of records that are the edges of a graph."""

    def edges(self) -> Steps:
        """All edges: two places in the public list of nodes in each row, the lesser one first."""


def edges_of(view: View) -> Steps:
    """The edges of a whole graph, if this view shows one."""
    if not isinstance(view, GraphView):
        obstacle = "conditions and transformations are about records, and these are no longer a graph"
        raise NotPermitted("a whole graph", obstacle, "Ask without a condition.", "Nothing was released.")
    return view.edges()


@dataclass(frozen=True)
class WholeGraph:
    """All edges at once, for a mechanism that needs more than a sum over them. A curator alone can ask this.

    Parameters
    ----------
    nodes : int
        Public. How many nodes there are.
    """

    nodes: int

    columns = ENDS

    def answer(self, view: View) -> GraphAnswer:
        """The graph, and what its unit is."""
        return GraphAnswer(edges_of(view), self.nodes, view.unit, view.neighbors)
