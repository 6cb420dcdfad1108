"""How far a model's predictions are from a numeric target: moments of the target and of its residuals."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.task import features_of
from discreet.learners.selection.row_by_row import NEAR, RowsTogether, row_by_row, treats_rows_alone
from discreet.learners.selection.scores import ASKED, features_taken, values_of
from discreet.questions.columns.column_moments import column_moments_of
from discreet.questions.question import BoundedSum
from discreet.questions.transformation import ColumnTerm, Computed, KeptColumn, Transformation
from discreet.questions.transformed import transformed
from discreet.schema.made_up_rows import rows_like, rows_of_schema, tries
from discreet.schema.schema import Number, Schema
from discreet.trust.private_data import PrivateData

RESIDUAL = "residual"
FINE = 2**10  # steps: rounding adds less than 1e-7 of the squared distance of the bounds to a mean squared error
ASIDE = 0.4987  # near one half, so that rounding has nearly no bias; not so near that half a step is in doubt


def residual_schema(target: str, number: Number) -> Schema:
    """Of a target, and of residuals, which lie between plus and minus the distance of its bounds."""
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
