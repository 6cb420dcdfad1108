"""Records by leaf, and by path length."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.questions.trees.forest_leaves import leaves_of
from discreet.questions.trees.leaf_counts import leaf_counts_of, length_ends, mean_lengths, path_lengths_of
from tests.questions.trial import SCHEMA, Trial, summed

FEATURES = np.array([[0.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
CUTS = np.array([[50.0, 0.5, 80.0], [0.5, 0.25, 0.75]])
LENGTHS = np.array([[0.0, 2.0, 5.0, 1.0], [3.0, 1.0, 4.0, 2.0]])
RNG = np.random.default_rng(0)
RECORDS = np.column_stack([RNG.uniform(-10, 110, 400), RNG.uniform(0, 1, 400)])
TREES = {"columns": ("x", "y"), "features": FEATURES, "cuts": CUTS}
TRIALS = {
    "leaf_counts": Trial(
        {**TREES, "norm": "l2"},
        "fd0e450558a2",
        forged=[{"features": FEATURES + 1}, {"features": FEATURES / 2}, {"cuts": CUTS[:1]}, {"norm": "linf"}],
    ),
    "path_lengths": Trial(
        {**TREES, "lengths": LENGTHS, "cells": 8},
        "62622425fa14",
        forged=[
            {"features": FEATURES + 1},
            {"lengths": LENGTHS[:, :2]},
            {"lengths": -LENGTHS},
            {"lengths": 1000 * LENGTHS},
            {"cells": 1},
        ],
    ),
}


def leaves() -> np.ndarray:
    x, y = RECORDS.T
    return np.stack([np.where(x > 50, 2 + (x > 80), y > 0.5), (y > 0.25).astype(int) + (y > 0.5) + (y > 0.75)])


def test_each_record_has_one_mark_in_each_tree() -> None:
    question = leaf_counts_of(SCHEMA, ("x", "y"), FEATURES, CUTS, "l1")
    found = summed(question, RECORDS).reshape(2, 4)
    np.testing.assert_array_equal(found, [np.bincount(own, minlength=4) for own in leaves()])


def test_a_record_is_as_long_as_the_bound_says_in_both_norms() -> None:
    for norm, order, length in (("l1", 1, 2.0), ("l2", 2, math.sqrt(2))):
        question = leaf_counts_of(SCHEMA, ("x", "y"), FEATURES, CUTS, norm)  # type: ignore[arg-type]
        rows = question.of(np.vstack([RECORDS, [[np.nan, np.nan]]]))
        np.testing.assert_allclose(np.linalg.norm(rows, ord=order, axis=1), length)
        assert length <= question.bound.radius <= length * (1 + 1e-12)


def test_records_are_counted_by_the_mean_length_of_their_leaves() -> None:
    question = path_lengths_of(SCHEMA, ("x", "y"), FEATURES, CUTS, LENGTHS, 8)
    means = np.mean([own[leaf] for own, leaf in zip(LENGTHS, leaves(), strict=True)], axis=0)
    ends = length_ends(LENGTHS, 8)
    assert (ends[0], ends[-1]) == (0.5, 4.5)
    expected = [np.sum((means > low) & (means <= high)) for low, high in itertools.pairwise(ends)]
    expected[0] += np.sum(means == ends[0])
    np.testing.assert_array_equal(summed(question, RECORDS), expected)
    assert question.bound.radius == 1


def test_mean_lengths_are_alike_in_every_batch() -> None:
    many, splits = np.tile(RECORDS, (50, 1)), FEATURES.astype(np.intp)
    whole = mean_lengths(many, splits, CUTS, LENGTHS)
    np.testing.assert_array_equal(whole[-400:], mean_lengths(RECORDS, splits, CUTS, LENGTHS))
    assert (leaves_of(np.full((1, 2), np.nan), splits, CUTS) == 0).all()
    assert mean_lengths(np.full((1, 2), np.nan), splits, CUTS, LENGTHS).tolist() == [1.5]


def test_trees_of_what_is_no_number_are_refused() -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        leaf_counts_of(SCHEMA, ("x", "kind"), FEATURES, CUTS, "l1")
