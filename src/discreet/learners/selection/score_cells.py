"""Each record as its class and its score, or as its class and the predicted one: what an evaluation counts."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.task import features_of
from discreet.learners.selection.row_by_row import NEAR, RowsTogether, row_by_row, treats_rows_alone
from discreet.questions.question import BoundedSum
from discreet.questions.transformation import ColumnTerm, Computed, KeptColumn, Transformation
from discreet.questions.transformed import transformed
from discreet.schema.made_up_rows import rows_like, rows_of_schema, tries
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.columns.decoding import codes

ASKED = "evaluation"
BELOW = 2.0**-21  # taken from scores, so that one half, like a tie, stands for the first class
FARTHEST = 8.0  # a linear score beyond which scores are not distinguished: the logistic function is 0.9997 there
SCORE = "score"
FINE = 2**12  # steps of a score: scores within one step count as equal
OUTER = 2.0**-6  # probabilities that much beyond 0 and 1 have an infinite step: so steps at the ends are 3e-5 long
END = math.log((1 + OUTER) / OUTER)
STEPS = Number(0.0, float(FINE))


@dataclass(frozen=True)
class Scored:
    """Records as their class and their score: questions about these two columns are asked of the records themselves.

    Parameters
    ----------
    schema : Schema
        Public. Of both columns: the score is a number, whose middle divides two classes, or a predicted class.
    target, score : str
        Public. Their names.
    asked : callable
        A question about them in, the same about the records out.
    score_at : callable
        What a place between the bounds of the score says, as a rule a probability.
    """

    schema: Schema
    target: str
    score: str
    asked: Callable[[BoundedSum], BoundedSum]
    score_at: Callable[[Array], Array]

    @property
    def numeric(self) -> bool:
        """Whether there are scores, and not predicted classes alone."""
        return isinstance(self.schema.columns[self.score], Number)


def step_of(p: Array) -> Array:
    """Where probabilities lie among `FINE` steps, which are about as long as p (1 - p) / 500: rare classes have many.

    Examples
    --------
    >>> step_of(np.array([0.0, 0.5, 1.0]))
    array([   0., 2048., 4096.])
    """
    return FINE * (0.5 + np.log((p + OUTER) / (1 - p + OUTER)) / (2 * END))


def probability_at(step: Array) -> Array:
    """The probability at a step: the inverse of `step_of`."""
    return np.clip((1 + 2 * OUTER) / (1 + np.exp(END * (1 - 2 * step / FINE))) - OUTER, 0.0, 1.0)


def probabilities(model: Any, rows: Any) -> Array:
    """The probability of each class; from a linear score by the logistic function; or 1 for the predicted class."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        if hasattr(model, "predict_proba"):
            return np.asarray(model.predict_proba(rows), dtype=np.float64)
        if hasattr(model, "decision_function") and len(model.classes_) == 2:
            upper = 1 / (1 + np.exp(-np.clip(model.decision_function(rows), -700, 700)))
            return np.column_stack([1 - upper, upper])
        return (np.asarray(model.predict(rows))[:, None] == np.asarray(model.classes_)).astype(np.float64)


def class_order(model: Any, classes: Category) -> list[int]:
    """The place of each class among those of a model, which must be the same."""
    places = codes(np.array([*model.classes_], dtype=object), classes)
    if sorted(places.tolist()) != list(range(len(classes.values))):
        obstacle = f"the model has the classes {list(model.classes_)}, and the data {list(classes.values)}"
        raise ParameterError(ASKED, obstacle, "Give data and a model with the same classes.")
    return np.argsort(places).tolist()


def placed(model: Any, rows: Any, order: Sequence[int]) -> Array:
    """The place of each row of an array or data frame; see `placing`. How a model treats rows, made-up ones show."""
    return placing(model, order, rows_like(rows))(rows)


def placing(model: Any, order: Sequence[int], made_up: Any) -> Callable[[Any], Array]:
    """What puts each row in the middle of a step of the score, or among the classes where there are more than two.

    The score is that of the second class, and classes are counted, in this order of those of the model.

    A row that the model refuses has none (nan); where a row is put depends on no other row. Whether the model treats
    rows alone is decided on made-up rows.
    """

    def places(some: Any) -> RowsTogether:
        p = probabilities(model, some)[:, order]
        if p.shape[1] == 2:
            score = np.clip(p[:, 1] - BELOW, 0.0, 1.0)
            steps = step_of(score)
            least, most = step_of(np.maximum(score - NEAR, 0.0)), step_of(np.minimum(score + NEAR, 1.0))
            step = np.minimum(np.floor(steps), FINE - 1) + 0.5
            return RowsTogether(step, np.floor(least) != np.minimum(np.floor(most), FINE - 1), p)
        first, second = np.sort(p, axis=1)[:, -1], np.sort(p, axis=1)[:, -2]
        likeliest = np.where(np.isnan(first), np.nan, np.argmax(p, axis=1).astype(np.float64))
        return RowsTogether(likeliest, first - second < NEAR, p)

    alone = treats_rows_alone(places, tries(made_up))
    return lambda rows: row_by_row(places, rows, alone)


