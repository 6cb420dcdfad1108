"""Neighbors over random plans: a unit that goes moves no more rows than the reach of the plan says."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from discreet.schema.relation.joined_rows import JoinedRows
from tests.trust.random_relations import drawn


def checked(seed: int) -> tuple[float, bool, tuple[type, ...]]:
    """How much of the reach is used, whether rows come, and the kinds of nodes of one random plan."""
    rng = np.random.default_rng(seed)
    found = drawn(rng)
    reach = found.node.reach
    whole, without = found.rows(), found.rows(without=str(rng.choice(["a", "b", "c", "d"])))
    lost, gained = whole - without, without - whole
    moved = lost.total() + gained.total()
    assert reach.rows is not None
    assert moved <= reach.rows, (seed, found.node)
    assert reach.both_ways or not gained, (seed, found.node)
    return moved / reach.rows, bool(gained), tuple(type(one) for one in found.node.walked())


def swept(seeds: range) -> None:
    used, gains, kinds = [], 0, Counter[str]()
    for seed in seeds:
        part, gained, nodes = checked(seed)
        used.append(part)
        gains += gained
        kinds.update({kind.__name__ for kind in nodes})
    assert max(used) == 1  # the reach is met, so that no smaller one would do
    assert gains > 0
    assert min(kinds[name] for name in ("PerUnit", "JoinedRows", "FilteredRows", "ComputedRows")) > len(seeds) / 10


def test_no_unit_moves_more_rows_than_the_reach() -> None:
    swept(range(60))


@pytest.mark.slow
def test_no_unit_moves_more_rows_than_the_reach_in_5000_plans() -> None:
    swept(range(5000))


def test_a_join_on_a_key_moves_more_rows_than_one_path_explains() -> None:
    """With the reach through the left side alone, plans are found that go beyond it: both paths count."""
    beyond = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        found = drawn(rng)
        node = found.node
        if not (isinstance(node, JoinedRows) and not node.public and not node.by_unit):
            continue
        own = node.left.reach.rows
        assert own is not None
        moved = max(
            ((whole := found.rows()) - (less := found.rows(unit))).total() + (less - whole).total() for unit in "abcd"
        )
        beyond += moved > own
    assert beyond > 0
