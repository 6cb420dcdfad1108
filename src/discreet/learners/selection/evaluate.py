"""Private evaluation of a classifier on held-out records."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.fitting.task import TARGET
from discreet.learners.selection.evaluation import Evaluation
from discreet.learners.selection.score_cells import (
    ASKED,
    SCORE,
    Scored,
    as_read,
    class_order,
    placed,
    probability_at,
    score_schema,
    scored,
    target_column,
)
from discreet.learners.selection.score_table import MOST, score_plan
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.schema.schema import Category
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.columns.decoding import codes
from discreet.trust.sources.columns.raw_values import array_of
from discreet.trust.sources.matrix import Matrix


def evaluate(
    model: Any,
    data: Any,
    y: Any = None,
    *,
    target: str | None = None,
    bins: int | None = None,
    confidence: float = CONFIDENCE,
    population: bool = False,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Evaluation:
    """Release how well a classifier does, for one price: shares, AUC, losses, confusion matrix and calibration.

    Records are counted by their class and by their score, in cells that hold about equally many: the quantiles of the
    scores are found privately first. So a class of two in a hundred, whose scores are all small, has as many cells as
    any other. Intervals count the noise, what is not known within a cell, and, for the population, the sample.

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
    bins : int, optional
        Public. How many quantiles divide the scores of two classes, beside the middle; with 2 the middle alone does. By
        default as many as the smaller class allows, by its noisy count.
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
    Three bounded sums, composed, for the neighbors and the unit of the data set; add or remove one record for arrays.
    Every record is counted once in each level of a tree over the scores, once by its class and the side of the middle
    that its score is on, and once in one cell, of its class and of where the model puts it; with predicted classes or
    two cells, in the latter alone. All figures
    follow from them. Hay, Rastogi, Miklau and Suciu 2010; Dwork, McSherry, Nissim and Smith 2006, Example 3. Under
    secure aggregation, where parties run no code of the asker, the model is linear, alone or after transformers of this
    library, or its scores are a column.

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
    if bins is not None:
        check_whole(ASKED, "bins", bins, 2, MOST)
    budget = Budget(epsilon, delta)
    if isinstance(data, PrivateData):
        private = as_read(model, data)
        records = scored(model, private, target_column(data, y, target))
    else:
        private = _counted(model, data, y, budget)
        records = Scored(private.schema, TARGET, SCORE, lambda question: question, probability_at)
    plan = score_plan(records, private, bins, budget)
    with private.permit(plan.event, ASKED, key=key) as permit:
        table = plan.released(permit)
    return Evaluation(
        name=model if isinstance(model, str) else type(model).__name__,
        receipt=permit.receipt,
        confidence=confidence,
        population=population,
        classes=private.schema.category(records.target).values,
        table=table,
    )


def _counted(model: Any, X: Any, y: Any, budget: Budget) -> PrivateData:
    """Each record of an array as its class and the step of its score, behind a curator of their own."""
    if isinstance(model, str) or y is None:
        raise ParameterError(ASKED, "an array has no column of scores, and needs y", "Give a model, the array, and y.")
    classes = Category(tuple(np.asarray(model.classes_).tolist()))
    schema = score_schema(TARGET, classes)
    rows, labels = (X if hasattr(X, "columns") else array_of(X)), array_of(y)
    if len(rows) != len(labels):
        raise ParameterError(ASKED, f"X has {len(rows)} rows and y has {len(labels)}", "Give one target for each.")
    found = placed(model, rows, class_order(model, classes))
    return PrivateData.of(Matrix(np.column_stack([codes(labels, classes), found]), schema), schema, budget)
