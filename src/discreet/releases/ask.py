"""One question, one release: how a statistic turns to its data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.held import unheld
from discreet.core.receipt import Receipt
from discreet.questions.question import BoundedQuestion
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import Spread
from discreet.schema.dates import Temporal
from discreet.schema.schema import Schema
from discreet.trust.as_private import Bounds, as_private
from discreet.trust.private_data import PrivateData

if TYPE_CHECKING:
    from discreet.releases.groups import Groups

Result = TypeVar("Result")
Choice = Callable[[PrivateData, BoundedQuestion, Budget], Spread]
"""Which noise a sum is released with, from public facts alone."""


@unheld("releases")
@dataclass(frozen=True)
class Released:
    """A noisy sum, how its noise spreads, and its receipt."""

    values: Array
    spread: Spread
    receipt: Receipt

    @cached_property
    def read(self) -> dict[Any, Any]:
        """What was read off it, for whoever needs it again: several statistics may share a release."""
        return {}


def asked(
    data: PrivateData,
    question: BoundedQuestion,
    budget: Budget,
    purpose: str,
    key: str | None = None,
    noise: Choice = least_noise,
) -> Released:
    """Pay for one bounded sum, by default with the least noise that the budget allows, and release it."""
    spread = noise(data, question, budget)
    with data.permit(spread.noise.event, purpose, key=key) as permit:
        values = permit.ask(question, spread.noise)
    return Released(values, spread, permit.receipt)


@dataclass(frozen=True)
class Subject:
    """The records that a statistic is asked of, and what may be paid for it.

    Parameters
    ----------
    data : PrivateData
        The records, those that a condition leaves.
    budget : Budget
        Public. What the statistic may cost.
    key : str, optional
        Public. Makes a retry safe.
    groups : Groups, optional
        Public. The groups that it is asked of, each by itself.
    """

    data: PrivateData
    budget: Budget = field(kw_only=True)
    key: str | None = field(default=None, kw_only=True)
    groups: Groups | None = field(default=None, kw_only=True)

    @property
    def schema(self) -> Schema:
        """What is public about the columns."""
        return self.data.schema

    @property
    def size(self) -> int | None:
        """The number of records, where it is public: that of a group never is."""
        return self.data.public_size if self.groups is None else None


@dataclass(frozen=True)
class ColumnOf(Subject):
    """A data set and the column of it that is asked about."""

    column: str

    @property
    def time(self) -> Temporal | None:
        """What its numbers stand for, where they are times."""
        kind = self.data.schema.columns[self.column]
        return kind if isinstance(kind, Temporal) else None


@dataclass(frozen=True)
class ColumnsOf(Subject):
    """A data set and the columns of it that are asked about."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class OneSum(Generic[Result]):
    """A statistic that is read off one bounded sum; so it can be asked of every group at the price of one.

    Parameters
    ----------
    of : Subject
        What it is asked of.
    name : str
        Public. What is released, such as `mean of age`; written in the ledger.
    question : BoundedQuestion
        Public. The sum, without groups; or another number, of a statistic that has none.
    read : callable
        Reads the result off a release of the sum: post-processing.
    noise : callable
        Public. Chooses the noise; by default the least.
    """

    of: Subject
    name: str
    question: BoundedQuestion
    read: Callable[[Released], Result]
    noise: Choice = least_noise


def column_named(private: PrivateData, column: str | None, data: Any) -> str:
    """The column that a statistic is about: the only one of an array, where none is named."""
    if column is not None:
        return column
    columns = list(private.schema.columns)
    if isinstance(data, PrivateData) or len(columns) > 1:
        raise ParameterError("column", "none is given", f"Name one of {', '.join(columns)}.")
    return columns[0]


def columns_named(asked: str, private: PrivateData, columns: str | Sequence[str] | None) -> tuple[str, ...]:
    """The columns that a statistic is about, each once: by default all that are numbers."""
    given = private.schema.features if columns is None else (columns,) if isinstance(columns, str) else columns
    names = tuple(given) if isinstance(given, Sequence) else ()
    if not names or len(set(names)) != len(names):
        raise ParameterError(asked, f"the columns are {columns!r}", "Name each column once, at least one.")
    return names


def columns_of(
    asked: str, data: Any, columns: str | Sequence[str] | None, bounds: Bounds | None, budget: Budget
) -> ColumnsOf:
    """The columns that something is about, of private data or of records with bounds of their own."""
    private = as_private(data, budget, bounds, columns)
    return ColumnsOf(private, columns_named(asked, private, columns), budget=budget)