def scored(model: Any, data: PrivateData, target: str) -> Scored:
    """Records as a model, or a column of scores or of classes, puts them."""
    schema = data.schema  # what follows names the schema alone, so that a retry with a key recognises the question
    classes = schema.category(target)
    if isinstance(model, str):
        schema.values((model,))
        return Scored(schema, target, model, lambda question: question, lambda place: place)
    if not data.curated and not data.local:
        return _linearly_scored(model, schema, target)
    features, order = features_taken(model, schema, target), class_order(model, classes)
    put = placing(model, order, values_of(rows_of_schema(schema, features), schema, features))

    def pairs(records: Array) -> Array:
        found = np.column_stack([records[:, -1], put(values_of(records[:, :-1], schema, features))])
        return np.where(np.isnan(found).any(axis=1, keepdims=True), np.nan, found)

    after = score_schema(target, classes)

    def asked(question: BoundedSum) -> BoundedSum:
        taken, fused = [tuple(after.columns).index(name) for name in question.columns], question.total

        def of(records: Array) -> Array:
            return question.of(pairs(records)[:, taken])

        def total(records: Array) -> Array:
            assert fused is not None
            return np.asarray(fused(pairs(records)[:, taken]))

        return BoundedSum(of, question.bound, (*features, target), question.grid, total)

    return Scored(after, target, tuple(after.columns)[1], asked, probability_at)


def score_schema(target: str, classes: Category) -> Schema:
    """The schema of a class, and of the step of its score or the place of the predicted class."""
    size = len(classes.values)
    score = SCORE if target != SCORE else f"{SCORE}_"
    return Schema({target: classes, score: STEPS if size == 2 else Category(range(size))})


def as_read(model: Any, data: PrivateData) -> PrivateData:
    """The data with the lists of values that a model bought in place of their text."""
    if not getattr(model, "texts", False):
        return data
    first, columns = getattr(model, "steps_", [("", model)])[0][1], data.schema.columns
    bought = zip(map(str, model.feature_names_in_), first.categories_, strict=True)
    return data.listing({name: Category(one) for name, one in bought if isinstance(columns.get(name), Text)})


def features_taken(model: Any, schema: Schema, target: str) -> tuple[str, ...]:
    """The columns that a model was fitted to."""
    named = getattr(model, "feature_names_in_", None)
    apart = (target, *getattr(model, "others", ()))
    found = tuple(name for name in features_of(schema, getattr(model, "categories", False)) if name not in apart)
    features = found if named is None else tuple(map(str, named))
    if len(features) != model.n_features_in_ or not set(features) <= set(schema.columns):
        obstacle = f"the model was fitted to {model.n_features_in_} features, and the data have {', '.join(found)}"
        raise ParameterError(ASKED, obstacle, "Give data with the columns that it was fitted to.")
    return features


def values_of(records: Array, schema: Schema, features: tuple[str, ...]) -> NDArray[Any]:
    """Rows as a model takes them: categories by their values."""
    if not any(isinstance(schema.columns[name], Category) for name in features):
        return records
    values = records.astype(object)
    for place, name in enumerate(features):
        column = schema.columns[name]
        if isinstance(column, Category):
            listed = np.array([*column.values, None], dtype=object)
            values[:, place] = listed[np.where(np.isnan(records[:, place]), -1, records[:, place]).astype(np.intp)]
    return values


def _linearly_scored(model: Any, schema: Schema, target: str) -> Scored:
    """`scored` for parties, who run no code of the asker: for two classes and a linear score, by recipes."""
    steps = [step for _, step in getattr(model, "steps_", [("", model)])]
    last, by, before = steps[-1], [], schema
    if not hasattr(last, "coef_") or len(model.classes_) != 2:
        raise ParameterError(
            ASKED,
            f"parties can compute linear scores of two classes, and not those of {type(last).__name__}",
            "Let each party add the model's scores or classes as a column, and give the name of that column.",
        )
    for step in steps[:-1]:
        taken = tuple(name for name in features_of(before, step.categories) if name != target)
        by.append(step.transformation(before, taken, vars(step)))
        before = by[-1].after
    features = tuple(name for name in features_of(before, False) if name != target)
    sign = 1 if class_order(model, schema.category(target)) == [0, 1] else -1
    terms = tuple(ColumnTerm(name, sign * float(weight)) for name, weight in zip(features, last.coef_[0], strict=True))
    name = tuple(score_schema(target, schema.category(target)).columns)[1]
    score = Computed(name, terms, sign * float(last.intercept_[0]), Number(-FARTHEST, FARTHEST))
    by.append(Transformation(before, (KeptColumn(target), score)))

    def asked(question: Any) -> Any:
        for one in reversed(by):
            question = transformed(question, one)
        return question

    return Scored(by[-1].after, target, name, asked, lambda place: 1 / (1 + np.exp(-place)))


def target_column(data: PrivateData, y: Any, target: str | None) -> str:
    """The column of private data that an evaluation is about."""
    if y is not None:
        raise ParameterError(ASKED, "private data have their target among their columns", "Set target.")
    if target is None:
        names = ", ".join(data.schema.columns)
        raise ParameterError(ASKED, "it is not said which column is the target", f"Set target to one of {names}.")
    return target
