"""Cliques hold all sets and make a tree, and their tables are those of the product of all factors."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.microdata.synthetic.clique_tree import CliqueTree, cells_with, summed, triangulated

SIZES = (2, 3, 2, 4, 2)


def sets_of(rng: np.random.Generator) -> list[tuple[int, ...]]:
    pairs = [*combinations(range(5), 2), *combinations(range(5), 3)]
    some = [pairs[place] for place in rng.choice(len(pairs), rng.integers(1, 5), replace=False)]
    return [(axis,) for axis in range(5)] + some


@pytest.mark.parametrize("seed", range(12))
def test_tables_are_those_of_the_product_of_all_factors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sets = sets_of(rng)
    tree = CliqueTree(SIZES, triangulated(SIZES, sets))
    potentials = [np.zeros(tree.shape(place)) for place in range(len(tree.cliques))]
    whole = np.zeros(SIZES)
    for axes in sets:
        home = tree.home(axes)
        assert home is not None
        factor = rng.normal(0, 2, [SIZES[axis] for axis in axes])
        potentials[home] += tree.spread(factor, axes, home)
        whole += factor.reshape([SIZES[axis] if axis in axes else 1 for axis in range(5)])
    whole = np.exp(whole)
    whole *= 1000 / whole.sum()
    tables = tree.tables(potentials, 1000.0)
    for clique, table in zip(tree.cliques, tables, strict=True):
        np.testing.assert_allclose(table, summed(whole, tuple(range(5)), clique), rtol=1e-9)
    records = np.array(list(np.ndindex(SIZES)))
    likely = tree.likelihood(tables, records)
    known = np.log(whole.ravel())
    np.testing.assert_allclose(likely - likely[0], known - known[0], atol=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_what_a_clique_shares_with_those_before_it_shares_with_its_parent(seed: int) -> None:
    tree = CliqueTree(SIZES, triangulated(SIZES, sets_of(np.random.default_rng(seed))))
    seen: set[int] = set()
    for place, before, shared in tree.order:
        assert set(tree.cliques[place]) & seen == set(shared)
        assert before < 0 or set(shared) <= set(tree.cliques[before])
        seen |= set(tree.cliques[place])
    assert seen == set(range(5))


@pytest.mark.parametrize("seed", range(6))
def test_proportional_fitting_finds_the_tables_of_a_product_of_factors(seed: int) -> None:
    """Its sums are given; starting as if columns were independent, it finds the tables, and they agree."""
    rng = np.random.default_rng(seed)
    sets = [axes for axes in sets_of(rng) if len(axes) < 3] + [(0, 1), (1, 2), (0, 2), (2, 3)]
    tree = CliqueTree(SIZES, triangulated(SIZES, sets))
    whole = np.zeros(SIZES)
    for axes in sets:
        factor = rng.normal(0, 1, [SIZES[axis] for axis in axes])
        whole += factor.reshape([SIZES[axis] if axis in axes else 1 for axis in range(5)])
    whole = np.exp(whole)
    whole *= 1000 / whole.sum()
    every = tuple(range(5))
    aims = {axes: summed(whole, every, axes) for axes in dict.fromkeys(sets)}
    start = [np.full(tree.shape(place), 1000 / np.prod(tree.shape(place))) for place in range(len(tree.cliques))]
    for clique, table in zip(tree.cliques, tree.proportional(aims, start, 200), strict=True):
        np.testing.assert_allclose(table, summed(whole, every, clique), rtol=1e-4, atol=1e-4)


def test_records_are_counted_out_of_overlapping_cliques() -> None:
    rng = np.random.default_rng(1)
    tree = CliqueTree((2, 3, 2), triangulated((2, 3, 2), [(0, 1), (1, 2)]))
    tables = tree.tables([rng.normal(0, 1, tree.shape(place)) for place in range(2)], 6000.0)
    records = tree.counted_out(tables, 6000, rng)
    for clique, table in zip(tree.cliques, tables, strict=True):
        found = np.zeros(table.shape)
        np.add.at(found, tuple(records[:, axis] for axis in clique), 1)
        assert np.abs(found - table).max() <= 4


def test_sums_come_in_the_order_that_was_asked_for() -> None:
    table = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(summed(table, (1, 3, 5), (5, 1)), table.sum(axis=1).T)


def test_a_circle_needs_a_clique_of_three() -> None:
    assert cells_with((2, 3, 5, 7), [(0, 1), (1, 2), (2, 3)], (1,)) == 6 + 15 + 35
    assert cells_with((2, 3, 5, 7), [(0, 1), (1, 2), (2, 3)], (0, 3)) == 2 * 3 * 5 + 2 * 5 * 7
