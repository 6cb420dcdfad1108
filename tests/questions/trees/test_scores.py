"""Scores: on a grid whose rounding is counted, and bounded for units of several rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import entropy as bits

from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors, Unit
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.trees.forest_leaves import leaves_of
from discreet.questions.trees.scores import (
    FINE,
    Scores,
    candidate_scores_of,
    entropy,
    gini,
    labelled_tree_scores_of,
    largest,
    leaf_counts_of,
    split_scores_of,
    tree_scores_of,
)
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.curator import CuratorsView
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.source_of import source_of
from tests.questions.choices import check_choices, worst_loss

OF_PEOPLE = Schema({"x": Number(0, 1), "kind": Category(("a", "b")), "who": Text()})
PLAIN = Schema({"x": Number(0, 1), "kind": Category(("a", "b"))})
NODES = (np.zeros((1, 1)), np.full((1, 1), 0.5))
COUNTS = leaf_counts_of(PLAIN, ("x",), "kind", *NODES)
SCHEMA = Schema({"x": Number(0, 1), "y": Number(0, 1), "kind": Category(("a", "b"))})
ROOT = np.zeros((1, 0))
TREE = (np.array([[0.0]]), np.array([[0.5]]))
GRID = [(x, y, kind) for x, y, kind in itertools.product((0.2, 0.7), (0.2, 0.7), (0.0, 1.0))]
FEATURES, CUTS = np.array([[0.0], [1.0]]), np.array([[0.5], [0.5]])
CORNERS = [(x, y, kind) for x, y, kind in itertools.product((0.0, 1.0), (0.0, 1.0), (0.0, 1.0)) if x <= y]


def test_scores_that_are_not_whole_are_floored_and_that_is_counted() -> None:
    view = CuratorsView(Matrix(np.array([[0.2, 0.0]] * 3), PLAIN), Neighbors.ADD_REMOVE, DeterministicBits(0))
    answer = Scores(COUNTS.sums, lambda counts: counts.reshape(2, 2) / 7, 1 / 7, whole=False).answer(view)
    np.testing.assert_allclose(answer.grid.values(answer.steps), np.array([[3 / 7, 0.0], [0.0, 0.0]]), atol=FINE.step)
    assert (answer.grid.values(answer.steps) <= 3 / 7).all()
    assert answer.sensitivity("linf") == pytest.approx(1 / 7 + 2 * FINE.step)


def test_a_person_of_three_rows_moves_three_times_as_far() -> None:
    frame = {"x": [0.1, 0.9, 0.9, 0.2], "kind": ["a", "b", "b", "a"], "who": ["p", "p", "p", "q"]}
    source = source_of(frame, OF_PEOPLE, Unit("user", "who", rows=3))
    for neighbors in Neighbors:
        answer = COUNTS.answer(CuratorsView(source, neighbors, DeterministicBits(0)))
        assert answer.sensitivity("linf") == 3
        assert answer.steps.tolist() == [[2, 0], [0, 2]]


def test_the_criteria_are_those_of_the_textbook() -> None:
    sides = np.array([[30.0, 10.0, 0.0], [5.0, 5.0, 5.0]])
    assert largest(sides) == 35
    assert gini(sides) == pytest.approx(-(40 * (1 - 0.75**2 - 0.25**2) + 15 * (2 / 3)))
    assert entropy(sides) == pytest.approx(-(40 * bits([3, 1, 0], base=2) + 15 * np.log2(3)))
    assert gini(np.zeros((2, 3))) == entropy(np.zeros((2, 3))) == 0


def test_no_choice_of_splits_in_all_nodes_loses_more_than_its_price() -> None:
    """Four records do not move the Gini index by nearly 2."""
    some = GRID[::2] + GRID[1::4]
    check_choices(split_scores_of(SCHEMA, ("x", "y"), 2, "kind", *TREE, "max"), SCHEMA, some, reached=0.99)
    check_choices(split_scores_of(SCHEMA, ("x", "y"), 2, "kind", *TREE, "gini"), SCHEMA, some, reached=0.4)


def test_no_choice_from_a_few_splits_of_each_node_loses_more_than_its_price() -> None:
    """A tree with one split, and three candidates for each node below it."""
    some = GRID[::2] + GRID[1::4]
    features = np.column_stack([np.zeros(3), [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    cuts = np.column_stack([np.full(3, 0.5), [0.3, 0.5, 0.9], [0.5, 0.8, 0.1]])
    question = candidate_scores_of(SCHEMA, ("x", "y"), "kind", features, cuts)
    check_choices(question, SCHEMA, some, reached=0.4)
    view = CuratorsView(Matrix(np.array(GRID), SCHEMA), Neighbors.REPLACE, DeterministicBits(0))
    assert question.answer(view).steps.shape == (2, 3)
    with pytest.raises(DiscreetError, match="differ above their last level"):
        candidate_scores_of(SCHEMA, ("x", "y"), "kind", features, cuts + np.arange(3)[:, None])


def test_a_record_moves_scores_in_one_direction_and_by_no_more_than_is_said() -> None:
    """All tables of counts up to 4 in two classes, and a record of the first class that joins."""
    for name, score in (("gini", gini), ("entropy", entropy), ("max", largest)):
        found = []
        for a, b in itertools.product(range(8), repeat=2):
            before, after = (np.array([[a + more, b], [0, 0]], dtype=float) for more in (0, 1))
            found.append(score(after) - score(before))
        most = split_scores_of(SCHEMA, ("x",), 2, "kind", ROOT, ROOT, name, 14).most  # type: ignore[arg-type]
        signed = np.array(found) * (1 if name == "max" else -1)
        assert signed.min() >= -1e-12
        assert 0.7 * most < signed.max() <= most


def test_entropy_needs_a_public_number_of_records_and_holds_for_no_more() -> None:
    question = split_scores_of(SCHEMA, ("x", "y"), 2, "kind", ROOT, ROOT, "entropy", 4)
    assert 0.4 < worst_loss(question, SCHEMA, sorted(GRID[::2] + GRID[1::4]), Neighbors.REPLACE) <= 1
    rows = np.array(GRID)
    for records, neighbors in ((rows, Neighbors.REPLACE), (rows[:3], Neighbors.ADD_REMOVE)):
        view = CuratorsView(Matrix(records, SCHEMA), neighbors, DeterministicBits(0))
        with pytest.raises(DiscreetError, match="whose number is public"):
            question.answer(view)


def test_what_is_no_criterion_is_refused() -> None:
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        split_scores_of(SCHEMA, ("x",), 2, "kind", ROOT, ROOT, "chi2")  # type: ignore[arg-type]


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
    check_choices(labelled_tree_scores_of(SCHEMA, ("x", "y"), "kind", FEATURES, CUTS), SCHEMA, CORNERS, reached=0.99)


def test_no_choice_of_a_tree_loses_more_than_its_price() -> None:
    check_choices(tree_scores_of(SCHEMA, ("x", "y"), "kind", FEATURES, CUTS), SCHEMA, CORNERS, reached=0.99)


def test_no_choice_of_the_classes_of_all_leaves_loses_more_than_its_price() -> None:
    """A record that is replaced leaves one leaf and joins another: each loses half."""
    check_choices(leaf_counts_of(SCHEMA, ("x", "y"), "kind", FEATURES[:1], CUTS[:1]), SCHEMA, CORNERS, reached=0.99)
