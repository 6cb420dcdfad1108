"""Products in a tree of stretches of time."""

from __future__ import annotations

import numpy as np

from discreet.questions.series.product_tree import prefixes_of, product_tree_of, tree_of
from tests.questions.trial import SCHEMA, Trial, summed

COLUMNS = ("y", "far")
TRIALS = {
    "product_tree": Trial(
        {"columns": COLUMNS, "time": "x", "steps": 4, "radius": 0.5},
        "5679e9532d10",
        forged=[{"steps": 3}, {"steps": 2**13}, {"radius": 0.0}, {"time": "kind"}],
    )
}


def test_prefixes_of_the_tree_are_the_sums_of_the_steps_before() -> None:
    rng = np.random.default_rng(4)
    scaled, times = rng.uniform(-1, 1, (300, 2)), rng.uniform(-10, 110, 300)
    records = np.column_stack([0.5 + 0.5 * scaled[:, 0], 1e48 * scaled[:, 1], times])
    lost = np.array([[np.nan, 0.0, 0.0], [0.5, 0.5, np.nan]])
    released = summed(product_tree_of(SCHEMA, COLUMNS, "x", 4, 1.5), np.vstack([records, lost]))
    found = prefixes_of(released, 4)
    for length in range(5):
        some = scaled[times < -10 + 30 * length]
        np.testing.assert_allclose(found[length] / [1, 11 / 8, 1], (some.T @ some)[[0, 0, 1], [0, 1, 1]], atol=0.02)


def test_a_prefix_has_as_few_nodes_as_its_length_has_ones() -> None:
    """With a one in every node: how many of them make up each prefix."""
    assert prefixes_of(np.ones(15), 8).ravel().tolist() == [0, 1, 1, 2, 1, 2, 2, 3, 1]
    leaves = np.random.default_rng(0).normal(size=(1, 16, 3))
    np.testing.assert_allclose(prefixes_of(tree_of(leaves)[0], 16)[1:], np.cumsum(leaves[0], axis=0))
