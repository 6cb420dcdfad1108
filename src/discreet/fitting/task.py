"""What a learner is asked to learn from: private data, with the roles of its columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import DataConversionWarning

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.schema.plain_schema import schema_of
from discreet.schema.schema import Category, Column, Number, Schema, Text
from discreet.trust.as_private import as_private
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.columns.decoding import decoded, known
from discreet.trust.sources.columns.raw_values import array_of
from discreet.trust.sources.matrix import Matrix

TARGET = "target"  # of arrays, whose columns have no names


@dataclass(frozen=True)
class Task:
    """Private data, its features and its target.

    Parameters
    ----------
    data : PrivateData
        The records.
    features : tuple of str
        Public. The columns that are learned from, in order.
    target : str or None
        Public. The column that is to be predicted; None for learners without one.
    budget : Budget
        Public. What the fit may cost.
    transformed : Schema, optional
        Public. Of the records as the steps before make them, where there are any.
    others : tuple of str
        Public. Columns that are read, and that are neither features nor the target.
    weight : str, optional
        Public. The column of the weights of records, where they have any; it is none of the others.
    """

    data: PrivateData
    features: tuple[str, ...]
    target: str | None
    budget: Budget
    transformed: Schema | None = None
    others: tuple[str, ...] = ()
    weight: str | None = None

    @cached_property
    def schema(self) -> Schema:
        """What is public about the records."""
        return self.data.schema if self.transformed is None else self.transformed

    def weighted_by(self, column: str) -> Task:
        """The same, where one of the other columns has the weights."""
        return replace(self, others=tuple(name for name in self.others if name != column), weight=column)

    def check_enough(self, asked: str, least: int) -> None:
        """Refuse fewer records than this where a curator's number of records is public; elsewhere any number is fitted.

        Where it is secret, a refusal would tell it; and where every person reports by itself, nobody waits for others.
        """
        size = None if self.data.local else self.data.public_size
        if size is not None and size < least:
            raise ParameterError(asked, f"there are {size} records, and it takes {least}", "Ask for less.")

    @property
    def public_size(self) -> int | None:
        """The sum of the weights of all records, where that is public: their number, of records without weights."""
        return self.data.public_size if self.weight is None else None

    @cached_property
    def classes(self) -> int:
        """How many classes the target has."""
        return len(self.schema.category(str(self.target)).values)

    @property
    def columns(self) -> tuple[str, ...]:
        """The features, then the target, then what else is read."""
        return (*self.features, *([] if self.target is None else [self.target]), *self.others)


def features_of(schema: Schema, categories: bool, texts: bool = False) -> tuple[str, ...]:
    """The columns that a learner sees: all numbers, and categories and texts if it takes them."""
    kinds = (Number, *([Category] if categories else []), *([Text] if texts else []))
    return tuple(name for name, column in schema.columns.items() if isinstance(column, kinds))


def check_categories(asked: str, schema: Schema, apart: Sequence[str | None]) -> None:
    """Refuse categories among the features of a learner of numbers alone: they would be dropped without a word.

    Those apart are used: as the target, for instance, or to choose records.
    """
    left = [name for name in schema.columns if isinstance(schema.columns[name], Category) and name not in apart]
    if left:
        raise ParameterError(
            asked,
            f"it takes numbers alone, and {left[0]!r} is a category",
            "Put a OneHotEncoder or OrdinalEncoder before it in a PrivatePipeline; or set `columns`, if it has them; "
            "or leave the column out of the schema.",
        )


def task_of_private(
    asked: str,
    data: PrivateData,
    target: str | None,
    supervised: bool,
    budget: Budget,
    categories: bool = False,
    texts: bool = False,
    others: tuple[str, ...] = (),
    columns: Sequence[str] | None = None,
) -> Task:
    """The task of private data: all columns that the learner takes, except the target and others, are features.

    Whoever learns from numbers alone is told of categories, with a target or without one, or names the columns.
    """
    if columns is not None:
        named = (columns,) if isinstance(columns, str) else tuple(columns)
        data.schema.numbers(named)
        return Task(data, named, target, budget, others=others)
    if supervised and target is None:
        names = ", ".join(data.schema.columns)
        raise ParameterError(asked, "it is not said which column is the target", f"Set target to one of {names}.")
    for name in ([] if target is None else [target]) + [*others]:
        if name not in data.schema.columns:
            raise ParameterError(asked, f"there is no column {name!r}", f"There are {', '.join(data.schema.columns)}.")
    if not categories:
        chosen = () if data.condition is None else data.condition.columns
        check_categories(asked, data.schema, (target, *others, *chosen))
    features = tuple(name for name in features_of(data.schema, categories, texts) if name not in (target, *others))
    if not features:
        raise ParameterError(asked, "the schema has no column that it could learn from", "Describe at least one.")
    return Task(data, features, target, budget, others=others)


def task_of_arrays(
    asked: str,
    X: Any,
    y: ArrayLike | None,
    column: Column | None,
    bounds: Any,
    budget: Budget,
    categories: bool = False,
    local: bool = False,
    others: Mapping[str, tuple[ArrayLike, Column]] | None = None,
) -> Task:
    """The task of arrays or data frames, behind a curator of their own, or each row with a person who trusts nobody.

    What a value holds never raises: one that cannot be read, or is not among the classes, is missing.

    Parameters
    ----------
    asked : str
        By whom.
    X : array of shape (n, features)
        The features.
    y : array of shape (n,), optional
        The target.
    column : Number or Category, optional
        Public. What is known of the target.
    bounds : (lower, upper), or Schema, optional
        Public. Of the features.
    budget : Budget
        Public. The account of this fit.
    categories : bool
        Public. Whether the learner takes categories, of a schema.
    local : bool
        Public. Whether every row is that of a person who reports by itself.
    others : mapping of str to (array, Column), optional
        More columns that are read, with what is known of them.
    """
    bounds = schema_of(bounds) if isinstance(bounds, Mapping) else bounds
    if categories and isinstance(bounds, Schema):
        X = encoded(array_of(X), bounds)
        alone = PrivateData.of(Matrix(X, bounds), bounds, budget)
    else:
        alone = as_private(X, budget, bounds)
    if not categories:
        check_categories(asked, alone.schema, ())
    features = features_of(alone.schema, categories)
    if y is None or column is None:
        return Task(alone, features, None, budget)
    name, read = TARGET if TARGET not in features else f"{TARGET}_", others or {}
    more = {name: (y, column), **{one if one not in features else f"{one}_": read[one] for one in read}}
    values, columns = array_of(X), [_read(asked, given, known) for given, known in more.values()]
    if any(len(one) != len(values) for one in columns):
        lengths = " and ".join(str(len(one)) for one in columns)
        raise ParameterError(asked, f"X has {len(values)} rows and y has {lengths}", "Give one target for each.")
    schema = Schema({**alone.schema.columns, **{one: known for one, (_, known) in more.items()}})
    source = Matrix(np.column_stack([Matrix(values, alone.schema).found(features), *columns]), schema)
    data = PrivateData(Local(source), MemoryLedger(budget)) if local else PrivateData.of(source, schema, budget)
    return Task(data, features, name, budget, others=tuple(more)[1:])


def encoded(values: np.ndarray, schema: Schema) -> Array:
    """Rows of values as numbers: those of categories by their places in the list, and missing ones as nan."""
    if values.ndim != 2 or values.shape[1] != len(schema.columns):
        raise ParameterError(
            "features", f"their shape is {values.shape} and the schema has {len(schema.columns)} columns", "Give those."
        )
    own = [known(schema, name) for name in schema.columns]
    return np.column_stack([decoded(values[:, place], column) for place, column in enumerate(own)])


def check_order(asked: str, X: Any, bounds: Any) -> None:
    """Refuse a data frame whose columns are in another order than their bounds, which are taken by place."""
    known = bounds if isinstance(bounds, Mapping) else getattr(bounds, "columns", ())
    given, described = [str(name) for name in getattr(X, "columns", ())], [str(name) for name in known]
    if set(given) & set(described) and given != described:
        obstacle = f"its columns are {', '.join(given)}, and the bounds are for {', '.join(described)}"
        raise ParameterError(asked, obstacle, f"Give the columns {described}, in this order.")


def _column_of(asked: str, y: ArrayLike) -> np.ndarray:
    target = array_of(y)
    if target.ndim == 2 and target.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected.", DataConversionWarning, stacklevel=6)
        target = target[:, 0]
    if target.ndim != 1:
        raise ParameterError(asked, f"the shape of y is {target.shape}", "Give one target for each row.")
    return target


def _read(asked: str, given: ArrayLike, column: Column) -> Array:
    assert isinstance(column, Number | Category)
    return decoded(_column_of(asked, given), column)
