"""Private evaluation of a regressor on held-out records."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.fitting.task import TARGET
from discreet.learners.selection.regression_evaluation import RegressionEvaluation
from discreet.learners.selection.residual_moments import RESIDUAL, predicted, residual_moments_of, residual_schema
from discreet.learners.selection.scores import ASKED, as_read, target_column
from discreet.questions.columns.column_moments import column_moments_of
from discreet.releases.ask import asked
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.schema.schema import Number
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.columns.decoding import numbers
from discreet.trust.sources.columns.raw_values import array_of
from discreet.trust.sources.matrix import Matrix


def evaluate_regression(
    model: Any,
    data: Any,
    y: Any = None,
    *,
    target: str | None = None,
    target_bounds: Any = None,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> RegressionEvaluation:
    """Release how well a regressor does: R2, mean squared error and mean residual, for one price.

    Parameters
    ----------
    model : regressor, or str
        Public. A fitted regressor, of this library or of scikit-learn, that may be shown to everybody: an evaluation
        protects the records of `data` alone. Or the name of a column of private data that holds its predictions.
    data : PrivateData, or array of shape (n, n_features)
        The records, which the model should not have been fitted to. One with a missing target, or one that the model
        refuses, is not counted.
    y : array of shape (n,), optional
        The targets of an array's records.
    target : str, optional
        Public. The numeric column to predict, of private data.
    target_bounds : (lower, upper), optional
        Public. Of the target, for arrays; those of the model where it has any. Residuals are cut to their distance.
    confidence : float
        Public. Of each interval, which is for these data.
    epsilon, delta : float
        Public. What the evaluation costs.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Guarantee
    ---------
    One release of one bounded sum, that of `column_moments`, for the neighbors and the unit of the data set; add or
    remove one record for arrays. All figures follow from it. Dwork, McSherry, Nissim and Smith 2006. Under secure
    aggregation the model is linear, alone or after transformers of this library, or its predictions are a column.

    Examples
    --------
    >>> from discreet.learners import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (60_000, 2))
    >>> y = X @ [2.0, -1.0] + rng.normal(0, 0.3, 60_000)
    >>> model = Ridge(bounds=(-1, 1), target_bounds=(-4, 4)).fit(X[:20_000], y[:20_000])
    >>> found = evaluate_regression(model, X[20_000:], y[20_000:], epsilon=1.0)
    >>> 0.8 < found.r2.value <= 1.0, found.mse.value < 0.3
    (True, True)
    """
    check_confidence(ASKED, confidence)
    budget = Budget(epsilon, delta)
    if isinstance(data, PrivateData):
        private, column = as_read(model, data), target_column(data, y, target)
        question = residual_moments_of(model, private, column)
    else:
        private, column = _opened(model, data, y, target_bounds, budget), TARGET
        question = column_moments_of(private.schema, (TARGET, RESIDUAL))
    released = asked(private, question, budget, ASKED, key)
    return RegressionEvaluation(
        name=model if isinstance(model, str) else type(model).__name__,
        receipt=released.receipt,
        confidence=confidence,
        released=released,
        number=private.schema.number(column),
    )


def _opened(model: Any, X: Any, y: Any, target_bounds: Any, budget: Budget) -> PrivateData:
    """Each record of an array as its target and its residual, behind a curator of their own."""
    bounds = getattr(model, "target_bounds", None) if target_bounds is None else target_bounds
    if isinstance(model, str) or y is None or bounds is None:
        remedy = "Give a model, the array, y, and target_bounds=(lower, upper) from what you know without the data."
        raise ParameterError(ASKED, "an array needs a model, y, and the bounds of y", remedy)
    number = Number(*bounds)
    schema = residual_schema(TARGET, number)
    rows, targets = (X if hasattr(X, "columns") else array_of(X)), numbers(array_of(y))
    if len(rows) != len(targets):
        raise ParameterError(ASKED, f"X has {len(rows)} rows and y has {len(targets)}", "Give one target for each.")
    inside = np.clip(targets, number.lower, number.upper)
    apart = inside - predicted(model, rows, number)
    return PrivateData.of(Matrix(np.column_stack([inside, apart]), schema), schema, budget)
