"""Functions that build questions from a schema and public parameters, found again by name wherever they are sent."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec

import numpy as np

from discreet.core.errors import DiscreetError, NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.core.kinds import fitted, readings_of
from discreet.core.question import BoundedSum
from discreet.core.recipe import Recipe
from discreet.core.schema import Category, Column, Number, Schema

MOST_NUMBERS = 2**24  # in one answer: whoever asks has a say in how much memory an answer takes
MOST_STEPS = 2.0**52  # of what one record adds, so that float64 holds it without error
TRIED = 2**17  # numbers in the contributions of the records that a fused sum is tried on
P = ParamSpec("P")
Builder = Callable[Concatenate[Schema, P], BoundedSum]
_KNOWN: dict[str, Callable[..., BoundedSum]] = {}


def recipe(build: Builder[P]) -> Builder[P]:
    """Make a function a recipe: the questions that it builds know how to be built again, by somebody else.

    Parameters
    ----------
    build : callable
        A schema and public parameters in, a bounded sum out; nothing else may decide the outcome. Whoever asks may be
        hostile. What its annotations say is checked here: parameters are whole numbers, finite numbers, texts, truth
        values, choices (`Literal`), arrays of finite numbers, or tuples of these. Ranges are its own to check. The
        bound must hold, and the sum must not fail, for every record, whatever parameters it accepts.

    Examples
    --------
    >>> from discreet.core.schema import Number
    >>> from discreet.statistics.count import count_of
    >>> schema = Schema({"age": Number(0, 120)})
    >>> count_of(schema, "age").recipe
    Recipe(name='discreet.statistics.count:count_of', parameters=mappingproxy({'column': 'age'}))
    """
    name, signature = f"{build.__module__}:{build.__qualname__}", inspect.signature(build)
    readings = readings_of(build)

    @functools.wraps(build)
    def built(*given: Any, **named: Any) -> BoundedSum:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        schema, *_ = bound.args
        given_back = Recipe.read(Recipe(name, dict(list(bound.arguments.items())[1:])).written())
        written = Recipe(name, fitted(f"recipe {name}", readings, given_back.parameters))
        question = dataclasses.replace(build(schema, **written.parameters), recipe=written)  # type: ignore[call-arg]
        check_question(question, schema)
        return question

    _KNOWN[name] = built
    return built


def question_of(recipe: Recipe, schema: Schema, packages: Iterable[str] = ("discreet",)) -> BoundedSum:
    """The question of a recipe that somebody else may have sent.

    Parameters
    ----------
    recipe : Recipe
        Public. What to build.
    schema : Schema
        Public. Of the own records.
    packages : iterable of str
        Public. The only packages whose recipes are used; whoever names one vouches for all of its code.

    Raises
    ------
    NotPermitted
        The recipe is of another package, or there is none of this name, or it does not take these parameters.

    Examples
    --------
    >>> from discreet.core.schema import Number
    >>> asked = Recipe("discreet.statistics.count:count_of", {"column": "age"})
    >>> question_of(asked, Schema({"age": Number(0, 120)})).columns
    ('age',)
    """
    module, _, function = recipe.name.partition(":")
    parts = module.split(".")
    if parts[0] not in set(packages) or not all(part.isidentifier() and part[0] != "_" for part in parts):
        raise _unknown(recipe, f"{module or 'nothing'} is not among the packages that are trusted")
    try:
        importlib.import_module(module)
    except ImportError as why:
        raise _unknown(recipe, "it is not installed here") from why
    build = _KNOWN.get(recipe.name)
    if build is None:
        raise _unknown(recipe, f"{module} has no recipe {function!r}")
    try:
        return build(schema, **recipe.parameters)
    except DiscreetError as why:
        raise _unknown(recipe, f"{why.asked}: {why.obstacle}") from why
    except Exception as why:  # no record has been looked at: whatever is wrong is wrong with the parameters
        raise _unknown(recipe, f"its parameters do not fit ({why})") from why


def check_question(question: BoundedSum, schema: Schema) -> None:
    """Refuse a question whose answer would be too large to hold, or whose fused sum is not the sum of its rows.

    A fused sum is not clipped row by row. So it is tried on records that the schema alone decides: both ends and the
    middle of all columns, and missing values.
    """
    asked = "a question" if question.recipe is None else f"recipe {question.recipe.name}"
    columns = schema.values(question.columns) if question.columns else schema.features
    size = question.size(len(columns))
    if not 1 <= size <= MOST_NUMBERS or question.bound.radius > MOST_STEPS * question.grid.step:
        raise ParameterError(
            asked,
            f"its answer has {size} numbers, to which a record adds up to {question.bound.radius:g} on a grid of "
            f"{question.grid.step:g}",
            f"Ask for 1 to {MOST_NUMBERS} numbers, and less than 2**52 steps.",
        )
    records = public_records(schema, columns)[: max(1, TRIED // size)]
    if question.total is not None and not np.array_equal(question.total(records), question.steps(records).sum(axis=0)):
        raise ParameterError(asked, "its fused sum is not that of its rows", "Correct it, or leave it out.")


def public_records(schema: Schema, columns: Iterable[str]) -> Array:
    """Records that are known without the data: upper ends, middles, lower ends, both ends by turns, missing values."""
    points = np.array([_points(schema.columns[name]) for name in columns]).reshape(-1, 3)
    lower, middle, upper = points.T
    turns = np.arange(len(points)) % 2 == 0
    missing = np.full(len(points), np.nan)
    return np.array(
        [upper, middle, np.where(turns, missing, middle), lower, np.where(turns, upper, lower), missing],
    )


def _points(column: Column) -> tuple[float, float, float]:
    """The lower end of a column, its middle and its upper end."""
    match column:
        case Number(lower, upper):
            return float(lower), 0.5 * lower + 0.5 * upper, float(upper)
        case Category(values):
            return 0.0, float(len(values) // 2), len(values) - 1.0
        case _:
            return 0.0, 0.0, 0.0


def _unknown(recipe: Recipe, obstacle: str) -> NotPermitted:
    return NotPermitted(f"recipe {recipe.name}", obstacle, "Use the same versions everywhere.", name=recipe.name)
