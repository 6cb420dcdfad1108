"""Private evaluation of a regressor on held-out records."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.task import TARGET, features_of
from discreet.learners.selection.contrasts import PartOfTwo, not_contradicted
from discreet.learners.selection.evaluation import series_of
from discreet.learners.selection.row_by_row import NEAR, RowsTogether, row_by_row, treats_rows_alone
from discreet.learners.selection.score_cells import ASKED, as_read, features_taken, target_column, values_of
from discreet.questions.columns.column_moments import column_moments_of, count_weight
from discreet.questions.question import BoundedSum
from discreet.questions.transformation import ColumnTerm, Computed, KeptColumn, Transformation
from discreet.questions.transformed import transformed
from discreet.releases.ask import Released, asked
from discreet.releases.columns import Columns
from discreet.releases.estimate import Estimate
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Tabular
from discreet.schema.made_up_rows import rows_like, rows_of_schema, tries
from discreet.schema.schema import Number, Schema
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.columns.decoding import numbers
from discreet.trust.sources.columns.raw_values import array_of
from discreet.trust.sources.matrix import Matrix

RESIDUAL = "residual"
FINE = 2**10  # steps: rounding adds less than 1e-7 of the squared distance of the bounds to a mean squared error
ASIDE = 0.4987  # near one half, so that rounding has nearly no bias; not so near that half a step is in doubt
SMALL = 1e-6  # of a part, to differentiate
LEAST = 1e-9  # variance of a target, in units of the square of half the distance of its bounds, or of its residuals


def residual_schema(target: str, number: Number) -> Schema:
    """The schema of a target and of residuals, which lie between plus and minus the width of its bounds."""
    width = number.upper - number.lower
    return Schema({target: number, RESIDUAL: Number(-width, width)})


def predicted(model: Any, rows: Any, number: Number) -> Array:
    """What a model predicts for each row of an array or data frame; see `predicting`."""
    return predicting(model, number, rows_like(rows))(rows)


def predicting(model: Any, number: Number, made_up: Any) -> Callable[[Any], Array]:
    """What predicts for each row, whatever the others are; nan where the model refuses.

    Predictions are put on a grid of `FINE` steps between the bounds of the target. Its cells end where predictions that
    are simple fractions hardly ever lie; one that is near such an end is in doubt. Whether the model treats rows alone
    is decided on made-up rows.
    """
    width = number.upper - number.lower

    def compute(some: Any) -> RowsTogether:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            values = np.asarray(model.predict(some), dtype=np.float64).reshape(len(some))
        steps = (np.clip(values, number.lower - width, number.upper + width) - number.lower) * (FINE / width) + ASIDE
        given = number.lower + np.floor(steps) * (width / FINE)
        return RowsTogether(given, np.abs(steps - np.rint(steps)) < NEAR * FINE, steps / FINE)

    alone = treats_rows_alone(compute, tries(made_up))
    return lambda rows: row_by_row(compute, rows, alone)


def residual_moments_of(model: Any, data: PrivateData, target: str) -> BoundedSum:
    """The sum of `column_moments` of a numeric target and of what a model, or a column of predictions, leaves of it."""
    schema = data.schema  # what follows names the schema alone, so that a retry with a key recognises the question
    after = residual_schema(target, schema.number(target))
    inner = column_moments_of(after, (target, RESIDUAL))
    last = model if isinstance(model, str) else [step for _, step in getattr(model, "steps_", [("", model)])][-1]
    if isinstance(model, str) or hasattr(last, "coef_"):
        question: Any = inner
        for by in reversed(_transformations(model, schema, target, after)):
            question = transformed(question, by)
        assert isinstance(question, BoundedSum)
        return question
    if not data.curated and not data.local:
        raise ParameterError(
            ASKED,
            f"parties can compute linear predictions, and not those of {type(last).__name__}",
            "Let each party add the predictions as a column, and give the name of that column.",
        )
    features = features_taken(model, schema, target)
    made_up = values_of(rows_of_schema(schema, features), schema, features)
    predict = predicting(model, schema.number(target), made_up)

    def of(records: Array) -> Array:
        y = records[:, -1]
        apart = y - predict(values_of(records[:, :-1], schema, features))
        width = after.number(RESIDUAL).upper
        return inner.of(np.column_stack([y, np.clip(apart, -width, width)]))

    return dataclasses.replace(
        inner, of=of, columns=(*features, target), total=None, raw=False, recipe=None, tally=None
    )


def _transformations(model: Any, schema: Schema, target: str, after: Schema) -> list[Transformation]:
    """What computes residuals, record by record: of a column of predictions, or of a linear model after its steps."""
    if isinstance(model, str):
        both = (ColumnTerm(target, 1.0), ColumnTerm(model, -1.0))
        return [Transformation(schema, (KeptColumn(target), Computed(RESIDUAL, both, 0.0, after.number(RESIDUAL))))]
    *steps, last = [step for _, step in getattr(model, "steps_", [("", model)])]
    by, before = [], schema
    for step in steps:
        taken = tuple(name for name in features_of(before, step.categories) if name != target)
        by.append(step.transformation(before, taken, vars(step)))
        before = by[-1].after
    features = tuple(name for name in features_of(before, False) if name != target)
    weights = zip(features, np.ravel(last.coef_), strict=True)
    terms = (ColumnTerm(target, 1.0), *(ColumnTerm(name, -float(weight)) for name, weight in weights))
    residual = Computed(RESIDUAL, terms, -float(np.ravel(last.intercept_)[0]), after.number(RESIDUAL))
    return [*by, Transformation(before, (KeptColumn(target), residual))]


@dataclass(frozen=True, kw_only=True)
class RegressionEvaluation(Tabular):
    """R2 and the mean squared error of a regressor, and the mean of its residuals: for these data.

    Parameters
    ----------
    released : Released
        The noisy sum of `column_moments` of the target and of the residuals.
    number : Number
        Public. The bounds of the target.
    """

    released: Released
    number: Number

    @cached_property
    def r2(self) -> Estimate:
        """One less the mean squared error over the variance of the target, as in scikit-learn.

        Its interval is that of the squared residuals over these and the squares of the target together.
        """
        return self._estimate("R2", _squares, lambda part: 1 - part / max(1 - part, LEAST))

    @cached_property
    def mse(self) -> Estimate:
        """The mean squared error, in squared units of the target."""
        return self._estimate("mean squared error", _squares_and_rest, lambda part: self._width**2 * part)

    @cached_property
    def bias(self) -> Estimate:
        """The mean of the target less its prediction."""
        return self._estimate("mean residual", _above_and_below, lambda part: self._width * (2 * part - 1))

    def tabulated(self) -> Columns:
        found = [self.r2, self.mse, self.bias]
        return Columns({"measure": [one.name for one in found]}, (series_of("value", found),))

    @property
    def _width(self) -> float:
        return self.number.upper - self.number.lower

    def _estimate(self, name: str, of: Callable[[Array], Array], read: Callable[[float], float]) -> Estimate:
        """What is read off the first of two numbers as a part of both."""
        part, spread = PartOfTwo(self.released.values, of), self.released.spread
        ends = not_contradicted(part, part, spread, False, self.confidence or CONFIDENCE, Number(0.0, 1.0))
        error = part.supposed(part.value).deviation(spread, False) / max(float(part.both.sum()), 1.0)
        slope = read(min(part.value + SMALL, 1.0)) - read(max(part.value - SMALL, 0.0))
        low, high = sorted(-math.inf if of is _squares and end == 1 else read(end) for end in ends)
        return Estimate(
            name=name,
            value=min(max(read(part.value), low), high),
            standard_error=abs(slope) / (2 * SMALL) * error,
            low=low,
            high=high,
            confidence=self.confidence,
            receipt=self.receipt,
        )


def _squares(sums: Array) -> Array:
    """The squared residuals, and the squared distances of the target from its mean.

    The unit is half the distance of the bounds; that of a residual is twice as long.
    """
    n = float(sums[0]) / count_weight(2)
    return np.array([2 * (sums[4] + n), (sums[3] + n) / 2 - sums[1] ** 2 / max(n, 1.0)])


def _squares_and_rest(sums: Array) -> Array:
    """The squared residuals, in their own unit, and how much less they are than the most possible."""
    n = float(sums[0]) / count_weight(2)
    return np.array([n + sums[4], n - sums[4]]) / 2


def _above_and_below(sums: Array) -> Array:
    """How far residuals are above the least possible, and below the most."""
    n = float(sums[0]) / count_weight(2)
    return np.array([n + sums[2], n - sums[2]]) / 2


def r2_of(sums: Array) -> float:
    """R2, from the moments of the target and of its residuals, whose unit is twice as long."""
    mean, square = sums[1] / _count(sums), (sums[3] / _count(sums) + 1) / 2
    return float(1 - 4 * (sums[4] / _count(sums) + 1) / 2 / max(float(square - mean**2), LEAST))


def mse_of(sums: Array) -> float:
    """The mean squared error, in units of the square of the distance of the target's bounds."""
    return float(sums[4] / _count(sums) + 1) / 2


def _count(sums: Array) -> float:
    return max(float(sums[0]) / count_weight(2), 1.0)


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
