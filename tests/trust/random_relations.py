"""Relations of two small tables and a public one, drawn at random, with the rows that they have."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Unit
from discreet.schema.relation.joined_rows import JoinedRows
from discreet.schema.relation.limited_rows import LimitedRows
from discreet.schema.relation.per_unit import PerUnit
from discreet.schema.relation.relation_node import RelationNode
from discreet.schema.relation.row_wise import ComputedRows, FilteredRows
from discreet.schema.relation.stored_rows import PublicRows, StoredRows
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.sources.frame import Frame
from discreet.trust.sources.related_rows import made
from discreet.trust.sources.source import Source

Table = dict[str, list[Any]]
SCHEMAS = (
    Schema({"stay": Number(0, 9), "ward": Category(("day", "icu", "er"))}),
    Schema({"dose": Number(0, 9), "ward": Category(("day", "icu", "er"))}),
)
PUBLIC = Schema({"ward": Category(("day", "icu", "er")), "beds": Number(0, 9)})
STEPS = ("filter", "derive", "per unit", "public", "unit", "unit and key", "key")


@dataclass(frozen=True)
class Drawn:
    """A relation, and its tables."""

    node: RelationNode
    tables: dict[RelationNode, Table]

    def rows(self, without: str | None = None) -> Counter[tuple[Any, ...]]:
        """How often each row comes, with all units or without one."""
        sources: dict[RelationNode, Source] = {
            node: Frame(left_out(table, without), node.schema, node.unit if isinstance(node, StoredRows) else Unit())
            for node, table in self.tables.items()
        }
        connection = made(self.node, sources)
        columns = ", ".join(f"c{i}" for i in range(len(self.node.schema.columns)))
        return Counter(connection.execute(f"SELECT {columns} FROM kept").fetchall())


def left_out(table: Table, unit: str | None) -> Table:
    """The table without the rows of a unit."""
    if "who" not in table:
        return table
    kept = [i for i, who in enumerate(table["who"]) if who != unit]
    return {name: [column[i] for i in kept] for name, column in table.items()}


def drawn(rng: np.random.Generator) -> Drawn:
    """Up to four steps over two protected tables and a public one; what is refused is left out."""
    tables: dict[RelationNode, Table] = {}
    private = [_private(rng, place, tables) for place in range(2)]
    wards = PublicRows("wards", PUBLIC)
    public = int(rng.integers(1, 6))
    tables[wards] = {
        "ward": rng.choice(["day", "icu", "er"], public).tolist(),
        "beds": rng.integers(0, 9, public).tolist(),
    }
    node = private[0]
    for step in rng.choice(STEPS, int(rng.integers(1, 5))):
        try:
            node = _after(rng, node, str(step), private, wards, tables[wards])
        except DiscreetError:
            continue
    used = set(node.walked())
    return Drawn(node, {leaf: table for leaf, table in tables.items() if leaf in used})


def _private(rng: np.random.Generator, place: int, tables: dict[RelationNode, Table]) -> RelationNode:
    unit = Unit("user", "who", int(rng.integers(1, 4)))
    size, schema = int(rng.integers(0, 14)), SCHEMAS[place]
    number = next(iter(schema.columns))
    stored = StoredRows(f"table {place}", schema, unit)
    tables[stored] = {
        "who": rng.choice(["a", "b", "c", "d"], size).tolist(),
        number: [None if one > 8 else float(one) for one in rng.integers(0, 10, size)],
        "ward": rng.choice(["day", "icu", "er", "unknown"], size).tolist(),
    }
    return LimitedRows(stored, unit.rows)


def _after(
    rng: np.random.Generator,
    node: RelationNode,
    step: str,
    private: list[RelationNode],
    wards: PublicRows,
    table: Table,
) -> RelationNode:
    numbers = [name for name, kind in node.schema.columns.items() if isinstance(kind, Number)]
    first = numbers[int(rng.integers(len(numbers)))]
    most = int(rng.integers(1, 4))
    match step:
        case "filter":
            return FilteredRows.read(node, f"{first} >= {int(rng.integers(0, 8))}")
        case "derive":
            return ComputedRows.read(node, {f"more_{len(node.schema.columns)}": f"{first} * 2 + 1"}, {})
        case "per unit":
            own = {"number": "count", "most": f"max of {first}", "all": f"sum of {first}"}
            own |= {"ward": "only of ward"} if "ward" in node.schema.columns else {}
            return PerUnit.read(node, own, {"number": (0, 50), "all": (-500, 500)})
        case "public":
            fan = max((table["ward"].count(one) for one in ("day", "icu", "er")), default=0)
            return JoinedRows(node, wards, (("ward", "ward"),), False, fan, bool(rng.integers(2)), _new(node, ["beds"]))
    right = private[int(rng.integers(2))]
    added = list(right.schema.columns)
    if step == "unit":
        return JoinedRows(node, right, (), True, None, bool(rng.integers(2)), _new(node, added))
    on, names = (("ward", "ward"),), _new(node, [name for name in added if name != "ward"])
    by_unit = step == "unit and key"
    return JoinedRows(node, right, on, by_unit, most, by_unit and bool(rng.integers(2)), names)


def _new(node: RelationNode, names: list[str]) -> tuple[str, ...]:
    return tuple(f"{name}_{len(node.schema.columns)}" for name in names)
