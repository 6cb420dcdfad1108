"""A relation: what rows a question is about, what is public about them, and how many of them one unit may move."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from discreet.core.errors import NotPermitted
from discreet.core.neighbors import MOST_ROWS, Unit
from discreet.schema.schema import Schema

Columns = tuple[str, ...]


@dataclass(frozen=True)
class RowReach:
    """How many rows of a relation can change when one unit comes or goes.

    Parameters
    ----------
    rows : int, optional
        Public. At most so many rows; none, where their number is not bounded.
    both_ways : bool
        Public. Whether rows may also appear when a unit goes, as others take the place that it leaves. Such rows are no
        unit's own, so that they cannot be brought together by units.
    weighted : bool
        Public. Whether what changes is the weight of rows, where many of them may change a little each.

    Examples
    --------
    >>> RowReach(3).times(2) + RowReach(1, both_ways=True)
    RowReach(rows=7, both_ways=True, weighted=False)
    """

    rows: int | None
    both_ways: bool = False
    weighted: bool = False

    def times(self, rows: int) -> RowReach:
        """The reach where each row becomes so many."""
        return replace(self, rows=None if self.rows is None else self.rows * rows)

    def __add__(self, other: RowReach) -> RowReach:
        both, weighted = self.both_ways or other.both_ways, self.weighted or other.weighted
        if self.rows is None or other.rows is None:
            return RowReach(None, both, weighted)
        return RowReach(self.rows + other.rows, both, weighted)

    def __str__(self) -> str:
        if self.rows is None:
            return "any number of rows"
        what = ("a weight of " if self.weighted else "") + f"{self.rows} row{'' if self.rows == 1 else 's'}"
        return f"{what}, which may also come when it goes" if self.both_ways else what


@dataclass(frozen=True)
class RelationNode(ABC):
    """A step from rows to rows, or a table that rows come from.

    A new kind of node is a file here, with its schema, its reach and its SQL, and its test.
    """

    anywhere: ClassVar[bool] = True
    """Whether its SELECT is one that every engine runs, and not DuckDB alone."""

    @property
    def inputs(self) -> tuple[RelationNode, ...]:
        """The relations that it is made of."""
        own = getattr(self, "of", None)
        return (own,) if isinstance(own, RelationNode) else ()

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """What is public about its rows."""

    @property
    @abstractmethod
    def reach(self) -> RowReach:
        """How many of its rows one unit may move; added up over all ways from the unit to the row."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What it does, in a few words."""

    @property
    def protected(self) -> Unit | None:
        """Whose presence is hidden, as the tables say; None, where everything is public."""
        return next((found for one in self.inputs if (found := one.protected) is not None), None)

    @cached_property
    def unit(self) -> Unit:
        """Whose presence is hidden, with as many rows as it may move here."""
        own, rows = self.protected, self.reach.rows
        assert own is not None
        if rows is None:
            return own
        if rows > MOST_ROWS:
            obstacle = f"one {own.kind} may move {rows} rows of it, more than {MOST_ROWS}"
            raise NotPermitted(self.words, obstacle, "Let units have fewer rows, or give a smaller `most`.")
        return replace(own, rows=rows, pooled=False)

    def select(self, *inputs: str) -> str:
        """Its rows in SQL, from tables of these names: `u` identifies units, the schema's columns are c0, c1, ...

        A table has decoded values: a number inside its bounds, a category as its place in the list, a text; NULL where
        there is nothing.
        """
        raise NotImplementedError(f"{type(self).__name__} is read from its table")

    def query(self, tables: Mapping[RelationNode, str]) -> str:
        """Its rows: one of the tables by its name, or the SELECT of this node over those before it, in brackets."""
        return tables.get(self) or f"({self.select(*(one.query(tables) for one in self.inputs))})"

    def unlimited(self) -> RelationNode:
        """The same rows without limits of rows for each unit, where all rows of a unit are brought together anyway."""
        return self

    def walked(self) -> Iterator[RelationNode]:
        """All nodes, inputs first."""
        for one in self.inputs:
            yield from one.walked()
        yield self

    @property
    def places(self) -> dict[str, int]:
        """The place of each column."""
        return {name: place for place, name in enumerate(self.schema.columns)}

    def check_owned(self, asked: str) -> None:
        """Refuse rows that are no unit's own, or whose number for one unit is not bounded."""
        if self.reach.both_ways or self.reach.weighted:
            obstacle = "rows of different units were joined, so that a row is no longer one unit's own"
            raise NotPermitted(asked, obstacle, "Do this with each table before they are joined.")
        self.check_bounded(asked)

    def check_bounded(self, asked: str) -> None:
        """Refuse rows whose number for one unit is not bounded."""
        if self.reach.rows is None:
            obstacle = "a unit may have any number of rows there"
            raise NotPermitted(asked, obstacle, 'Give the unit a number of rows, or bring them together by "per_unit".')


