"""How the functions of this room turn to a graph: which unit it has, and who may be asked about all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.parameters import checked
from discreet.questions.graphs.edge_sums import node_count
from discreet.questions.graphs.graph_statistic import ENDS, GraphStatistic
from discreet.questions.question import BoundedQuestion
from discreet.releases.ask import Released, asked
from discreet.releases.estimate import Estimate
from discreet.releases.option_docs import describing
from discreet.releases.release import check_confidence
from discreet.trust.private_data import PrivateData
from discreet.trust.private_graph import PrivateGraph

Asking = TypeVar("Asking", bound=Callable[..., Any])


def of_a_graph(function: Asking) -> Asking:
    """Refuse what a function's annotations do not say, and say of its parameters what all functions of graphs say."""
    return cast(Asking, checked(describing("graph")(function)))


def edges_in(data: Any, name: str) -> PrivateData:
    """Private data whose records are edges, under any trust model."""
    if not isinstance(data, PrivateData) or not set(ENDS) <= set(data.schema.columns):
        raise ParameterError(name, f"a {type(data).__name__} is no private graph", "Open it with graph_data.")
    if data.unit.kind != "edge":
        raise NotPermitted(
            name, f"it protects one edge, and the unit here is a {data.unit.kind}", 'Open the graph with unit="edge".'
        )
    return data


def nodes_in(data: PrivateData) -> int:
    """How many nodes there are: public."""
    return node_count(data.schema)


def whole_graph(data: Any, name: str, unit: str | None = None) -> PrivateGraph:
    """A graph whose curator can be asked about all of it, and whose unit is this one, if one is needed."""
    if not isinstance(data, PrivateGraph):
        raise ParameterError(name, f"a {type(data).__name__} is no whole graph", "Open it with graph_data.")
    if unit is not None and data.unit.kind != unit:
        obstacle = f"it protects one {unit}, and the unit here is a {data.unit.kind}"
        raise NotPermitted(name, obstacle, f'Open the graph with unit="{unit}".')
    return data


def degree_bound_of(name: str, data: PrivateGraph, max_degree: int | None) -> int:
    """The bound on degrees that a node needs; refused where it is missing, or where an edge needs none."""
    if data.unit.kind == "edge" and max_degree is not None:
        remedy = 'Leave it out, or open the graph with unit="node".'
        raise ParameterError(name, "the unit is an edge, which needs no bound on degrees", remedy)
    most = data.nodes - 1
    if data.unit.kind == "node" and not (isinstance(max_degree, int) and 1 <= max_degree <= most):
        remedy = f"Give max_degree, from 1 to {most}, from what you know without the edges; or from choose_max_degree."
        raise ParameterError(name, f"the unit is a node, and max_degree is {max_degree}", remedy)
    return max_degree or most


def asked_whole(data: PrivateGraph, statistic: GraphStatistic, budget: Budget, name: str, key: str | None) -> Released:
    """Pay for a statistic of the whole graph, and release it with the least noise that the budget allows."""
    return asked(data.whole, statistic, budget, name, key)


def estimated(
    name: str,
    data: PrivateData,
    question: BoundedQuestion,
    budget: Budget,
    key: str | None,
    confidence: float,
    unit: float = 1,
) -> Estimate:
    """An estimate of one number with its interval, in these units."""
    check_confidence(name, confidence)
    source = data.whole if isinstance(data, PrivateGraph) else data
    released = asked(source, question, budget, name, key)
    return Estimate.around(
        name,
        float(released.values[0]) * unit,
        released.spread.half_width([unit], confidence),
        confidence=confidence,
        receipt=released.receipt,
        standard_error=released.spread.stddev * unit,
    )
