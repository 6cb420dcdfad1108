"""A graph that can only be asked through its ledger."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from discreet.core.errors import UNTOUCHED
from discreet.core.events import Event
from discreet.schema.schema import Category
from discreet.trust.permit import Description
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.edge_list import ENDS, refused


class PrivateGraph(PrivateData):
    """A graph whose nodes are public and whose edges are private: each is a record of two columns, source and target.

    Where the unit is an edge, everything that asks private data asks this too. Where it is a node, nothing can be asked
    but what bounds all that the edges of one node can do: `whole` is for that. `graph_data` makes graphs.

    Parameters
    ----------
    trust : TrustModel
        Who holds the edges and adds the noise.
    ledger : Ledger
        The account that is charged first.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.graphs.graph_data import graph_data
    >>> graph_data([(0, 1), (1, 2)], 3, Budget(1.0), unit="edge").nodes
    3
    """

    made_by: ClassVar[str] = "graph_data(edges, nodes, budget)"

    @cached_property
    def nodes(self) -> int:
        """The public number of nodes."""
        return len(self.names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the nodes are called, in the order of their places: public."""
        end = self.schema.columns[ENDS[0]]
        if isinstance(end, Category):
            return end.values
        return tuple(map(str, range(int(self.schema.number(ENDS[0]).upper) + 1)))

    def _check_plan(self, plan: Event | Description, purpose: str, key: str | None) -> None:
        """Check as private data do; refuse plans where the unit is a node."""
        if self.unit.kind == "node":
            refused(UNTOUCHED)
        super()._check_plan(plan, purpose, key)

    def where(self, condition: str) -> PrivateData:
        """The edges that fulfil a condition, as for private data; refused where the unit is a node."""
        if self.unit.kind == "node":
            refused(UNTOUCHED)
        return super().where(condition)

    @property
    def whole(self) -> PrivateData:
        """The same graph and account, for questions about all of it that bound what one unit, edge or node, can do."""
        return PrivateData(self._trust, self.ledger)

    def __repr__(self) -> str:
        return f"PrivateGraph({self.nodes} nodes; {self.unit.kind}; {self.neighbors.value})"
