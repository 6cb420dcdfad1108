"""Leaves of a forest: the records of each class that end in each."""

from __future__ import annotations

import math

import numpy as np

from discreet.questions.tables.contingency import class_marginals_of
from discreet.questions.trees.forest_leaves import forest_leaves_of, leaves_of, node_marginals_of
from tests.questions.trial import SCHEMA, Trial, summed

FEATURES = np.array([[0.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
CUTS = np.array([[50.0, 0.5, 80.0], [0.5, 0.25, 0.75]])
RNG = np.random.default_rng(0)
RECORDS = np.column_stack([RNG.uniform(-10, 110, 400), RNG.uniform(0, 1, 400), RNG.integers(0, 3, 400)])
NODES, SPLITS = np.array([[0.0, 1.0, 1.0]]), np.array([[50.0, 0.5, 0.25]])
START = {"columns": ("x", "y"), "bins": 4, "target": "kind", "features": NODES, "cuts": SPLITS, "norm": "l2"}
TRIALS = {
    "forest_leaves": Trial(
        {"columns": ("x", "y"), "target": "kind", "features": FEATURES, "cuts": CUTS, "norm": "l2"},
        "c2dc438baec0",
        forged=[{"features": FEATURES + 1}, {"features": FEATURES / 2}, {"cuts": CUTS[:1]}, {"norm": "linf"}],
    ),
    "node_marginals": Trial(
        START,
        "fe069216bac7",
        forged=[{"features": NODES + 1}, {"cuts": SPLITS[:, :2]}, {"norm": "linf"}],
    ),
}


def test_each_record_has_one_mark_in_each_tree() -> None:
    question = forest_leaves_of(SCHEMA, ("x", "y"), "kind", FEATURES, CUTS, "l1")
    found = summed(question, np.vstack([RECORDS, [[30.0, 0.5, np.nan]]])).reshape(2, 4, 3)
    assert question.bound.radius == 2
    x, y, kind = RECORDS.T
    first = np.where(x > 50, 2 + (x > 80), (y > 0.5) * 1)
    second = (y > 0.25).astype(int) + (y > 0.5) + (y > 0.75)
    for tree, leaves in enumerate((first, second)):
        expected = [[np.sum((leaves == leaf) & (kind == one)) for one in range(3)] for leaf in range(4)]
        np.testing.assert_array_equal(found[tree], expected)


def test_two_records_are_as_far_apart_as_the_bound_says() -> None:
    """In both norms, with other leaves in every tree."""
    for norm, order, far in (("l1", 1, 2.0), ("l2", 2, math.sqrt(2))):
        question = forest_leaves_of(SCHEMA, ("x", "y"), "kind", FEATURES, CUTS, norm)  # type: ignore[arg-type]
        rows = question.of(np.array([[0.0, 0.1, 0.0], [100.0, 0.9, 0.0]]))
        assert np.linalg.norm(rows[0], ord=order) <= question.bound.radius
        np.testing.assert_allclose(np.linalg.norm(rows[0] - rows[1], ord=order), far * question.bound.radius)


def test_a_missing_value_goes_left_and_batches_change_nothing() -> None:
    features = RNG.integers(0, 2, (3, 31))
    cuts = RNG.uniform(-10, 110, (3, 31))
    many = RNG.uniform(-10, 110, (20_000, 2))
    whole = leaves_of(many, features, cuts)
    np.testing.assert_array_equal(whole[:, 9000:9100], leaves_of(many[9000:9100], features, cuts))
    assert (leaves_of(np.full((1, 2), np.nan), features, cuts) == 0).all()


def test_the_tables_of_a_node_are_those_of_its_records() -> None:
    rng = np.random.default_rng(0)
    records = np.column_stack([rng.uniform(-10, 110, 300), rng.uniform(0, 1, 300), rng.integers(0, 3, 300)])
    missing = np.array([[np.nan, 0.5, 1.0], [30.0, 0.5, np.nan]])
    found = summed(
        node_marginals_of(SCHEMA, ("x", "y"), 4, "kind", NODES, SPLITS, "l1"), np.vstack([records, missing])
    ).reshape(4, -1)
    x, y, _ = records.T
    nodes = np.where(x > 50, 2 + (y > 0.25), (y > 0.5) * 1)
    for node in range(4):
        own = class_marginals_of(SCHEMA, ("x", "y"), (4, 4), "kind", "l1")
        np.testing.assert_array_equal(found[node], summed(own, records[nodes == node]))