@dataclass(frozen=True)
class PartedRows:
    """Rows of a table in two parts: those whose values many others have, and all others.

    Only the former have to be put in order where some of them are left out. Rows without a value are in neither.

    Parameters
    ----------
    table : str
        What they are read from: its name, or a query in brackets, which is made once.
    by, columns : tuple of str
        The columns whose values are counted, and those that are selected.
    most : int
        Public. So many rows with the same values are few.

    Examples
    --------
    >>> parted = PartedRows("visits", ("u",), ("u", "c0"), 5)
    >>> parted.before
    'WITH crowded0 AS (SELECT u, count(*) AS size FROM visits GROUP BY u HAVING count(*) > 5) '
    >>> parted.few
    'SELECT u, c0 FROM visits AS a WHERE u IS NOT NULL AND NOT EXISTS (SELECT 1 FROM crowded0 AS b WHERE a.u = b.u)'
    >>> parted.crowded
    'SELECT a.u AS u, a.c0 AS c0, size FROM visits AS a JOIN crowded0 AS b ON a.u = b.u'
    """

    table: str
    by: tuple[str, ...]
    columns: tuple[str, ...]
    most: int

    @property
    def before(self) -> str:
        """What stands before a SELECT that reads both parts."""
        given = f"given{self._number} AS {self.table}, " if self._made else ""
        own = ", ".join(self.by)
        sizes = f"SELECT {own}, count(*) AS size FROM {self._rows} GROUP BY {own} HAVING count(*) > {self.most}"
        return f"WITH {given}crowded{self._number} AS ({sizes}) "

    @property
    def few(self) -> str:
        """A SELECT of all others."""
        there = " AND ".join(f"{one} IS NOT NULL" for one in self.by)
        others = f"SELECT 1 FROM crowded{self._number} AS b WHERE {self._agree}"
        return f"SELECT {', '.join(self.columns)} FROM {self._rows} AS a WHERE {there} AND NOT EXISTS ({others})"

    @property
    def crowded(self) -> str:
        """A SELECT of those whose values many have, and of how many have them as `size`."""
        own = ", ".join(f"a.{one} AS {one}" for one in self.columns)
        return f"SELECT {own}, size FROM {self._rows} AS a JOIN crowded{self._number} AS b ON {self._agree}"

    @property
    def _agree(self) -> str:
        return " AND ".join(f"a.{one} = b.{one}" for one in self.by)

    @property
    def _made(self) -> bool:
        return self.table.startswith("(")

    @property
    def _number(self) -> int:
        """How many such parts are inside: each has names of its own."""
        return self.table.count("WITH ")

    @property
    def _rows(self) -> str:
        return f"given{self._number}" if self._made else self.table


def listed(columns: Sequence[str]) -> str:
    """Expressions as c0, c1, ... of a SELECT."""
    return ", ".join(f"{column} AS c{place}" for place, column in enumerate(columns))
