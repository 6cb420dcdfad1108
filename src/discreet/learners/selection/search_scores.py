"""The scores that a search compares candidates by: all of them follow from noisy counts or moments.

One record more or less moves one count of each release by one, whatever the scores and however few records a class has:
the noise is for that alone. A score is computed from the noisy release, so that its own sensitivity, which would be
large where a class is small, does not matter (post-processing: Dwork and Roth 2014, Proposition 2.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array
from discreet.learners.selection.contrasts import CellMean, Pairs
from discreet.learners.selection.evaluate_regression import mse_of, r2_of
from discreet.learners.selection.losses import LOSSES, ranked
from discreet.learners.selection.score_table import ScoreTable

SURE = 4.0  # deviations of the noise on a number of records: fewer are taken for so many, so that noise wins no search


@dataclass(frozen=True)
class SearchScore:
    """A score of a classifier: the higher, the better.

    Parameters
    ----------
    bins : int, optional
        Public. 2 where predicted classes are enough, None where scores are needed.
    of : callable
        A noisy table in, the score out.
    two : bool
        Public. Whether it is one of two classes alone.
    """

    bins: int | None
    of: Callable[[ScoreTable], float]
    two: bool = True


def least_records(table: ScoreTable, rows: int) -> float:
    """The number of records that noise on so many rows of the table could feign."""
    return max(SURE * table.spread.stddev * math.sqrt(rows * table.counts.shape[1]), 1.0)


def accuracy(table: ScoreTable) -> float:
    """The share of records that are put into their class."""
    return float(np.trace(table.counts) / max(float(table.counts.sum()), least_records(table, len(table.counts))))


def balanced_accuracy(table: ScoreTable) -> float:
    """The mean recall of all classes."""
    sizes = np.maximum(table.counts.sum(axis=1), least_records(table, 1))
    return float(np.clip(np.diag(table.counts) / sizes, 0.0, 1.0).mean())


def f1(table: ScoreTable) -> float:
    """Twice the hits of the second class over the hits, the records of this class, and those that are put into it."""
    hits = 2 * float(table.counts[1, 1])
    whole = hits + float(table.counts[0, 1] + table.counts[1, 0])
    return min(max(hits / max(whole, least_records(table, 2)), 0.0), 1.0)


def roc_auc(table: ScoreTable) -> float:
    """The chance that a score of the second class is higher than one of the first; within a cell it is one half."""
    first, second = table.counts
    pairs = Pairs(first, second, ranked(np.full(len(first), 0.5))).supposed(0.5)
    n, m = np.maximum([first.sum(), second.sum()], least_records(table, 1))
    return min(max(0.5 + pairs.value / float(n * m), 0.0), 1.0)


def less(loss: str) -> Callable[[ScoreTable], float]:
    """Minus the mean of a loss, in the middle of each cell: it is between bounds, so that no record weighs much."""

    def of(table: ScoreTable) -> float:
        assert table.cells is not None
        middle, _, _ = LOSSES[loss].between(table.cells.edges)
        lost = CellMean(table.counts.ravel(), middle.ravel()).supposed(0.0).value
        mean = lost / max(float(table.counts.sum()), least_records(table, 2))
        return -min(max(mean, 0.0), LOSSES[loss].most)

    return of


SCORES = {
    "accuracy": SearchScore(2, accuracy, two=False),
    "balanced_accuracy": SearchScore(2, balanced_accuracy, two=False),
    "f1": SearchScore(2, f1),
    "roc_auc": SearchScore(None, roc_auc),
    "neg_log_loss": SearchScore(None, less("log loss")),
    "neg_brier_score": SearchScore(None, less("Brier score")),
}

REGRESSION_SCORES: dict[str, Callable[[Array], float]] = {
    "r2": r2_of,
    "neg_mean_squared_error": lambda sums: -mse_of(sums),
}
