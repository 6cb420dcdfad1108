"""Trees of counts: least squares in closed form against matrices, and the weights that are best."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.bound import Norm
from discreet.core.schema import Number, Schema
from discreet.questions.tree import Tree, tree_of, trees
from discreet.statistics.tables.strategy import NORMS

rng = np.random.default_rng(7)
SOME = [
    tree
    for cells in (2, 5, 16, 27, 50)
    for norm in NORMS
    for tree in trees(cells, norm)
    if tree.fanout in (2, 3, 8, cells)
]
each = pytest.mark.parametrize("tree", SOME, ids=lambda tree: f"{tree.fanout}-{tree.depth}-{tree.norm}")


def matrix(tree: Tree) -> np.ndarray:
    """What is measured of the leaves."""
    return tree.grid.values(tree.numbers(np.eye(tree.leaves))).T


@each
def test_every_record_is_just_as_long_as_its_bound(tree: Tree) -> None:
    rows = matrix(tree).T
    lengths = rows.sum(axis=1) if tree.norm == "l1" else np.sqrt(np.square(rows).sum(axis=1))
    np.testing.assert_allclose(lengths, tree.bound.radius, rtol=2e-9)
    np.testing.assert_array_equal(tree.bound.clip(rows), rows)


@each
def test_the_leaves_are_those_of_least_squares(tree: Tree) -> None:
    measured = matrix(tree)
    numbers = measured @ rng.poisson(20, tree.leaves) + rng.normal(size=(3, len(measured)))
    expected = numbers @ np.linalg.pinv(measured).T
    np.testing.assert_allclose(tree.leaves_of(numbers), expected, atol=1e-4)
    np.testing.assert_allclose(tree.leaves_of(numbers[1]), expected[1], atol=1e-4)


@pytest.mark.parametrize("cells", [2, 5, 16, 27, 50])
@pytest.mark.parametrize("norm", NORMS)
def test_the_error_is_that_of_sums_from_the_left(cells: int, norm: Norm) -> None:
    for tree in trees(cells, norm)[:6]:
        inverse, ends = np.linalg.pinv(matrix(tree)), np.arange(1, cells)[:, None]
        inside = np.arange(tree.leaves)
        sums = (inside < ends) - ends / cells * (inside < cells)
        variances = np.square(sums @ inverse).sum(axis=1)
        root = float(tree.design.variances(tree.weights)[0]) / 12
        assert tree.error(cells) - root == pytest.approx(variances.mean(), rel=1e-6)


def test_a_tree_pays_where_there_are_many_cells() -> None:
    def best(cells: int, norm: Norm) -> float:
        return min(tree.bound.radius**2 * tree.error(cells) for tree in trees(cells, norm))

    flat = {cells: Tree.flat(cells, "l1").error(cells) for cells in (8, 1000)}
    assert best(8, "l1") == pytest.approx(flat[8])
    assert best(1000, "l1") < 0.2 * flat[1000]
    assert best(1000, "l2") < 0.05 * flat[1000]


def test_the_fused_sum_is_that_of_the_rows() -> None:
    schema = Schema({"x": Number(0, 1)})
    records = np.append(rng.uniform(0, 1, 300), [0.0, 1.0, np.nan])[:, None]
    for tree in trees(20, "l2")[:4]:
        question = tree_of(schema, "x", 20, tree.fanout, tree.depth, tree.steps, tree.grid.exponent, tree.norm)
        assert question.total is not None
        np.testing.assert_array_equal(question.total(records), question.steps(records).sum(axis=0))
        assert question.size == sum(tree.sizes)
