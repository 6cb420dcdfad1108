"""Private evaluation of a classifier on held-out records."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.task import TARGET
from discreet.learners.selection.evaluation import Evaluation
from discreet.learners.selection.scores import (
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
from discreet.releases.ask import asked
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.columns.decoding import codes
from discreet.trust.sources.columns.raw_values import array_of
from discreet.trust.sources.matrix import Matrix

BINS = 20


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
