"""A tree with further pairs: all of them are met, noise is not taken for a dependence, and copies are as far apart."""

from __future__ import annotations

from functools import cache

import numpy as np

from discreet.microdata.synthetic.clique_tree import summed
from discreet.microdata.synthetic.synthesis import total_of
from discreet.microdata.synthetic.tree_model import TreeModel
from discreet.microdata.synthetic.widened_tree import WidenedTree
from discreet.questions.tables.coded_tables import TableCodes

CODES = TableCodes(tuple("abc"), ((),) * 3, (3, 3, 3))
ONE, TWO, MORE = 10.0, 12.0, 20.0
PAIRS = ((0, 1), (1, 2), (0, 2))


@cache
def joint(circle: bool) -> np.ndarray:
    """Three columns, each with a cell for missing values that nobody has, and whether the outer ones depend."""
    found = np.zeros((3, 3, 3))
    ab, bc = np.array([[0.4, 0.1], [0.1, 0.4]]), np.array([[0.8, 0.2], [0.3, 0.7]])
    found[:2, :2, :2] = ab[:, :, None] * bc
    found[:2, :2, :2] *= 1 + 0.3 * circle * np.array([[1.0, -1], [-1, 1]])[:, None, :]
    return found * (20_000 / found.sum())


def counted(rng: np.random.Generator, circle: bool = True, size: float | None = None) -> WidenedTree:
    truth = joint(circle)
    ones = tuple(summed(truth, (0, 1, 2), (axis,)) + rng.normal(0, ONE, 3) for axis in range(3))
    pairs = {edge: summed(truth, (0, 1, 2), edge) + rng.normal(0, TWO, (3, 3)) for edge in PAIRS[:2]}
    more = {edge: summed(truth, (0, 1, 2), edge) + rng.normal(0, MORE, (3, 3)) for edge in PAIRS[2:]}
    return WidenedTree(TreeModel(CODES, ones, pairs, ONE, TWO, total_of(ones, size), size), more, MORE)


def test_records_have_all_pairs_that_were_counted() -> None:
    rows = counted(np.random.default_rng(1)).counted_out(20_000, np.random.default_rng(1))
    for first, second in PAIRS:
        found = np.bincount(3 * rows[:, first] + rows[:, second], minlength=9).reshape(3, 3)
        assert np.abs(found - summed(joint(True), (0, 1, 2), (first, second))).max() < 5 * MORE
        assert not found[2].any()  # missing values were not seen


def test_noise_on_a_further_pair_is_hardly_taken_for_a_dependence() -> None:
    """Where the tree is the truth, its own table of the pair is nearer than the count of it, and is kept."""
    exact = summed(joint(False), (0, 1, 2), (0, 2))[:2, :2]
    off = []
    for seed in range(40):
        model = counted(np.random.default_rng(seed), circle=False)
        found = summed(model.tables[0], model.cliques.cliques[0], (0, 2))
        off.append([np.abs(found - exact).mean(), np.abs(model.more[0, 2][:2, :2] - exact).mean()])
    ours, raw = np.mean(off, axis=0)
    assert ours < 0.45 * raw  # .32; .56 if it were not drawn to what the tree says


def test_what_a_query_reads_is_right_on_average_and_copies_are_as_far_apart_as_counts() -> None:
    rng = np.random.default_rng(1)
    for size in (None, 20_000.0):
        repeated = [counted(rng, size=size) for _ in range(200)]
        copies = [repeated[0].again(rng) for _ in range(200)]
        for axes in ((0,), (0, 1), (0, 2)):
            one, other = (np.array([model.table(axes) for model in some]) for some in (repeated, copies))
            truth = summed(joint(True), (0, 1, 2), axes)
            assert np.abs(one.mean(axis=0) - truth).max() < 5 * MORE / np.sqrt(200)
            np.testing.assert_allclose(other.std(axis=0), one.std(axis=0), rtol=0.35)
        totals = [np.std([model.total for model in some]) for some in (repeated, copies)]
        np.testing.assert_allclose(totals[0], totals[1], rtol=0.35)  # none, where it is public


def test_likelihoods_are_those_of_its_tables() -> None:
    model = counted(np.random.default_rng(1))
    places = np.array([[0, 0, 0], [1, 0, 1]])
    (table,) = model.tables
    np.testing.assert_allclose(model.likelihood(places), np.log(table[tuple(places.T)]), rtol=1e-9)
