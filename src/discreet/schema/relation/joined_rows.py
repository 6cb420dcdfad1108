"""Rows of two tables side by side: with a public table, of the same unit, or of units that share a key."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from discreet.core.checks import check_whole, instead_of
from discreet.core.errors import NotPermitted, ParameterError, SchemaError
from discreet.core.formula import Formula
from discreet.core.neighbors import MOST_ROWS
from discreet.schema.relation.relation_node import PartedRows, RelationNode, RowReach, listed
from discreet.schema.schema import Column, Number, Schema

ASKED = "join"
WRITTEN, LEAST = 40, 1000  # bits of the greatest number, and of the least step
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class JoinedRows(RelationNode):
    """Pairs of rows that agree in some columns, or that are of the same unit.

    A row of a protected table that meets at most m public rows becomes at most m rows. Rows of one unit meet rows of
    the same unit alone: at most as many as the product of both. Where rows of different units meet on a key, each table
    keeps at most `most` rows of each value, those with the least hash of their content. A row that goes then lets at
    most one other in, and each of the two is in at most `most` pairs. So a unit with a rows in the one table and b in
    the other moves at most 2 (a + b) `most` pairs, and some of them may come when it goes.

    Parameters
    ----------
    left, right : RelationNode
        Public. The rows. Those on the left are protected.
    on : tuple of pairs of str
        Public. The columns that must agree, of the left and of the right. A missing value agrees with none.
    by_unit : bool
        Public. Whether both rows must be of the same unit.
    most : int, optional
        Public. The most rows on the right that a row on the left meets; of units that share a key, on both sides.
    outer : bool
        Public. Whether a row on the left that meets none is kept, with nothing beside it.
    names : tuple of str
        Public. What the columns of the right that are no keys are called.
    """

    left: RelationNode
    right: RelationNode
    on: Pairs
    by_unit: bool
    most: int | None
    outer: bool
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        _check(self)
        _ = self.schema
        if self.protected is not None and self.reach.rows is not None:
            _ = self.unit

    @property
    def inputs(self) -> tuple[RelationNode, ...]:
        return self.left, self.right

    @property
    def public(self) -> bool:
        """Whether the rows on the right are no secret."""
        return self.right.protected is None

    @property
    def added(self) -> tuple[str, ...]:
        """The columns of the right that are no keys."""
        keys = {right for _, right in self.on}
        return tuple(name for name in self.right.schema.columns if name not in keys)

    @cached_property
    def schema(self) -> Schema:
        new = {name: self.right.schema.columns[own] for own, name in zip(self.added, self.names, strict=True)}
        return Schema({**self.left.schema.columns, **new})

    @property
    def reach(self) -> RowReach:
        if self.public:
            return self.left.reach.times(max(1, self.most or 0))
        if not self.by_unit:
            assert self.most is not None
            return (self.left.reach + self.right.reach).times(2 * self.most) + RowReach(0, both_ways=True)
        rows = self.right.reach.rows
        met = min(one for one in (rows, self.most, MOST_ROWS + 1) if one is not None)
        return RowReach(None) if rows is None else self.left.reach.times(max(1, met))

    @property
    def words(self) -> str:
        own = [f"{left} = {right}" for left, right in self.on]
        unit = [f"same {self.protected.kind}"] if self.by_unit and self.protected is not None else []
        most = "" if self.most is None else f", at most {self.most} rows for each"
        return f"{'left join' if self.outer else 'join'} on {', '.join([*unit, *own])}{most}"

    def unlimited(self) -> RelationNode:
        """Without limits on the left of a public table; what rows of a unit meet is limited as it is stated."""
        if not self.public:
            return self
        return JoinedRows(self.left.unlimited(), self.right, self.on, False, self.most, self.outer, self.names)

    def select(self, *inputs: str) -> str:
        left, right = inputs
        own, other = self.left.places, self.right.places
        pairs = [(own[one], other[two]) for one, two in self.on]
        if self.most is not None:
            enough = self.by_unit and self.right.reach.rows is not None and self.right.reach.rows <= self.most
            right = right if enough else self._fewest(self.right, right, [two for _, two in pairs])
            if not (self.public or self.by_unit):
                left = self._fewest(self.left, left, [one for one, _ in pairs])
        columns = [*(f"l.c{place}" for place in own.values()), *(f"r.c{other[name]}" for name in self.added)]
        agree = [*(["l.u = r.u"] if self.by_unit else []), *(f"l.c{one} = r.c{two}" for one, two in pairs)]
        join = f"{'LEFT' if self.outer else 'INNER'} JOIN {right} AS r ON {' AND '.join(agree)}"
        return f"SELECT l.u AS u, {listed(columns)} FROM {left} AS l {join}"

    def _fewest(self, of: RelationNode, table: str, keys: list[int]) -> str:
        """At most `most` rows of each value of the keys: whether a row is kept depends on those before it alone.

        Only values with too many rows are put in order. Rows without a value meet none, and are left out.
        """
        content = [f"c{i}" for i in range(len(of.schema.columns))]
        by = (*(["u"] if self.by_unit else []), *(f"c{one}" for one in dict.fromkeys(keys)))
        kinds = zip(content, of.schema.columns.values(), strict=True)
        texts = ", ".join(f"coalesce(CAST({_written(one, kind)} AS VARCHAR), '')" for one, kind in kinds)
        order = ", ".join([f"md5(concat_ws('|', {texts}))", *(f"{one} NULLS FIRST" for one in content)])
        ranked = f"row_number() OVER (PARTITION BY {', '.join(by)} ORDER BY {order}) AS rank"
        rows = PartedRows(table, by, ("u", *content), self.most or 0)
        chosen = f"SELECT u, {', '.join(content)} FROM (SELECT *, {ranked} FROM ({rows.crowded}))"
        return f"({rows.before}{rows.few} UNION ALL {chosen} WHERE rank <= {self.most})"


def _written(column: str, kind: Column) -> str:
    """What engines write alike of a value: of a number its first bits, as a whole number."""
    if not isinstance(kind, Number):
        return column
    exponent = max(math.frexp(max(abs(kind.lower), abs(kind.upper)))[1] - WRITTEN, -LEAST)
    return f"CAST(floor({(Formula(column) * Formula.constant(2.0**-exponent)).sql}) AS BIGINT)"


def _check(join: JoinedRows) -> None:
    """Refuse what cannot be joined, or what nothing bounds."""
    if not join.on and not join.by_unit:
        raise ParameterError(ASKED, "no columns are given that must agree", 'Write on="key", or join on the unit.')
    if join.most is not None:
        check_whole(ASKED, "most", join.most, most=MOST_ROWS)
    for left, right in join.on:
        check_alike(join.left, join.right, left, right)
    if join.left.protected is None:
        raise NotPermitted(ASKED, "the table on the left is public", "Put the protected table on the left.")
    if join.left.reach.weighted or join.right.reach.weighted:
        raise NotPermitted(ASKED, "its rows have weights from another join", "Do the weighted join last.")
    if join.public and join.by_unit:
        raise NotPermitted(ASKED, "a public table has no units", 'Write on="key".')
    if join.public:
        return
    for one in join.inputs:
        one.check_owned(ASKED)
    if not join.by_unit and join.most is None:
        obstacle = "rows of different units meet on it, and nothing bounds how many"
        raise NotPermitted(f"{ASKED} on {join.on[0][0]}", obstacle, "Give most=..., or join on the unit, too.")
    if not join.by_unit and join.outer:
        obstacle = "a row that meets none is kept, and whether it does depends on other units"
        raise NotPermitted(f"left {ASKED}", obstacle, "Join without keeping those, or on the unit.")


def check_alike(one: RelationNode, other: RelationNode, left: str, right: str) -> None:
    """Refuse columns that are not described alike: their values would not be found for each other."""
    kinds = []
    for side, name in ((one, left), (other, right)):
        if name not in side.schema.columns:
            near = instead_of(name, side.schema.columns)
            raise SchemaError(f"{ASKED} on {name!r:.60}", "there is no such column", near)
        kinds.append(side.schema.columns[name])
    if kinds[0] != kinds[1]:
        obstacle = f"{left!r} is {kinds[0]!r:.80} and {right!r} is {kinds[1]!r:.80}"
        remedy = "Describe both alike: with the same bounds, the same values in the same order, or both as text."
        raise SchemaError(f"{ASKED} on {left}", obstacle, remedy)


def names_beside(left: Schema, added: tuple[str, ...], prefix: str, renamed: Mapping[str, str]) -> tuple[str, ...]:
    """What columns that are added are called: never as one that is there.

    Examples
    --------
    >>> from discreet.schema.schema import Number
    >>> names_beside(Schema({"age": Number(0, 120)}), ("age", "beds"), "doctor_", {})
    ('doctor_age', 'doctor_beds')
    """
    names = tuple(renamed.get(name, f"{prefix}{name}") for name in added)
    for name in names:
        if name in left.columns or names.count(name) > 1:
            raise SchemaError(ASKED, f"two columns would be called {name!r:.60}", 'Give prefix="other_".')
    return names
