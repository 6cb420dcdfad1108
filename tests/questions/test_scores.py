"""Scores: on a grid whose rounding is counted, and bounded for units of several rows."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.neighbors import Neighbors, Unit
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.scores import FINE, Scores
from discreet.questions.trees.tree_scores import leaf_counts_of
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.curator import CuratorsView
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.source_of import source_of

SCHEMA = Schema({"x": Number(0, 1), "kind": Category(("a", "b")), "who": Text()})
PLAIN = Schema({"x": Number(0, 1), "kind": Category(("a", "b"))})
NODES = (np.zeros((1, 1)), np.full((1, 1), 0.5))
COUNTS = leaf_counts_of(PLAIN, ("x",), "kind", *NODES)


def test_scores_that_are_not_whole_are_floored_and_that_is_counted() -> None:
    view = CuratorsView(Matrix(np.array([[0.2, 0.0]] * 3), PLAIN), Neighbors.ADD_REMOVE, DeterministicBits(0))
    answer = Scores(COUNTS.sums, lambda counts: counts.reshape(2, 2) / 7, 1 / 7, whole=False).answer(view)
    np.testing.assert_allclose(answer.grid.values(answer.steps), np.array([[3 / 7, 0.0], [0.0, 0.0]]), atol=FINE.step)
    assert (answer.grid.values(answer.steps) <= 3 / 7).all()
    assert answer.sensitivity("linf") == pytest.approx(1 / 7 + 2 * FINE.step)


def test_a_person_of_three_rows_moves_three_times_as_far() -> None:
    frame = {"x": [0.1, 0.9, 0.9, 0.2], "kind": ["a", "b", "b", "a"], "who": ["p", "p", "p", "q"]}
    source = source_of(frame, SCHEMA, Unit("user", "who", rows=3))
    for neighbors in Neighbors:
        answer = COUNTS.answer(CuratorsView(source, neighbors, DeterministicBits(0)))
        assert answer.sensitivity("linf") == 3
        assert answer.steps.tolist() == [[2, 0], [0, 2]]
