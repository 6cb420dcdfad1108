"""Scores of a forest: in the right cells, and without what a record says about itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.questions.trees.forest_leaves import forest_leaves_of, leaves_of
from discreet.questions.trees.forest_scores import class_shares, forest_scores_of, leaf_excess, score_ends
from tests.questions.trees.test_forest_leaves import CUTS, FEATURES, RECORDS
from tests.questions.trial import SCHEMA, Trial, summed

COUNTS = np.random.default_rng(1).normal(30, 20, (2, 12))
START: dict[str, Any] = {"columns": ("x", "y"), "target": "kind", "features": FEATURES, "cuts": CUTS, "counts": COUNTS}
START |= {"more": 3.0, "unit": 0.1, "cells": 6, "norm": "l2"}
TRIALS = {
    "forest_scores": Trial(
        START,
        "5ef71f81b5e4",
        forged=[{"counts": COUNTS[:1]}, {"counts": np.full((2, 12), np.nan)}, {"cells": 1}, {"norm": "linf"}],
        portable=False,
    )
}


def test_a_record_has_one_mark_for_each_class_at_its_score_without_itself() -> None:
    question = forest_scores_of(SCHEMA, **START)
    rows = question.of(np.vstack([RECORDS, [[30.0, 0.5, np.nan]]])).reshape(-1, 3, 6, 2)
    table, ends = COUNTS.reshape(2, 4, 3), score_ends(6, 0.1)[1:-1]
    leaves = leaves_of(RECORDS[:, :2], FEATURES.astype(np.intp), CUTS)
    for place in (0, 7, 399):
        kind = int(RECORDS[place, 2])
        own = [leaf_excess(table[t, leaves[t, place]] - np.eye(3)[kind], class_shares(table), 3.0) for t in (0, 1)]
        cells: list[int] = [int(np.searchsorted(ends, score)) for score in np.mean(np.array(own), axis=0)]
        for one, cell in enumerate(cells):
            assert rows[place, one, cell, int(one == kind)] == 1
    np.testing.assert_array_equal(rows[:-1].sum(axis=(2, 3)), 1.0)
    assert rows[-1].sum() == 0


def test_two_records_are_as_far_apart_as_the_bound_says() -> None:
    """In both norms, on records with a missing value, of any class, and far outside."""
    hostile = np.array([[x, y, k] for x in (-10.0, 110.0, np.nan) for y in (0.0, 1.0, np.nan) for k in (0, 1, 2)])
    for norm, order, most in (("l1", 1, 3.0), ("l2", 2, math.sqrt(3))):
        question = forest_scores_of(SCHEMA, **{**START, "norm": norm})
        lengths = np.linalg.norm(question.of(hostile), ord=order, axis=1)
        np.testing.assert_allclose(lengths, most)
        assert lengths.max() <= question.bound.radius


def test_of_two_classes_one_has_scores() -> None:
    records = np.column_stack([RECORDS[:, :2], RECORDS[:, 2] > 0])
    counts = forest_leaves_of(SCHEMA, ("x", "y"), "two", FEATURES, CUTS, "l1").of(records).sum(axis=0)
    fields = {**START, "target": "two", "counts": counts.reshape(2, -1)}
    found = summed(forest_scores_of(SCHEMA, **fields), records).reshape(6, 2)
    np.testing.assert_array_equal(found.sum(axis=0), np.bincount(records[:, 2].astype(int)))


def test_one_record_alone_in_its_leaves_has_no_score() -> None:
    """With itself, all would be of its class."""
    record = np.array([[30.0, 0.5, 2.0]])
    counts = forest_leaves_of(SCHEMA, ("x", "y"), "kind", FEATURES, CUTS, "l1").of(record).reshape(2, -1)
    marks = forest_scores_of(SCHEMA, **{**START, "counts": counts, "cells": 5}).of(record).reshape(3, 5, 2)
    np.testing.assert_array_equal(marks.sum(axis=2), np.tile(np.eye(5)[2], (3, 1)))
