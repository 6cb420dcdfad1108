"""One question, one release: how a statistic turns to its data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.questions.question import BoundedQuestion
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import Spread
from discreet.schema.dates import Temporal
from discreet.trust.as_private import Bounds, as_private
from discreet.trust.private_data import PrivateData


@dataclass(frozen=True)
class Released:
    """A noisy sum, how its noise spreads, and its receipt."""

    values: Array
    spread: Spread
    receipt: Receipt


def asked(
    data: PrivateData, question: BoundedQuestion, budget: Budget, purpose: str, key: str | None = None
) -> Released:
    """Pay for one bounded sum with the least noise that the budget allows, and release it."""
    return asked_with(least_noise(data, question, budget), data, question, purpose, key)


def asked_with(
    spread: Spread, data: PrivateData, question: BoundedQuestion, purpose: str, key: str | None = None
) -> Released:
    """Pay for one bounded sum with this noise, and release it."""
    with data.permit(spread.noise.event, purpose, key=key) as permit:
        values = permit.ask(question, spread.noise)
    return Released(values, spread, permit.receipt)


@dataclass(frozen=True)
class ColumnOf:
    """A data set and the column of it that is asked about."""

    data: PrivateData
    column: str

    @property
    def time(self) -> Temporal | None:
        """What its numbers stand for, where they are times."""
        kind = self.data.schema.columns[self.column]
        return kind if isinstance(kind, Temporal) else None


def column_of(
    data: Any, column: str | None, bounds: Bounds | None, budget: Budget, where: str | None = None
) -> ColumnOf:
    """The column that a statistic is about: of private data, or of an array or data frame with bounds of its own."""
    if column is not None and not isinstance(column, str):
        raise ParameterError("column", f"it is {column!r}", "Give its name, and arguments that follow it by theirs.")
    private = as_private(data, budget, bounds, column, where)
    columns = list(private.schema.columns)
    if column is None and (isinstance(data, PrivateData) or len(columns) > 1):
        raise ParameterError("column", "none is given", f"Name one of {', '.join(columns)}.")
    return ColumnOf(private, columns[0] if column is None else column)


@dataclass(frozen=True)
class ColumnsOf:
    """A data set and the columns of it that are asked about."""

    data: PrivateData
    columns: tuple[str, ...]


def columns_of(
    asked: str,
    data: Any,
    columns: str | Sequence[str] | None,
    bounds: Bounds | None,
    budget: Budget,
    where: str | None = None,
) -> ColumnsOf:
    """The columns that a statistic is about, each once: by default all that are numbers."""
    private = as_private(data, budget, bounds, columns, where)
    given = private.schema.features if columns is None else (columns,) if isinstance(columns, str) else columns
    names = tuple(given) if isinstance(given, Sequence) else ()
    if not names or len(set(names)) != len(names):
        raise ParameterError(asked, f"the columns are {columns!r}", "Name each column once, at least one.")
    return ColumnsOf(private, names)
