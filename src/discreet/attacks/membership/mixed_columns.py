"""Rows of numbers and categories as points, between which there are distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.microdata.published_table import PublishedTable

SINGLE = 32  # values of a category that have a coordinate each; those of larger ones have random signs in as many
Values = NDArray[Any]


@dataclass(frozen=True)
class MixedColumns:
    """What makes points of rows: numbers in standard deviations, categories as corners of a simplex.

    Two rows that differ in one category are as far apart as two typical rows are by one number. A missing number is an
    average one, with a coordinate of its own that says so; a missing category is a category.

    Parameters
    ----------
    columns : tuple of scales and places
        For a number its centre and scale, for a category the coordinates of its values.

    Examples
    --------
    >>> mixed = MixedColumns.of(np.array([[1.0, "a"], [3.0, "b"]], dtype=object))
    >>> mixed.points(np.array([[3.0, "a"], [None, "b"]], dtype=object))
    array([[1., 0., 1., 0.],
           [0., 1., 0., 1.]])
    """

    columns: tuple[tuple[float, float] | dict[Any, Array], ...] = field(repr=False)

    @classmethod
    def of(cls, rows: Values) -> MixedColumns:
        """From rows like those that are to become points; a column of texts, or of truth values, is a category."""
        return cls(tuple(_described(column, place) for place, column in enumerate(rows.T)))

    def points(self, rows: Values) -> Array:
        """A point for each row; values of a category that are not known are at its centre."""
        parts = []
        for place, (column, known) in enumerate(zip(rows.T, self.columns, strict=True)):
            found = _of_values(column, known) if isinstance(known, dict) else _of_numbers(column, *known)
            if found is None:
                obstacle = f"column {place} of the table has no value of the kind that the records have there"
                raise ParameterError("rows as points", obstacle, "Give both as numbers, or both as the same texts.")
            parts.append(found)
        return np.concatenate(parts, axis=1)


def rows_of(asked: str, table: Any, width: int, names: Sequence[str] | None = None) -> Values:
    """The rows of a released table, a data frame or an array, with as many columns as the records have."""
    if isinstance(table, PublishedTable):
        chosen = [table.decoded[name] for name in _chosen(asked, names, list(table.schema.columns))]
        rows = np.stack([column.astype(object) for column in chosen], axis=1)
    elif hasattr(table, "to_numpy") and hasattr(table, "columns"):
        rows = np.asarray(table[_chosen(asked, names, list(table.columns))].to_numpy())
    else:
        rows = np.asarray(table)
    if rows.ndim != 2 or rows.shape[1] != width or not len(rows):
        obstacle = f"the table has the shape {rows.shape}, and a record {width} values"
        raise ParameterError(asked, obstacle, "Give rows with the columns of the records, in their order.")
    return rows


def _chosen(asked: str, names: Sequence[str] | None, there: list[str]) -> list[str]:
    absent = [name for name in names or () if name not in there]
    if absent:
        obstacle = f"the table has no column {', '.join(map(str, absent))}"
        raise ParameterError(asked, obstacle, f"There are {', '.join(map(str, there[:12]))}.")
    return there if names is None else list(names)


def _described(column: Values, place: int) -> tuple[float, float] | dict[Any, Array]:
    numbers = _numbers(column)
    if numbers is not None:
        known = numbers[np.isfinite(numbers)]
        spread = float(known.std()) if len(known) else 0.0
        return float(known.mean()) if len(known) else 0.0, spread if spread > 0 else 1.0
    values = sorted({_text(value) for value in column.tolist()})
    if len(values) <= SINGLE:
        return dict(zip(values, np.eye(len(values)), strict=True))
    signs = np.random.default_rng(place).choice([-1.0, 1.0], (len(values), SINGLE))
    return dict(zip(values, signs / np.sqrt(SINGLE), strict=True))


def _of_values(column: Values, known: dict[Any, Array]) -> Array | None:
    """The coordinates of each value; None where not one is known."""
    texts = [_text(value) for value in column.tolist()]
    nowhere = np.zeros(len(next(iter(known.values()))))
    return np.array([known.get(text, nowhere) for text in texts]) if {*texts} & {*known} else None


def _of_numbers(column: Values, centre: float, scale: float) -> Array | None:
    """Each number in standard deviations, and whether it is missing; None for a category."""
    numbers = _numbers(column)
    if numbers is None:
        return None
    there = np.isfinite(numbers)
    return np.column_stack([np.where(there, (np.where(there, numbers, 0.0) - centre) / scale, 0.0), ~there])


def _numbers(column: Values) -> Array | None:
    """The values of a column of numbers or times, nan where one is missing; None for a category."""
    if column.dtype.kind in "fiu":
        return column.astype(np.float64)
    if column.dtype.kind == "M":
        return np.where(np.isnat(column), np.nan, column.astype("M8[s]").astype(np.float64))
    values = [None if _missing(value) else value for value in column.tolist()]
    there = [value for value in values if value is not None]
    if all(isinstance(value, Real) and not isinstance(value, bool | np.bool_) for value in there):
        return np.array([np.nan if value is None else float(value) for value in values])
    if all(isinstance(value, date) for value in there):
        return _numbers(np.array(values, dtype="M8[s]"))
    return None


def _missing(value: Any) -> bool:
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def _text(value: Any) -> str:
    return "" if _missing(value) else str(value)
