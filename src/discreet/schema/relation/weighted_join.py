"""Rows of two tables that share a key, each pair with a weight: so that nothing has to be left out.

Proserpio, Goldberg and McSherry 2014 (wPINQ), section 2.7.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from discreet.core.errors import NotPermitted
from discreet.schema.relation.joined_rows import ASKED, Pairs, check_alike
from discreet.schema.relation.relation_node import RelationNode, RowReach, listed
from discreet.schema.schema import Schema


@dataclass(frozen=True)
class WeightedJoin(RelationNode):
    """Pairs of rows that agree on a key; with n rows of it on the left and m on the right, each weighs 1 / (n + m).

    Let one of n rows on the left go, and s = n + m. Its m pairs lose 1 / s each; the other (n - 1) m pairs gain
    1 / (s - 1) - 1 / s each. That is m / s (1 + (n - 1) / (s - 1)) = ((s - 1)**2 - (n - 1)**2) / (s (s - 1)) in all,
    which is less than 1. So a unit moves at most as much weight as it has rows in both tables together.

    Parameters
    ----------
    left, right : RelationNode
        Public. The rows, both protected.
    on : tuple of pairs of str
        Public. The columns that must agree. A missing value agrees with none.
    names : tuple of str
        Public. What the columns of the right that are no keys are called.
    """

    left: RelationNode
    right: RelationNode
    on: Pairs
    names: tuple[str, ...]
    anywhere: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.on or self.left.protected is None or self.right.protected is None:
            obstacle = "pairs have weights where rows of two protected tables share a key"
            raise NotPermitted(
                f"weighted {ASKED}", obstacle, "Join on a column of both, or plainly with a public table."
            )
        for left, right in self.on:
            check_alike(self.left, self.right, left, right)
        for one in self.inputs:
            one.check_owned(f"weighted {ASKED}")
        _ = self.schema, self.unit

    @property
    def inputs(self) -> tuple[RelationNode, ...]:
        return self.left, self.right

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
        return self.left.reach + self.right.reach + RowReach(0, both_ways=True, weighted=True)

    @property
    def words(self) -> str:
        return f"weighted join on {', '.join(f'{left} = {right}' for left, right in self.on)}"

    def select(self, *inputs: str) -> str:
        """Its rows, with the number of the key in `k`, and how many rows on both sides have it in `s`."""
        own, other = self.left.places, self.right.places
        pairs = [(own[one], other[two]) for one, two in self.on]
        columns = [*(f"l.c{place}" for place in own.values()), *(f"r.c{other[name]}" for name in self.added)]
        sides = [_sizes(inputs[side], [pair[side] for pair in pairs]) for side in (0, 1)]
        keys = [f"k{i}" for i in range(len(pairs))]
        both = f"SELECT {', '.join(f'a.{key} AS {key}' for key in keys)}, a.n + b.n AS s FROM {sides[0]} AS a"
        sizes = f"SELECT *, row_number() OVER () AS k FROM ({both} JOIN {sides[1]} AS b USING ({', '.join(keys)}))"
        left = " AND ".join(f"l.c{one} = t.{key}" for key, (one, _) in zip(keys, pairs, strict=True))
        right = " AND ".join(f"r.c{two} = t.{key}" for key, (_, two) in zip(keys, pairs, strict=True))
        tables = f"({sizes}) AS t JOIN {inputs[0]} AS l ON {left} JOIN {inputs[1]} AS r ON {right}"
        return f"SELECT l.u AS u, {listed(columns)}, t.k AS k, t.s AS s FROM {tables}"


def _sizes(table: str, keys: list[int]) -> str:
    """How many rows have each key."""
    named = ", ".join(f"c{one} AS k{i}" for i, one in enumerate(keys))
    return f"(SELECT {named}, count(*) AS n FROM {table} GROUP BY {', '.join(f'c{one}' for one in keys)})"
