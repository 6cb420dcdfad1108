"""Questions by name: built from what somebody else may have sent."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable

from discreet import questions
from discreet.core.errors import DiscreetError, NotPermitted
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import RECIPES, Recipe
from discreet.schema.schema import Schema


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
    >>> from discreet.schema.schema import Number
    >>> asked = Recipe("count", {"column": "age"})
    >>> question_of(asked, Schema({"age": Number(0, 120)})).columns
    ('age',)
    """
    package, _, _ = recipe.name.rpartition(":")
    parts = package.split(".") if package else ["discreet"]
    if parts[0] not in set(packages) or not all(part.isidentifier() and part[0] != "_" for part in parts):
        raise _unknown(recipe, f"{package or 'this library'} is not among the packages that are trusted")
    if recipe.name not in RECIPES:
        _load(recipe, package)
    build = RECIPES.get(recipe.name)
    if build is None:
        raise _unknown(recipe, f"{package or 'this library'} has no recipe of this name")
    try:
        return build(schema, **recipe.parameters)
    except DiscreetError as why:
        raise _unknown(recipe, f"{why.asked}: {why.obstacle}") from why
    except Exception as why:  # no record has been looked at: whatever is wrong is wrong with the parameters
        raise _unknown(recipe, f"its parameters do not fit ({why})") from why


def load_all() -> None:
    """Load all recipes of this library: they are in this room and the rooms inside it."""
    for module in pkgutil.walk_packages(questions.__path__, f"{questions.__name__}."):
        importlib.import_module(module.name)


def _load(recipe: Recipe, package: str) -> None:
    try:
        importlib.import_module(package) if package else load_all()
    except ImportError as why:
        raise _unknown(recipe, "it is not installed here") from why


def _unknown(recipe: Recipe, obstacle: str) -> NotPermitted:
    return NotPermitted(f"recipe {recipe.name}", obstacle, "Use the same versions everywhere.", name=recipe.name)
