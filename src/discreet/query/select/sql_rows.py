"""Records of a data set while a statement in SQL is read, and what their columns are called in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.core.held import unheld
from discreet.query.select.row_reader import RowReader
from discreet.query.select.sql_text import SqlText, kind_of
from discreet.trust.private_data import PrivateData

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

Bounds = Mapping[str, tuple[float, float]]
OwnBounds = dict[str, tuple[float, float]]


@unheld("one call")
@dataclass
class SqlRows:
    """Records of a data set, chosen and computed with, and what their columns are called in a statement.

    Parameters
    ----------
    sql : SqlText
        The statement.
    data : PrivateData
        The records.
    names : dict of str to str
        Public. The columns of the data, by their names in the statement.
    bounds : dict of str to (float, float)
        Public. Of computed columns, by their names in the statement; those that are used are taken out.
    """

    sql: SqlText
    data: PrivateData
    names: dict[str, str]
    bounds: OwnBounds
    tables: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def reader(self) -> RowReader:
        """Reads numbers and conditions of these records."""
        return RowReader(self.sql, self.names, self.derived, self.tables if len(self.tables) > 1 else {})

    def is_unit(self, node: Node) -> bool:
        """Whether a part of the statement names the column that identifies units."""
        own = self.data.unit.column
        return own is not None and kind_of(node) == "Column" and node.name.lower() == own.lower()

    def column(self, node: Node, label: str | None = None) -> str:
        """The column that a part of the statement is: one that is there, or one that is computed for it."""
        if kind_of(node) == "Column":
            return self.reader.column(node)
        number = self.reader.number(node)
        return self.sql.showing(node, lambda: self.derived(number, label))

    def derived(self, number: str, label: str | None = None) -> str:
        """A column of a number that is computed, under its own name or one that nobody uses."""
        taken = (*self.data.schema.columns, "bounds")
        name = label
        if name is None or name in taken:
            name = next(free for place in range(1, len(taken) + 2) if (free := f"computed_{place}") not in taken)
        bounds = {name: self.bounds.pop(label)} if label is not None and label in self.bounds else None
        self.data = self.data.derive(bounds=bounds, **{name: number})
        return name

    def filtered(self, node: Node) -> None:
        """Leave the records that fulfil a condition alone."""
        condition = self.reader.condition(node)
        self.data = self.sql.showing(node, lambda: self.data.where(condition))


def labelled(item: Node) -> tuple[str, Node]:
    """An item of a SELECT, and its name: that which it is given, or that of a column."""
    if kind_of(item) == "Alias":
        return item.alias, item.this
    return (item.name if kind_of(item) == "Column" else ""), item
