"""Neighbors over random plans: a unit that goes or is replaced moves no more rows than the reach of the plan says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from discreet.schema.relation.joined_rows import JoinedRows
from discreet.schema.relation.stored_rows import StoredRows
from tests.trust.random_relations import (
    PEOPLE,
    Drawn,
    Rows,
    Table,
    Tables,
    chosen,
    drawn,
    drawn_table,
    joined,
    without,
)


@dataclass(frozen=True)
class Moved:
    """How much weight of rows goes and comes between two data sets."""

    gone: Fraction
    come: Fraction

    @classmethod
    def between(cls, whole: Rows, other: Rows) -> Moved:
        apart = [Fraction(other[row]) - Fraction(whole[row]) for row in whole.keys() | other.keys()]
        return cls(-sum(min(one, Fraction()) for one in apart), sum(max(one, Fraction()) for one in apart))  # type: ignore[arg-type]

    @property
    def total(self) -> Fraction:
        return self.gone + self.come


def neighbors(rng: np.random.Generator, found: Drawn) -> tuple[Tables, Tables]:
    """The tables without one unit, and with another one in its place; rows in another order."""
    person = str(rng.choice(PEOPLE))
    tables = [node for node in found.tables if isinstance(node, StoredRows)]
    place = int(rng.integers(len(tables)))

    def left(node: StoredRows, table: Table) -> Table:
        if node.owner.column is not None:
            kept = without(table, person)
        else:  # a record is a unit by itself, and is in one of the tables
            row = int(rng.integers(max(1, len(table["who"])))) if node is tables[place] else -1
            kept = chosen(table, [one for one in range(len(table["who"])) if one != row])
        return chosen(kept, rng.permutation(len(kept["who"])).tolist())

    def instead(node: StoredRows, table: Table) -> Table:
        single = node.owner.column is None
        rows = int(node is tables[place]) if single else int(rng.integers(0, 6))
        return joined(drawn_table(rng, node.schema, [person] * rows), table)

    gone = found.changed(left)
    return gone, Drawn(found.node, gone).changed(instead)


def checked(seed: int) -> tuple[float, bool, tuple[str, ...]]:
    """How much of the reach is used, whether rows come, and the kinds of nodes of one random plan."""
    rng = np.random.default_rng(seed)
    found = drawn(rng)
    reach, whole = found.node.reach, found.rows()
    gone, replaced = (found.rows(tables) for tables in neighbors(rng, found))
    removed = Moved.between(whole, gone)
    assert reach.rows is not None
    assert removed.total <= reach.rows, (seed, found.node)
    assert reach.both_ways or not removed.come, (seed, found.node)
    assert Moved.between(whole, replaced).total <= 2 * reach.rows, (seed, found.node)
    kinds = {_kind(node) for node in found.node.walked()} | {found.node.unit.kind}
    return float(removed.total / reach.rows), bool(removed.come), tuple(kinds)


def _kind(node: object) -> str:
    if not isinstance(node, JoinedRows):
        return type(node).__name__
    return "public join" if node.public else "join of units" if node.by_unit else "join on a key"


KINDS = ("PerUnit", "FilteredRows", "ComputedRows", "LimitedRows", "public join", "join of units", "join on a key")


def swept(seeds: range) -> None:
    used, gains, kinds = [], 0, Counter[str]()
    for seed in seeds:
        part, gained, nodes = checked(seed)
        used.append(part)
        gains += gained
        kinds.update(nodes)
    assert max(used) == 1  # the reach is met, so that no smaller one would do
    assert gains > 0
    assert min(kinds[name] for name in (*KINDS, "WeightedJoin", "record", "user")) > len(seeds) / 25, kinds


def test_no_unit_moves_more_rows_than_the_reach() -> None:
    swept(range(60))


@pytest.mark.slow
def test_no_unit_moves_more_rows_than_the_reach_in_5000_plans() -> None:
    swept(range(5000))


def test_a_join_on_a_key_moves_more_rows_than_one_path_explains() -> None:
    """With the reach through the left side alone, plans are found that go beyond it: both paths count."""
    beyond = 0
    for seed in range(120):
        found = drawn(np.random.default_rng(seed))
        node = found.node
        if not (isinstance(node, JoinedRows) and _kind(node) == "join on a key") or node.unit.column is None:
            continue
        own, whole = node.left.reach.rows, found.rows()
        assert own is not None
        tables = [found.changed(lambda _, table, one=one: without(table, one)) for one in PEOPLE]  # type: ignore[misc]
        beyond += max(Moved.between(whole, found.rows(one)).total for one in tables) > own
    assert beyond > 0
