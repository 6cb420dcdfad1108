"""Records as a statistic was given them, and how it opens them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.core.budget import Budget
from discreet.questions.tables.cells import Edges
from discreet.releases.ask import ColumnOf, ColumnsOf, Subject, column_named, columns_named
from discreet.releases.groups import By, Groups
from discreet.trust.as_private import Bounds, Names, as_private, rows_alone
from discreet.trust.private_data import PrivateData

if TYPE_CHECKING:
    from discreet.releases.declaration import Declaration


@dataclass(frozen=True)
class RecordsOf:
    """Records that a statistic opens itself, and what its caller said of them.

    Parameters
    ----------
    data : PrivateData, array, data frame, mapping of arrays, or path
        The records, in the form in which they were given.
    declaration : Declaration
        Public. Of the statistic.
    bounds, where, by, edges, budget, key
        Public. As they were given.
    """

    data: Any
    declaration: Declaration
    bounds: Bounds | None
    where: str | None
    by: By | None
    edges: Edges | None
    budget: Budget
    key: str | None

    @property
    def everybody(self) -> bool:
        """Whether nothing chooses or divides the records."""
        return self.bounds is None and self.where is None and self.by is None

    def opened(self, names: Names | None = None) -> Subject:
        """The records behind a door, those that the condition leaves, with the groups that were asked for."""
        private = as_private(self.data, self.budget, self.bounds, names, self.where)
        return Subject(private, budget=self.budget, key=self.key, groups=self.groups(private))

    def opened_anywhere(self) -> Subject:
        """The same without groups, also where an engine holds the records: the trust model refuses what it cannot."""
        private = as_private(self.data, self.budget, self.bounds, None, self.where)
        return Subject(private, budget=self.budget, key=self.key)

    def counted(self) -> Subject:
        """The same of records of which no value is read."""
        return Subject(rows_alone(self.data, self.budget), budget=self.budget, key=self.key)

    def groups(self, private: PrivateData) -> Groups | None:
        """The groups that were asked for; refused, where a curator is needed and there is none."""
        if self.declaration.curator is not None:
            private.check_curated(self.declaration.title)
        return Groups.wanted(private, self.by, self.edges) if self.by is not None or self.edges is not None else None

    def column(self, column: str | None) -> ColumnOf:
        """One column of the records."""
        private = as_private(self.data, self.budget, self.bounds, column, self.where)
        name = column_named(private, column, self.data) if column is None else column
        plain = self.by is None and self.edges is None and self.declaration.curator is None
        groups = None if plain else self.groups(private)
        return ColumnOf(private, name, budget=self.budget, key=self.key, groups=groups)

    def columns(self, columns: str | Sequence[str] | None) -> ColumnsOf:
        """Some columns of the records."""
        private = as_private(self.data, self.budget, self.bounds, columns, self.where)
        names = columns_named(self.declaration.title, private, columns)
        return ColumnsOf(private, names, budget=self.budget, key=self.key, groups=self.groups(private))
