"""A map of records, one by one, to records with other columns: what scalers and encoders do once they are fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.checks import check_size
from discreet.core.errors import ParameterError
from discreet.core.formula import Formula
from discreet.core.grid import Array
from discreet.questions.question import quiet
from discreet.schema.expressed import Expressed
from discreet.schema.schema import Category, Column, Number, Schema

ASKED = "transformation"
MOST_COLUMNS = 2**12  # after a transformation


@dataclass(frozen=True)
class ColumnTerm:
    """A number times a weight; or a weight, where a category has the value at this place of its list.

    A missing category has none of its values.
    """

    column: str
    weight: float
    place: int | None = None

    def of(self, values: Array) -> Array:
        """The term for each value of its column."""
        return self.weight * (values if self.place is None else (values == self.place).astype(np.float64))


@dataclass(frozen=True)
class KeptColumn:
    """A column that is as it was.

    Parameters
    ----------
    name : str
        Public. Of the column.
    """

    name: str

    def column(self, before: Schema) -> Column:
        if self.name not in before.columns:
            raise ParameterError(ASKED, f"there is no column {self.name!r}", f"There are {', '.join(before.columns)}.")
        return before.columns[self.name]

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.name,)

    def of(self, values: Mapping[str, Array]) -> Array:
        return values[self.name]

    def formula(self, places: Mapping[str, int]) -> Formula:
        """The same for engines, by the places of the columns that it reads."""
        return self.moved(places[self.name])

    def moved(self, place: int) -> Formula:
        """The column at this place, which is inside its bounds."""
        return Formula(f"c{place}")


@dataclass(frozen=True)
class Computed:
    """A number: a sum of terms, moved inside bounds; missing where a number that it is computed from is missing.

    Terms are added one after another, so that what is computed for a record depends on no other record.

    Parameters
    ----------
    name : str
        Public. Of the new column.
    terms : tuple of ColumnTerm
        Public. What is added up.
    offset : float
        Public. What is added to that.
    number : Number
        Public. Its bounds.
    """

    name: str
    terms: tuple[ColumnTerm, ...]
    offset: float
    number: Number

    def column(self, before: Schema) -> Column:
        return self.number

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(term.column for term in self.terms))

    def of(self, values: Mapping[str, Array]) -> Array:
        """The column. The same work whatever the values."""
        rows = len(next(iter(values.values()))) if values else 0
        total = np.full(rows, self.offset)
        for term in self.terms:
            total = total + term.of(values[term.column])
        return np.clip(total, self.number.lower, self.number.upper) + 0.0


@dataclass(frozen=True)
class Filled:
    """A column with another value in place of a missing one.

    Parameters
    ----------
    name : str
        Public. Of the column.
    value : float
        Public. A number between the bounds of the column, or the place of one of its categories.
    """

    name: str
    value: float

    def column(self, before: Schema) -> Column:
        found = KeptColumn(self.name).column(before)
        match found:
            case Number(lower=lower, upper=upper):
                fits = lower <= self.value <= upper
            case Category(values=values):
                fits = self.value in range(len(values))
            case _:
                fits = False
        if not fits:
            obstacle = f"{self.value!r} is no value of column {self.name!r}"
            raise ParameterError(ASKED, obstacle, "Fill with a number between its bounds, or with one of its values.")
        return found

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.name,)

    def of(self, values: Mapping[str, Array]) -> Array:
        return np.where(np.isnan(values[self.name]), self.value, values[self.name])


@dataclass(frozen=True)
class MissingMark:
    """1 where a value of another column is missing, else 0.

    Parameters
    ----------
    name, of_column : str
        Public. Of the new column, and of the other one.
    """

    name: str
    of_column: str

    def column(self, before: Schema) -> Column:
        KeptColumn(self.of_column).column(before)
        return Number(0.0, 1.0)

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.of_column,)

    def of(self, values: Mapping[str, Array]) -> Array:
        return np.isnan(values[self.of_column]).astype(np.float64)


Output = KeptColumn | Computed | Filled | MissingMark | Expressed


@dataclass(frozen=True)
class Transformation:
    """Columns that are kept or filled, and numbers that are computed, from each record by itself.

    Parameters
    ----------
    before : Schema
        Public. Of the records.
    outputs : tuple of KeptColumn, Computed, Filled, MissingMark or Expressed
        Public. The columns after, in order.

    Examples
    --------
    >>> before = Schema({"age": Number(0, 100), "sex": Category(("f", "m"))})
    >>> half = Computed("half", (ColumnTerm("age", 0.5),), 0.0, Number(0, 40))
    >>> male = Computed("sex_m", (ColumnTerm("sex", 1.0, 1),), 0.0, Number(0, 1))
    >>> doing = Transformation(before, (half, male))
    >>> doing.after.features, doing.reads(("sex_m",))
    (('half', 'sex_m'), ('sex',))
    >>> doing.rows(("half", "sex_m"))(np.array([[20.0, 1.0], [90.0, 0.0], [np.nan, np.nan]]))
    array([[10.,  1.],
           [40.,  0.],
           [nan,  0.]])
    """

    before: Schema
    outputs: tuple[Output, ...]

    def __post_init__(self) -> None:
        check_size(ASKED, len(self.outputs), MOST_COLUMNS)
        names = [one.name for one in self.outputs]
        if len(set(names)) != len(names) or not all(names):
            raise ParameterError(ASKED, "two columns have one name, or one has none", "Give each a name of its own.")

    @cached_property
    def after(self) -> Schema:
        """What is public about the records after it."""
        return Schema({one.name: one.column(self.before) for one in self.outputs})

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns before it from which these are computed."""
        return tuple(dict.fromkeys(name for column in columns for name in self._output(column).reads))

    def rows(self, columns: Sequence[str]) -> Callable[[Array], Array]:
        """How rows of the columns that `reads` names become rows of these columns."""
        outputs, reads = [self._output(column) for column in columns], self.reads(columns)

        def computed(records: Array) -> Array:
            values = dict(zip(reads, records.T, strict=True))
            with quiet():
                return np.column_stack([np.empty((len(records), 0)), *(one.of(values) for one in outputs)])

        return computed

    def formulas(self, columns: Sequence[str]) -> tuple[tuple[Formula, ...], tuple[Formula, ...]] | None:
        """The same for engines, in two steps: numbers are computed, then moved; None where there are no formulas."""
        found = [self._output(column) for column in columns]
        outputs = [one for one in found if isinstance(one, KeptColumn | Expressed)]
        if len(outputs) < len(found):
            return None
        places = {name: place for place, name in enumerate(self.reads(columns))}
        return tuple(one.formula(places) for one in outputs), tuple(one.moved(i) for i, one in enumerate(outputs))

    def _output(self, column: str) -> Output:
        found = self._by_name.get(column)
        if found is None:
            raise ParameterError(ASKED, f"it makes no column {column!r}", f"It makes {', '.join(self._by_name)}.")
        return found

    @cached_property
    def _by_name(self) -> dict[str, Output]:
        return {one.name: one for one in self.outputs}


def sources(before: Schema) -> list[tuple[str, int | None]]:
    """All that a term can be about: each number, and each value of each category by its place."""
    found: list[tuple[str, int | None]] = []
    for name, column in before.columns.items():
        match column:
            case Number():
                found.append((name, None))
            case Category(values=values):
                found.extend((name, place) for place in range(len(values)))
            case _:
                pass
    return found
