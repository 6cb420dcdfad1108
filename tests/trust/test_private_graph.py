"""A graph behind a permit."""

from __future__ import annotations

from discreet.core.budget import Budget
from discreet.graphs.graph_data import graph_data
from discreet.schema.schema import Category
from discreet.trust.public_table import PublicTable
from tests.trust.holding import MARK, HolderTrial

PLAIN = {"PrivateGraph": "its columns are called source and target, and hold numbers"}
GIVEN = {
    "text": "SELECT count(*) FROM edges",
    "columns": {"twice": "2 * source"},
    "condition": "x0 > 1",
    "lists": {"x0": Category(("a", "b"))},
    "other": PublicTable({"source": [1.0]}, {"source": (0, 10_000)}),
    "function": lambda row: row,
    "bounds": {"made": (0, 10_000)},
}
TRIAL = HolderTrial(lambda: graph_data([(MARK, 1.0)], 10_000, Budget(1.0), unit="edge"), GIVEN)


def test_it_says_what_a_unit_is_and_nothing_of_its_edges() -> None:
    for unit in ("edge", "node"):
        graph = graph_data([(0, 1), (1, 2)], 5, Budget(1.0), unit=unit)
        assert graph.unit.kind == unit
        assert unit in str(graph)
