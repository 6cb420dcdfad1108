"""How well public trees separate classes, and which class is most frequent in each leaf: both to be chosen from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.core.checks import check_size
from discreet.core.grid import Array, Steps
from discreet.questions.scores import Scores
from discreet.questions.trees.forest_leaves import forest_leaves_of
from discreet.schema.schema import Schema

TOGETHER = 64  # trees whose leaves are counted at a time
MOST_LABELLED = 2**20


def tree_scores_of(schema: Schema, columns: tuple[str, ...], target: str, features: Array, cuts: Array) -> Scores:
    """The number of records that each tree classifies right, if each leaf stands for its most frequent class.

    A record that joins raises one count by one, and so a maximum by one or none: all scores rise by 1 at most.

    Parameters
    ----------
    schema, columns, target, features, cuts
        Public. As for `forest_leaves_of`.
    """
    leaves, classes = features.shape[1] + 1, len(schema.category(target).values)

    def of(counts: Steps) -> Array:
        return np.asarray(counts.reshape(1, -1, leaves, classes).max(axis=-1).sum(axis=-1), dtype=np.float64)

    return _scored(schema, columns, target, features, cuts, of)


def labelled_tree_scores_of(
    schema: Schema, columns: tuple[str, ...], target: str, features: Array, cuts: Array
) -> Scores:
    """The number of records that each labelled tree classifies right: every tree with every choice of a class per leaf.

    The labels of a tree are in the order of the numbers that they write in as many digits as there are leaves. A record
    that joins raises the scores of all that classify it right by one.

    Parameters
    ----------
    schema, columns, target, features, cuts
        Public. As for `forest_leaves_of`.
    """
    leaves, classes = features.shape[1] + 1, len(schema.category(target).values)
    check_size("labelled trees", len(features) * classes**leaves, MOST_LABELLED)

    def of(counts: Steps) -> Array:
        by_leaf = np.moveaxis(counts.reshape(-1, leaves, classes), 1, 0)
        scores = by_leaf[0]
        for leaf in by_leaf[1:]:
            scores = (scores[:, :, None] + leaf[:, None, :]).reshape(len(leaf), -1)
        return np.asarray(scores.reshape(1, -1), dtype=np.float64)

    return _scored(schema, columns, target, features, cuts, of)


def leaf_counts_of(schema: Schema, columns: tuple[str, ...], target: str, features: Array, cuts: Array) -> Scores:
    """How many records of each class are in each leaf of one tree, a row for each leaf; a record is in one of them.

    Parameters
    ----------
    schema, columns, target, features, cuts
        Public. As for `forest_leaves_of`, with a single tree.
    """
    sums = (forest_leaves_of(schema, columns, target, features[:1], cuts[:1], "l1"),)
    classes = len(schema.category(target).values)
    return Scores(sums, lambda counts: counts.reshape(-1, classes).astype(np.float64), 1.0)


def _scored(
    schema: Schema, columns: tuple[str, ...], target: str, features: Array, cuts: Array, of: Callable[[Steps], Array]
) -> Scores:
    """Scores from the counts of classes in the leaves of all trees, which are counted some at a time."""
    starts = range(0, len(features), TOGETHER)
    parts = [(features[start : start + TOGETHER], cuts[start : start + TOGETHER]) for start in starts]
    sums = tuple(forest_leaves_of(schema, columns, target, *part, "l1") for part in parts)
    return Scores(sums, of, 1.0)
