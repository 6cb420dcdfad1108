"""Scores of splits: the criteria, and what a choice loses on every small pair of neighbors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import entropy as bits

from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.trees.split_scores import entropy, gini, largest, split_scores_of
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.curator import CuratorsView
from discreet.trust.sources.matrix import Matrix
from tests.questions.choices import check_choices, worst_loss

SCHEMA = Schema({"x": Number(0, 1), "y": Number(0, 1), "kind": Category(("a", "b"))})
ROOT = np.zeros((1, 0))
TREE = (np.array([[0.0]]), np.array([[0.5]]))
GRID = [(x, y, kind) for x, y, kind in itertools.product((0.2, 0.7), (0.2, 0.7), (0.0, 1.0))]


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
