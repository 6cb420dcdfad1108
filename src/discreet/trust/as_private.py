"""Arrays and data frames behind a curator, for whoever has no private data yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.ledger.memory_ledger import account_of
from discreet.schema.plain_schema import PlainSchema
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.columns.raw_values import array_of
from discreet.trust.sources.shielded import shielded
from discreet.trust.trust_model import is_trust_model

ASKED = "records without a schema"
Names = str | Sequence[str]
Bounds = tuple[ArrayLike, ArrayLike] | PlainSchema
"""Of records that are not private yet: a lower and an upper one, or one of each for every column; or a schema."""


def as_private(
    records: Any,
    budget: Budget,
    bounds: Bounds | None = None,
    names: Names | None = None,
    where: str | None = None,
) -> PrivateData:
    """Private data as they are; or records behind a curator, with bounds and a budget of their own.

    Parameters
    ----------
    records : PrivateData, trust model, array of shape (n,) or (n, features), data frame, mapping of arrays, or path
        The records, or who answers for them.
    budget : Budget
        Public. The account of anything but private data, which have their own.
    bounds : (lower, upper), or Schema
        Public. Two numbers, or two sequences with one number per column; or a schema, which may have categories, or a
        mapping that describes one: see `schema_of`.
        Private data have their own.
    names : str or sequence of str, optional
        Public. Which columns of a data frame, by default all, or of a file. Those of an array are x0, x1, ..., and
        where it has one axis, value, unless there is another name here for each.
    where : str, optional
        Public. Which records are meant; see `PrivateData.where`.

    Examples
    --------
    >>> people = {"age": [41.0, 57.0], "size": [160.0, 184.0]}
    >>> as_private(people, Budget(1.0), (0, 120), "age").schema.features
    ('age',)
    """
    if where is not None:
        return as_private(records, budget, bounds, names).where(where)
    if isinstance(records, PrivateData):
        if bounds is not None:
            raise ParameterError("bounds", "the data set's schema has them already", "Leave them out.")
        return records
    if bounds is None and is_trust_model(records):
        return PrivateData(records, account_of(budget, records.neighbors, records.unit))
    if bounds is None:
        raise ParameterError(
            ASKED,
            "bounds are not given, and taking them from the data would give a record away",
            "Pass bounds=(lower, upper) from what you know without the data, or a schema for other kinds of columns:"
            " bounds={'sex': ['f', 'm']}.",
        )
    if isinstance(bounds, Schema | Mapping):
        return PrivateData.of(records, bounds, budget)
    there = _columns(records)
    if there is not None:
        return PrivateData.of(records, _schema(bounds, there if names is None else _listed(names)), budget)
    given = array_of(records, _width(bounds, names))
    rows = given[:, None] if given.ndim == 1 else given
    if rows.ndim != 2 or not rows.shape[1]:
        raise ParameterError(ASKED, f"its shape is {given.shape}", "Give one row per record.")
    called = "value" if names is None and given.ndim == 1 else names
    return PrivateData.of(rows, _schema(bounds, _called(rows.shape[1], called)), budget)


def rows_alone(records: Any, budget: Budget) -> PrivateData:
    """Private data as they are; or as many empty rows as there are records, for questions that read no value.

    Whatever the records hold, they have a number: columns of lists, rows of different lengths, no columns at all.

    Parameters
    ----------
    records : PrivateData, array, data frame, mapping of arrays, or anything with a length
        The records. A file is not read without a schema.
    budget : Budget
        Public. The account of anything but private data, which have their own.

    Examples
    --------
    >>> rows_alone({"visits": [[1, 2], [3]]}, Budget(1.0))
    PrivateData(value; record; add_remove)
    """
    opened = isinstance(records, PrivateData | str | Path) or is_trust_model(records)
    if opened or (isinstance(records, Mapping) and not records):
        return as_private(records, budget)
    size = shielded("count records", lambda: _size(records))
    if size is None:
        return as_private(records, budget, (0, 1))
    return PrivateData.of(np.broadcast_to(0.0, (size, 1)), {"value": (0, 1)}, budget)


def _size(records: Any) -> int | None:
    """How many records there are; None where that is not known without reading them."""
    if isinstance(records, Mapping):
        return len(next(iter(records.values())))
    if hasattr(records, "mapInArrow"):
        return int(records.count())
    return len(records) if hasattr(records, "__len__") and getattr(records, "ndim", 1) > 0 else None


def _columns(records: Any) -> list[str] | None:
    """What the columns of a data frame are called; none, of a file, before it is read; None for an array."""
    if isinstance(records, Mapping):
        return list(records)
    if isinstance(records, str | Path):
        return []
    names = getattr(records, "column_names", getattr(records, "columns", None))
    return None if names is None else list(names)


def _width(bounds: Any, names: Names | None) -> int | None:
    """How many columns the bounds or the names speak of; None where they do not say."""
    ends = bounds if isinstance(bounds, tuple) else ()
    return next((len(each) for each in (*ends, names) if isinstance(each, list | tuple)), None)


def _listed(names: Names) -> list[str]:
    listed = [names] if isinstance(names, str) else list(names) if isinstance(names, Sequence) else []
    if not listed or len(set(listed)) != len(listed):
        raise ParameterError(ASKED, f"the columns are {names!r}", "Give a name, or a list of names, each once.")
    return listed


def _called(columns: int, names: Names | None) -> list[str]:
    """The names of the columns of an array."""
    usual = [f"x{i}" for i in range(columns)]
    given = usual if names is None else _listed(names)
    called = usual if set(given) <= set(usual) else given
    if len(called) != columns:
        raise ParameterError(
            ASKED, f"{', '.join(map(str, called))} do not name its {columns} columns", "Name each, or none."
        )
    return called


def _schema(bounds: Any, names: list[str]) -> Schema:
    """The schema of these columns: all of them numbers."""
    try:
        lower, upper = bounds
        lower, upper = np.asarray(lower, dtype=np.float64).tolist(), np.asarray(upper, dtype=np.float64).tolist()
    except (TypeError, ValueError) as why:
        remedy = "Give (lower, upper): two numbers, or two sequences with one number per column; or a schema, such as"
        remedy += " {'day': Date('2020-01-01', '2024-12-31')}."
        raise ParameterError(ASKED, f"its bounds are {bounds!r}", remedy) from why
    return Schema.numeric(lower, upper, len(names), names)
