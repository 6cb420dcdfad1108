"""How well every cut of every column separates the classes in each node of a tree: what ID3 chooses from."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np

from discreet.core.checks import check_one_of, check_whole
from discreet.core.grid import Array, Steps
from discreet.questions.scores import Scores
from discreet.questions.trees.node_marginals import node_marginals_of
from discreet.schema.schema import Schema

Criterion = Literal["max", "gini", "entropy"]


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
