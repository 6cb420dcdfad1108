"""Scores of public candidates, computed from exact counts, for mechanisms that choose one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.checks import check_one_of, check_size, check_whole
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array, Grid, Steps
from discreet.core.neighbors import Neighbors
from discreet.questions.question import BoundedSum, View
from discreet.questions.trees.forest_leaves import forest_leaves_of, node_marginals_of
from discreet.schema.schema import Schema

FINE = Grid(-20)  # for scores that are no whole numbers
ROUNDED = 2.0  # steps that rounding and floating point may add to how far a record moves such a score
Criterion = Literal["max", "gini", "entropy"]
TOGETHER = 64  # trees whose leaves are counted at a time
MOST_LABELLED = 2**20


@dataclass(frozen=True)
class Scores:
    """Scores in one or several rows, of which a mechanism chooses one in each. A curator alone can ask this.

    One release is a choice in every row, and it is one promise. A record changes the counts that one row is computed
    from, and moves all scores of that row in one direction, by `most` at most. A choice with noise of scale s then
    loses most / s, for one that joins or leaves; one that is replaced leaves a row and joins another, or the same, and
    loses 2 most / s. That is what a nonnegative bound of `most` in the norm linf makes `PermuteAndFlip` and
    `Exponential` draw, whose loss is that of a single row that moves by the whole bound.

    Parameters
    ----------
    sums : tuple of BoundedSum
        Public. Counts in whole numbers, in which no record is clipped; asked one after the other and joined.
    of : callable
        Public. Counts in, scores out, of shape (rows, candidates).
    most : float
        Public. How far one record moves a score.
    whole : bool
        Public. Whether scores are whole numbers; others are put on a grid, and what rounding adds is counted.
    size : int, optional
        Public. The number of records up to which `most` holds, where it depends on that. It has to be public: records
        that may be replaced, each a unit by itself.
    """

    sums: tuple[BoundedSum, ...]
    of: Callable[[Steps], Array]
    most: float
    whole: bool = True
    size: int | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return self.sums[0].columns

    def answer(self, view: View) -> Answer:
        """The scores, and how far one unit can move them."""
        self._check(view)
        scores = self.of(np.concatenate([view.sum(question) for question in self.sums]))
        grid, slack = (Grid(0), 0.0) if self.whole else (FINE, ROUNDED)
        bound = Bound("linf", self.most, nonnegative=True).times(view.unit.rows)
        return Answer(np.floor(scores / grid.step).astype(np.int64), grid, bound, view.neighbors, slack)

    def _check(self, view: View) -> None:
        """Refuse more records than the bound is for; their number is public, or nothing is said of it."""
        if self.size is None:
            return
        public = view.neighbors is Neighbors.REPLACE and view.unit.is_row
        if not public or sum(map(len, view.batches(self.columns))) > self.size:
            raise NotPermitted(
                "scores",
                f"how far a record moves them is known for {self.size} records, whose number is public",
                "Give the number of records, where they are replaced, or another criterion.",
                "Nothing was released.",
            )


def split_scores_of(
    schema: Schema,
    columns: tuple[str, ...],
    bins: int,
    target: str,
    features: Array,
    cuts: Array,
    criterion: Criterion,
    size: int = 1,
) -> Scores:
    """The scores of all cuts between cells of all columns, a row for each node; a record is in one of them.

    Friedman and Schuster 2010, section 4, with counts t_j on both sides j of a cut and t_jc of class c:

        max       sum of max_c t_jc: a record that joins raises it by 1 or nothing;
        gini      minus sum of t_j (1 - sum_c (t_jc / t_j)^2): lowers it by less than 2;
        entropy   sum of t_jc log2(t_jc / t_j): lowers it by at most log2(n + 1) + 1 / ln 2, among n records.

    In none of them does a record that joins raise one score and lower another. For gini the change of a side is
    (t - 2 t_c + S) / (t + 1), where S = sum_c t_c^2 / t, which is at least 0, since S >= 2 t_c - t, and at most
    2 t / (t + 1), since S <= t. For entropy it is f(t) - f(t_c), where f(t) = (t + 1) log2(t + 1) - t log2(t) grows.

    Parameters
    ----------
    schema, columns, bins, target, features, cuts
        Public. As for `node_marginals_of`.
    criterion : {"max", "gini", "entropy"}
        Public. The score.
    size : int
        Public. For entropy, the number of records, which has to be public: with more of them it is refused.
    """
    check_one_of("split scores", "criterion", criterion, get_args(Criterion))
    check_whole("split scores", "size", size)
    marginals = node_marginals_of(schema, columns, bins, target, features, cuts, "l1")
    shape = (features.shape[1] + 1, len(columns), bins, len(schema.category(target).values))

    def of(counts: Steps) -> Array:
        sides = sides_of(counts.reshape(shape).astype(np.float64))
        return np.asarray(SCORES[criterion](sides).reshape(shape[0], -1))

    most = {"max": 1.0, "gini": 2.0, "entropy": math.log2(size + 1) + 1 / math.log(2)}[criterion]
    return Scores((marginals,), of, most, criterion == "max", size if criterion == "entropy" else None)


def sides_of(counts: Array) -> Array:
    """Counts of classes left and right of every cut, of shape (nodes, columns, cuts, 2, classes)."""
    left = np.cumsum(counts, axis=2)[:, :, :-1]
    right = counts.sum(axis=2, keepdims=True) - left
    return np.stack([left, right], axis=3)


def largest(sides: Array) -> Array:
    """The number of records that are right if each side stands for its most frequent class."""
    return np.asarray(sides.max(axis=-1).sum(axis=-1))


def gini(sides: Array) -> Array:
    """Minus the Gini index of both sides, times their numbers of records."""
    whole = sides.sum(axis=-1)
    return np.asarray((np.square(sides).sum(axis=-1) / np.maximum(whole, 1e-12) - whole).sum(axis=-1))


def entropy(sides: Array) -> Array:
    """Minus the entropy of the class on both sides in bits, times their numbers of records."""
    shares = sides / np.maximum(sides.sum(axis=-1, keepdims=True), 1e-12)
    return np.asarray((sides * np.log2(np.maximum(shares, 1e-300))).sum(axis=(-1, -2)))


SCORES = {"max": largest, "gini": gini, "entropy": entropy}


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


def candidate_scores_of(schema: Schema, columns: tuple[str, ...], target: str, features: Array, cuts: Array) -> Scores:
    """Minus the Gini index after the last split of each tree, a row for each node that is split: as `split_scores_of`.

    The trees are one tree, with as many candidates for the splits of its last level. A record is in one node of that
    level, and a record that joins lowers all scores of this row by less than 2.

    Parameters
    ----------
    schema, columns, target, features, cuts
        Public. As for `forest_leaves_of`, alike in all levels but the last.
    """
    nodes, classes = (features.shape[1] + 1) // 2, len(schema.category(target).values)
    above = slice(nodes - 1)
    if (features[:, above] != features[:1, above]).any() or (cuts[:, above] != cuts[:1, above]).any():
        raise ParameterError("candidate splits", "the trees differ above their last level", "Give one tree's splits.")

    def of(counts: Steps) -> Array:
        return gini(counts.reshape(-1, nodes, 2, classes).astype(np.float64)).T

    return Scores((forest_leaves_of(schema, columns, target, features, cuts, "l1"),), of, 2.0, whole=False)


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
