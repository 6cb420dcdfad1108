"""Trees of counts: their sum, least squares in closed form against matrices, and the weights that are best."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from discreet.core.bound import Norm
from discreet.core.neighbors import Neighbors
from discreet.questions.tables.tree import Tree, trees
from discreet.schema.schema import Number, Schema
from tests.questions.trial import Trial

NORMS: tuple[Norm, ...] = ("l1", "l2")
TRIALS = {
    "tree": Trial(
        {"column": "x", "bins": 7, "fanout": 2, "depth": 3, "steps": (1, 2, 3), "exponent": -2, "norm": "l1"},
        "bfad8ed4abf5",
        forged=[{"depth": 2, "fanout": 4, "steps": (1 - 10**9, 10**9), "exponent": -30}, {"bins": 16}],
    )
}
rng = np.random.default_rng(7)
SCHEMA = Schema({"x": Number(-10, 110)})
RECORDS = np.append(np.clip(rng.normal(40, 30, 500), -10, 110), [-10.0, 110.0, 0.0, 5e-324, 109.999999, np.nan])[
    :, None
]
SOME = [
    *(tree for cells in (2, 5, 27) for norm in NORMS for tree in trees(cells, norm) if tree.fanout in (2, 3, cells)),
    *(Tree.even(9, 2, norm) for norm in NORMS),
]


def matrix(tree: Tree) -> np.ndarray:
    """What is measured of the leaves."""
    return tree.grid.values(tree.numbers(np.eye(tree.leaves))).T


def test_every_record_is_just_as_long_as_its_bound() -> None:
    for tree in SOME:
        rows = matrix(tree).T
        lengths = rows.sum(axis=1) if tree.norm == "l1" else np.sqrt(np.square(rows).sum(axis=1))
        np.testing.assert_allclose(lengths, tree.bound.radius, rtol=2e-9)
        np.testing.assert_array_equal(tree.bound.clip(rows), rows)
    for norm, far in (("l1", 3.0), ("l2", np.sqrt(3))):
        tree = Tree.even(16, 3, norm)  # type: ignore[arg-type]
        assert tree.bound.sensitivity(tree.norm, sum(tree.sizes), Neighbors.ADD_REMOVE) == pytest.approx(far)


def test_leaves_and_variances_are_those_of_least_squares() -> None:
    for tree in SOME:
        measured = matrix(tree)
        inverse = np.linalg.pinv(measured)
        numbers = measured @ rng.poisson(20, tree.leaves) + rng.normal(size=(3, len(measured)))
        np.testing.assert_allclose(tree.leaves_of(numbers), numbers @ inverse.T, atol=1e-4)
        np.testing.assert_allclose(tree.leaves_of(numbers[1]), numbers[1] @ inverse.T, atol=1e-4)
        weights = rng.normal(size=tree.leaves)
        assert tree.variance(weights) == pytest.approx(np.square(weights @ inverse).sum(), rel=1e-6)


def test_the_error_is_that_of_sums_from_the_left() -> None:
    for cells in (2, 5, 27):
        for tree in [one for norm in NORMS for one in trees(cells, norm)[:6]]:
            inverse, ends = np.linalg.pinv(matrix(tree)), np.arange(1, cells)[:, None]
            inside = np.arange(tree.leaves)
            sums = (inside < ends) - ends / cells * (inside < cells)
            variances = np.square(sums @ inverse).sum(axis=1)
            root = float(tree.weighting.variances(tree.weights)[0]) / 12
            assert tree.error(cells) - root == pytest.approx(variances.mean(), rel=1e-6)


def test_a_tree_pays_where_there_are_many_cells() -> None:
    def best(cells: int, norm: Norm) -> float:
        return min(tree.bound.radius**2 * tree.error(cells) for tree in trees(cells, norm))

    flat = {cells: Tree.even(cells, 1, "l1").error(cells) for cells in (8, 1000)}
    assert best(8, "l1") == pytest.approx(flat[8])
    assert best(1000, "l1") < 0.2 * flat[1000]
    assert best(1000, "l2") < 0.05 * flat[1000]
    half = (np.arange(4096) < 2048).astype(float)
    assert 3**2 * Tree.even(16, 3, "l1").variance(half) < 0.1 * half.sum()


def test_every_level_counts_every_value_once() -> None:
    for tree in (Tree.even(16, 2, "l1"), Tree.even(3, 3, "l2"), *trees(20, "l2")[1:4]):
        question = tree.question(SCHEMA, "x", min(tree.leaves, 20))
        assert question.total is not None
        np.testing.assert_array_equal(question.total(RECORDS), question.steps(RECORDS).sum(axis=0))
        levels = np.split(question.total(RECORDS) / np.repeat(tree.steps, tree.sizes), np.cumsum(tree.sizes)[:-1])
        cells = np.histogram(RECORDS[:-1], min(tree.leaves, 20), (-10, 110))[0]
        np.testing.assert_array_equal(levels[-1], np.pad(cells, (0, tree.leaves - len(cells))))
        for above, below in pairwise(levels):
            np.testing.assert_array_equal(above, below.reshape(len(above), -1).sum(axis=1))
