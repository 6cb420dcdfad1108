"""Private evaluation of a classifier on held-out records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.task import TARGET
from discreet.learners.selection.score_cells import (
    ASKED,
    FARTHEST,
    SCORE,
    as_read,
    cells_of,
    class_order,
    placed,
    target_column,
)
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.releases.ask import Released, asked
from discreet.releases.columns import Columns, Series
from discreet.releases.estimate import Estimate, estimate_of
from discreet.releases.figure import Figure, Sampling
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE, whole_half_width
from discreet.releases.table import Table, Tabular
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.columns.decoding import codes
from discreet.trust.sources.columns.raw_values import array_of
from discreet.trust.sources.matrix import Matrix

SHARE = Number(0.0, 1.0)
BINS = 20


@dataclass(frozen=True, kw_only=True)
class Evaluation(Tabular):
    """The accuracy of a classifier, and what else its noisy table of classes and scores shows.

    Printed, it is a table of the accuracy, the AUC, and the recall of each class. `confusion`, `calibration` and the
    single estimates follow from the same release, and cost nothing more.

    Parameters
    ----------
    classes : tuple of str
        Public. The classes, in order.
    released : Released
        The noisy counts, by class and then by cell of the score (for two classes) or predicted class.
    edges : array, optional
        Public. The ends of the cells of the score; None where the cells are predicted classes.
    """

    classes: tuple[str, ...]
    released: Released
    edges: Array | None = None

    @cached_property
    def counts(self) -> Array:
        """The noisy counts, a row for each class."""
        return self.released.values.reshape(len(self.classes), -1)

    @cached_property
    def accuracy(self) -> Estimate:
        """The share of records that are put into their class."""
        return self._share("accuracy", self._correct, np.ones_like(self.counts))

    @cached_property
    def auc(self) -> Estimate:
        """The chance that a record of the second class has a higher score than one of the first.

        Scores are those of the cells: two records in one cell count one half. Hanley and McNeil 1982; for the
        population the variance of DeLong, DeLong and Clarke-Pearson 1988.
        """
        if self.edges is None:
            raise ParameterError(
                "AUC", "there are predicted classes, and no scores", "Evaluate a score of two classes."
            )
        first, second = self.counts
        n, m = np.maximum(self.counts.sum(axis=1), 1.0)
        below = (np.cumsum(first) - 0.5 * first) / n  # the share of the first class below a score
        above = (second.sum() - np.cumsum(second) + 0.5 * second) / m
        value = float(second @ below / m)
        weights = np.concatenate([(above - value) / n, (below - value) / m])
        sampling = None
        if self.population:
            variance = first @ np.square(above - value) / n**2 + second @ np.square(below - value) / m**2
            sampling = _sampling(float(variance), min(n, m), weights.size)
        return self._estimate("AUC", Figure(min(max(value, 0.0), 1.0), weights, sampling))

    @cached_property
    def recall(self) -> tuple[Estimate, ...]:
        """The share of the records of each class that are put into it."""
        own = zip(self.classes, np.eye(len(self.classes))[:, :, None] * np.ones_like(self.counts), strict=True)
        return tuple(self._share(f"recall of {name}", row * self._correct, row) for name, row in own)

    @cached_property
    def confusion(self) -> Table:
        """How many records of each class are put into each class: intervals are for these data."""
        k = len(self.classes)
        parts = self.counts.reshape(k, k, -1)  # cells of scores: the lower half is the first class
        half = whole_half_width(self.released.spread, np.ones(parts.shape[-1]), self.confidence or CONFIDENCE)
        labels = {"class": np.repeat(self.classes, k).tolist(), "predicted": list(self.classes) * k}
        series = Series.around("count", parts.sum(axis=-1).ravel(), half)
        about = {"name": f"confusion: {self.name}", "receipt": self.receipt, "confidence": self.confidence}
        return Table(labels=labels, series=(series,), **about)  # type: ignore[arg-type]

    @cached_property
    def calibration(self) -> Table:
        """The share of the second class among the records in each cell of the score."""
        if self.edges is None:
            raise ParameterError("calibration", "there are no scores", "Evaluate a score of two classes.")
        cells = np.eye(self.counts.shape[1])
        second = np.array([[0.0], [1.0]])
        found = [self._share("share", second * cell, np.ones((2, 1)) * cell) for cell in cells]
        return Table(
            name=f"calibration: {self.name}",
            receipt=self.receipt,
            confidence=self.confidence,
            population=self.population,
            labels={"score": 0.5 * self.edges[1:] + 0.5 * self.edges[:-1]},
            series=(series_of(f"share of {self.classes[1]}", found),),
        )

    def tabulated(self) -> Columns:
        """The accuracy, the AUC of scores, and the recall of each class."""
        found = [self.accuracy, *([] if self.edges is None else [self.auc]), *self.recall]
        return Columns({"measure": [one.name for one in found]}, (series_of("value", found),))

    @property
    def _correct(self) -> Array:
        """1 for each cell that is put into its class."""
        k = len(self.classes)
        return np.repeat(np.eye(k), self.counts.shape[1] // k, axis=1)

    def _share(self, name: str, part: Array, whole: Array) -> Estimate:
        """The counts of some cells over those of more: a ratio of two noisy sums."""
        total = max(float((whole * self.counts).sum()), 1.0)
        value = min(max(float((part * self.counts).sum()) / total, 0.0), 1.0)
        weights = ((part - value * whole) / total).ravel()
        sampling = _sampling(value * (1 - value) / total, total, weights.size) if self.population else None
        return self._estimate(name, Figure(value, weights, sampling))

    def _estimate(self, name: str, figure: Figure) -> Estimate:
        return estimate_of(name, figure, self.released, self.confidence or CONFIDENCE, SHARE)


def _sampling(variance: float, records: float, size: int) -> Sampling:
    """The sampling error of a mean of so many records, whose variance is known as well as that of as many."""
    return Sampling(max(variance, 0.0), np.zeros(size), 2 * variance**2 / max(records - 1, 1.0), records)


def series_of(name: str, found: Sequence[Estimate]) -> Series:
    """Estimates in a column."""
    rows = [(one.value, one.standard_error, one.low, one.high) for one in found]
    return Series(name, *np.array(rows, dtype=np.float64).T)


def evaluate(
    model: Any,
    data: Any,
    y: Any = None,
    *,
    target: str | None = None,
    bins: int = BINS,
    confidence: float = CONFIDENCE,
    population: bool = False,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Evaluation:
    """Release how well a classifier does: accuracy, AUC, recall, confusion matrix and calibration, for one price.

    Parameters
    ----------
    model : classifier, or str
        Public. A fitted classifier, of this library or of scikit-learn, that may be shown to everybody: an evaluation
        protects the records of `data` alone. Or the name of a column of private data that holds its scores, between
        bounds whose middle divides the classes, or its predicted classes.
    data : PrivateData, or array of shape (n, n_features)
        The records, which the model should not have been fitted to. One with a missing class, or one that the model
        refuses, is not counted.
    y : array of shape (n,), optional
        The classes of an array's records.
    target : str, optional
        Public. The column of classes, of private data.
    bins : int
        Public. How many cells the scores of two classes are cut into: an even number.
    confidence : float
        Public. Of each interval.
    population : bool
        Public. Whether intervals are for the population that the records are a sample of, and not for these data.
    epsilon, delta : float
        Public. What the evaluation costs.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Guarantee
    ---------
    One release of one bounded sum: every record is counted in one cell, of its class and of where the model puts it,
    for the neighbors and the unit of the data set; add or remove one record for arrays. All figures follow from it.
    Dwork, McSherry, Nissim and Smith 2006, Example 3. Under secure aggregation, where parties run no code of the asker,
    the model is linear, alone or after transformers of this library, or its scores are a column.

    Examples
    --------
    >>> from discreet.learners import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 2))
    >>> y = X @ [2.0, -1.0] + rng.logistic(0, 0.2, 20_000) > 0
    >>> model = LogisticRegression(bounds=(-1, 1), classes=[False, True]).fit(X[:15_000], y[:15_000])
    >>> found = evaluate(model, X[15_000:], y[15_000:], epsilon=1.0)
    >>> [(one.name, round(one.value, 1)) for one in (found.accuracy, found.auc, *found.recall)]
    [('accuracy', 0.9), ('AUC', 1.0), ('recall of false', 0.9), ('recall of true', 0.9)]
    """
    check_confidence(ASKED, confidence)
    check_whole(ASKED, "bins", bins, 2, 2**12)
    if bins % 2:
        raise ParameterError(ASKED, f"bins is {bins}", "Give an even number, so that one half is an edge.")
    budget, bins = Budget(epsilon, delta), int(bins)
    if isinstance(data, PrivateData):
        private, column = as_read(model, data), target_column(data, y, target)
        question = cells_of(model, private, column, bins)
    else:
        private, column = _counted(model, data, y, bins, budget), TARGET
        question = contingency_of(private.schema, (TARGET, SCORE), (0, 0))
    released = asked(private, question, budget, ASKED, key)
    classes = private.schema.category(column).values
    return Evaluation(
        name=model if isinstance(model, str) else type(model).__name__,
        receipt=released.receipt,
        confidence=confidence,
        population=population,
        classes=classes,
        released=released,
        edges=_edges(model, private, question, len(classes), bins),
    )


def _counted(model: Any, X: Any, y: Any, bins: int, budget: Budget) -> PrivateData:
    """Each record of an array as its class and the place of its score, behind a curator of their own."""
    if isinstance(model, str) or y is None:
        raise ParameterError(ASKED, "an array has no column of scores, and needs y", "Give a model, the array, and y.")
    classes = Category(tuple(np.asarray(model.classes_).tolist()))
    places = bins if len(classes.values) == 2 else len(classes.values)
    schema = Schema({TARGET: classes, SCORE: Category(range(places))})
    rows, labels = (X if hasattr(X, "columns") else array_of(X)), array_of(y)
    if len(rows) != len(labels):
        raise ParameterError(ASKED, f"X has {len(rows)} rows and y has {len(labels)}", "Give one target for each.")
    found = placed(model, rows, bins, class_order(model, classes))
    return PrivateData.of(Matrix(np.column_stack([codes(labels, classes), found]), schema), schema, budget)


def _edges(model: Any, data: PrivateData, question: BoundedSum, classes: int, bins: int) -> Array | None:
    """The ends of the cells of a score; None where there are predicted classes."""
    if isinstance(model, str):
        column = data.schema.columns[model]
        return np.linspace(column.lower, column.upper, bins + 1) if isinstance(column, Number) else None
    if classes != 2:
        return None
    linear = question.recipe is not None and question.recipe.name == "transformed"
    return 1 / (1 + np.exp(-np.linspace(-FARTHEST, FARTHEST, bins + 1))) if linear else np.linspace(0, 1, bins + 1)
