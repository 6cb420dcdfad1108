"""Functions that build questions from a schema and public parameters, found again by name wherever they are sent."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec

from discreet.core.errors import DiscreetError, NotPermitted
from discreet.core.question import BoundedSum
from discreet.core.recipe import Recipe
from discreet.core.schema import Schema

P = ParamSpec("P")
Builder = Callable[Concatenate[Schema, P], BoundedSum]
_KNOWN: dict[str, Callable[..., BoundedSum]] = {}


def recipe(build: Builder[P]) -> Builder[P]:
    """Make a function a recipe: the questions that it builds know how to be built again, by somebody else.

    Parameters
    ----------
    build : callable
        A schema and public parameters in, a bounded sum out; nothing else may decide the outcome. The parameters are
        of the forms that a `Recipe` takes, and lists reach it as tuples.

    Examples
    --------
    >>> from discreet.core.schema import Number
    >>> from discreet.statistics.count import count_of
    >>> schema = Schema({"age": Number(0, 120)})
    >>> count_of(schema, "age").recipe
    Recipe(name='discreet.statistics.count:count_of', parameters=mappingproxy({'column': 'age'}))
    """
    name, signature = f"{build.__module__}:{build.__qualname__}", inspect.signature(build)

    @functools.wraps(build)
    def built(*given: Any, **named: Any) -> BoundedSum:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        schema, *_ = bound.args
        parameters = dict(list(bound.arguments.items())[1:])
        written = Recipe.read(Recipe(name, parameters).written())
        return dataclasses.replace(build(schema, **written.parameters), recipe=written)  # type: ignore[call-arg]

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
    except (TypeError, ValueError, ArithmeticError, LookupError) as why:
        raise _unknown(recipe, f"its parameters do not fit ({why})") from why


def _unknown(recipe: Recipe, obstacle: str) -> NotPermitted:
    return NotPermitted(f"recipe {recipe.name}", obstacle, "Use the same versions everywhere.", name=recipe.name)
