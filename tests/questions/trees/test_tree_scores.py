"""Scores of trees and of leaves: what they count, and what a choice loses on every small pair of neighbors."""

from __future__ import annotations

import itertools

import numpy as np

from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.trees.forest_leaves import leaves_of
from discreet.questions.trees.tree_scores import labelled_tree_scores_of, leaf_counts_of, tree_scores_of
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.curator import CuratorsView
from discreet.trust.sources.matrix import Matrix
from tests.questions.choices import check_choices

SCHEMA = Schema({"x": Number(0, 1), "y": Number(0, 1), "kind": Category(("a", "b"))})
FEATURES, CUTS = np.array([[0.0], [1.0]]), np.array([[0.5], [0.5]])
GRID = [(x, y, kind) for x, y, kind in itertools.product((0.0, 1.0), (0.0, 1.0), (0.0, 1.0)) if x <= y]


def test_a_tree_scores_the_records_that_it_classifies_right() -> None:
    rng = np.random.default_rng(0)
    records = np.column_stack([rng.random((200, 2)), rng.integers(0, 2, 200)])
    records[7, 2], records[8, 0] = np.nan, np.nan
    features, cuts = rng.integers(0, 2, (100, 3)).astype(float), rng.random((100, 3))
    view = CuratorsView(Matrix(records, SCHEMA), Neighbors.REPLACE, DeterministicBits(0))
    scores = tree_scores_of(SCHEMA, ("x", "y"), "kind", features, cuts).answer(view).steps
    assert scores.shape == (1, 100)
    known = records[~np.isnan(records[:, 2])]
    for tree in (0, 70, 99):
        right = 0
        for side in (False, True):
            own = (known[:, int(features[tree, 0])] > cuts[tree, 0]) == side
            child = 2 if side else 1
            for low in (False, True):
                leaf = own & ((known[:, int(features[tree, child])] > cuts[tree, child]) == low)
                right += max((known[leaf, 2] == 0).sum(), (known[leaf, 2] == 1).sum())
        assert scores[0, tree] == right
    counts = leaf_counts_of(SCHEMA, ("x", "y"), "kind", features[:1], cuts[:1]).answer(view).steps
    assert counts.shape == (4, 2)
    assert counts.sum() == 199
    assert counts.max(axis=1).sum() == scores[0, 0]


def test_a_labelled_tree_scores_the_records_that_its_labels_classify_right() -> None:
    rng = np.random.default_rng(0)
    records = np.column_stack([rng.random((200, 2)), rng.integers(0, 2, 200)])
    features, cuts = rng.integers(0, 2, (70, 3)).astype(float), rng.random((70, 3))
    view = CuratorsView(Matrix(records, SCHEMA), Neighbors.REPLACE, DeterministicBits(0))
    scores = (
        labelled_tree_scores_of(SCHEMA, ("x", "y"), "kind", features, cuts).answer(view).steps.reshape(70, 2, 2, 2, 2)
    )
    for tree, labels in ((0, (0, 1, 1, 0)), (69, (1, 0, 0, 0))):
        leaves = leaves_of(records[:, :2], features[[tree]].astype(np.intp), cuts[[tree]])[0]
        assert scores[tree][labels] == np.sum(np.array(labels)[leaves] == records[:, 2])
    best = tree_scores_of(SCHEMA, ("x", "y"), "kind", features, cuts).answer(view).steps
    np.testing.assert_array_equal(scores.reshape(70, -1).max(axis=1), best[0])


def test_no_choice_of_a_labelled_tree_loses_more_than_its_price() -> None:
    check_choices(labelled_tree_scores_of(SCHEMA, ("x", "y"), "kind", FEATURES, CUTS), SCHEMA, GRID, reached=0.99)


def test_no_choice_of_a_tree_loses_more_than_its_price() -> None:
    check_choices(tree_scores_of(SCHEMA, ("x", "y"), "kind", FEATURES, CUTS), SCHEMA, GRID, reached=0.99)


def test_no_choice_of_the_classes_of_all_leaves_loses_more_than_its_price() -> None:
    """A record that is replaced leaves one leaf and joins another: each loses half."""
    check_choices(leaf_counts_of(SCHEMA, ("x", "y"), "kind", FEATURES[:1], CUTS[:1]), SCHEMA, GRID, reached=0.99)
