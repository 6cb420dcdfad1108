"""Relations of two small tables and a public one, drawn at random, with the rows that they have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.errors import DiscreetError
from discreet.core.neighbors import RECORD, Unit
from discreet.schema.relation.joined_rows import JoinedRows
from discreet.schema.relation.limited_rows import LimitedRows
from discreet.schema.relation.per_unit import PerUnit
from discreet.schema.relation.relation_node import RelationNode
from discreet.schema.relation.row_wise import ComputedRows, FilteredRows
from discreet.schema.relation.stored_rows import PublicRows, StoredRows
from discreet.schema.relation.weighted_join import WeightedJoin
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.sources.frame import Frame
from discreet.trust.sources.related_rows import made
from discreet.trust.sources.source import Source

Table = dict[str, list[Any]]
Tables = dict[RelationNode, Table]
Rows = Counter[tuple[Any, ...]]
SCHEMAS = (
    Schema({"stay": Number(0, 9), "ward": Category(("day", "icu", "er"))}),
    Schema({"dose": Number(0, 9), "ward": Category(("day", "icu", "er"))}),
)
PUBLIC = Schema({"ward": Category(("day", "icu", "er")), "beds": Number(0, 9)})
BY_ROW = ("filter", "derive", "per unit", "groups", "public")
STEPS = (*BY_ROW, "unit", "unit and key", "key", "weighted")
PEOPLE = ("a", "b", "c", "d")


@dataclass(frozen=True)
class Drawn:
    """A relation, and its tables."""

    node: RelationNode
    tables: Tables

    def rows(self, tables: Tables | None = None) -> Rows:
        """How often each row comes, or how much it weighs."""
        sources: dict[RelationNode, Source] = {
            node: Frame(table, node.schema, node.owner if isinstance(node, StoredRows) else Unit())
            for node, table in (tables or self.tables).items()
        }
        connection = made(self.node, sources)
        columns = ", ".join(f"c{i}" for i in range(len(self.node.schema.columns)))
        if not self.node.reach.weighted:
            return Counter(connection.execute(f"SELECT {columns} FROM kept").fetchall())
        found: Any = Counter()
        for *row, size in connection.execute(f"SELECT {columns}, s FROM kept").fetchall():
            found[tuple(row)] += Fraction(1, int(size))
        return found

    def changed(self, how: Callable[[StoredRows, Table], Table]) -> Tables:
        """Its tables, with another one in place of each protected one."""
        return {node: how(node, one) if isinstance(node, StoredRows) else one for node, one in self.tables.items()}


def without(table: Table, person: str) -> Table:
    """A table without the rows of a person."""
    return chosen(table, [row for row, who in enumerate(table["who"]) if who != person])


def chosen(table: Table, rows: list[int]) -> Table:
    return {name: [column[row] for row in rows] for name, column in table.items()}


def joined(one: Table, other: Table) -> Table:
    """The rows of both."""
    return {name: [*column, *other[name]] for name, column in one.items()}


def drawn(rng: np.random.Generator) -> Drawn:
    """Up to four steps over two protected tables and a public one; what is refused is left out."""
    tables: Tables = {}
    by_person = rng.random() < 0.8
    private = [_private(rng, place, by_person, tables) for place in range(2)]
    wards, public = PublicRows("wards", PUBLIC), int(rng.integers(1, 6))
    tables[wards] = {
        "ward": rng.choice(["day", "icu", "er"], public).tolist(),
        "beds": rng.integers(0, 9, public).tolist(),
    }
    draws = _Draws(rng, private, wards, tables[wards])
    node = draws.after(private[0], [str(one) for one in rng.choice(STEPS, int(rng.integers(1, 5)))])
    used = set(node.walked())
    return Drawn(node, {leaf: table for leaf, table in tables.items() if leaf in used})


def drawn_table(rng: np.random.Generator, schema: Schema, people: list[str]) -> Table:
    """A row of each of these people."""
    number = next(iter(schema.columns))
    return {
        "who": people,
        number: [None if one > 8 else float(one) for one in rng.integers(0, 10, len(people))],
        "ward": rng.choice(["day", "icu", "er", "unknown"], len(people)).tolist(),
    }


def _private(rng: np.random.Generator, place: int, by_person: bool, tables: Tables) -> RelationNode:
    unit = Unit("user", "who", int(rng.integers(1, 4))) if by_person else RECORD
    size, schema = int(rng.integers(0, 14)), SCHEMAS[place]
    stored = StoredRows(f"table {place}", schema, unit)
    people = rng.choice(PEOPLE, size).tolist() if by_person else [f"{place} {row}" for row in range(size)]
    tables[stored] = drawn_table(rng, schema, people)
    return LimitedRows(stored, unit.rows) if by_person else stored


@dataclass(frozen=True)
class _Draws:
    rng: np.random.Generator
    private: list[RelationNode]
    wards: PublicRows
    table: Table

    def after(self, node: RelationNode, steps: list[str]) -> RelationNode:
        """A relation and some steps more."""
        for step in steps:
            if node.reach.weighted:  # what is chosen and computed of these is done by whoever adds them up
                break
            try:
                node = self._step(node, step)
            except DiscreetError:
                continue
        return node

    def _step(self, node: RelationNode, step: str) -> RelationNode:
        numbers = [name for name, kind in node.schema.columns.items() if isinstance(kind, Number)]
        first = numbers[int(self.rng.integers(len(numbers)))]
        match step:
            case "filter":
                return FilteredRows.read(node, f"{first} >= {int(self.rng.integers(0, 8))}")
            case "derive":
                return ComputedRows.read(node, {f"more_{len(node.schema.columns)}": f"{first} * 2 + 1"}, {})
            case "per unit":
                own = {"number": "count", "most": f"max of {first}", "all": f"sum of {first}"}
                own |= {"ward": "only of ward"} if "ward" in node.schema.columns else {}
                return PerUnit.read(node, own, {"number": (0, 50), "all": (-500, 500)})
            case "groups":
                groups = PerUnit.read(node, {"longest": f"max of {first}"}, {}, ["ward"])
                return LimitedRows(groups, int(self.rng.integers(1, 3)))
            case "public":
                fan = max((self.table["ward"].count(one) for one in ("day", "icu", "er")), default=0)
                most, outer = min(fan, int(self.rng.integers(1, 6))), bool(self.rng.integers(2))
                return JoinedRows(node, self.wards, (("ward", "ward"),), False, most, outer, _new(node, ["beds"]))
        return self._joined(node, step)

    def _joined(self, node: RelationNode, step: str) -> RelationNode:
        """With one of the tables, or what a few steps make of it, or the same rows once more."""
        right = [*self.private, node][int(self.rng.integers(3))]
        right = self.after(right, [str(one) for one in self.rng.choice(BY_ROW, int(self.rng.integers(0, 3)))])
        on = () if step == "unit" else (("ward", "ward"),)
        names = _new(node, [name for name in right.schema.columns if not on or name != "ward"])
        if step == "weighted":
            return WeightedJoin(node, right, on, names)
        by_unit, few = step != "key", int(self.rng.integers(1, 4))
        most = None if step == "unit" and self.rng.random() < 0.5 else few
        if by_unit and node.unit.column is None:
            return node
        return JoinedRows(node, right, on, by_unit, most, by_unit and bool(self.rng.integers(2)), names)


def _new(node: RelationNode, names: list[str]) -> tuple[str, ...]:
    return tuple(f"{name}_{len(node.schema.columns)}" for name in names)
