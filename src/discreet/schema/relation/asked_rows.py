"""What is asked of rows: groups, statistics of each, and which of the released ones are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.schema.relation.relation_node import RelationNode, RowReach
from discreet.schema.schema import Schema


@dataclass(frozen=True)
class GroupedRows(RelationNode):
    """Rows by groups.

    Parameters
    ----------
    of : RelationNode
        Public. The rows.
    by : tuple of str
        Public. The columns whose values make groups; none, where all rows are one.
    edges : sequence, or mapping of str to sequences, optional
        Public. The ends of the cells of numbers.
    """

    of: RelationNode
    by: tuple[str, ...] = ()
    edges: Any = None

    @property
    def schema(self) -> Schema:
        return self.of.schema

    @property
    def reach(self) -> RowReach:
        return self.of.reach

    @property
    def words(self) -> str:
        return f"by {', '.join(self.by)}" if self.by else "all rows together"


@dataclass(frozen=True)
class RowStatistic:
    """A statistic of every group, by the name of the function that computes it.

    Parameters
    ----------
    label : str
        Public. What its column is called.
    statistic : str
        Public. The name of the statistic.
    options : tuple of (str, object)
        Public. Its column, and what else was said of it.
    weight : float
        Public. Its share of the price, in proportion to those of the others.
    """

    label: str
    statistic: str
    options: tuple[tuple[str, Any], ...] = ()
    weight: float = 1.0

    @property
    def column(self) -> str | None:
        """The column that it is about."""
        found: str | None = dict(self.options).get("column")
        return found


@dataclass(frozen=True)
class StatisticRows(RelationNode):
    """Statistics of every group, released at one price.

    Parameters
    ----------
    of : RelationNode
        Public. The groups.
    statistics : tuple of RowStatistic
        Public. What is released of each.
    """

    of: RelationNode
    statistics: tuple[RowStatistic, ...]

    @property
    def schema(self) -> Schema:
        return self.of.schema

    @property
    def reach(self) -> RowReach:
        return self.of.reach

    @property
    def words(self) -> str:
        return f"release {', '.join(one.label for one in self.statistics)}"


@dataclass(frozen=True)
class Having:
    """Rows whose released number compares in this way with another."""

    column: str
    sign: str
    value: float


@dataclass(frozen=True)
class Ordered:
    """Rows by a label or a released number, the least first unless it descends.

    Labels are ordered as texts; those of cells of numbers as the cells are.
    """

    column: str
    descends: bool = False
    cells: bool = False


@dataclass(frozen=True)
class ShownGroups(RelationNode):
    """Which released groups are shown, and in which order: they are public, so no unit moves them any more.

    Parameters
    ----------
    of : RelationNode
        Public. What is released.
    having : tuple of Having
        Public. All of which must hold.
    order : tuple of Ordered
        Public. The first decides, the next where it is equal.
    limit : int, optional
        Public. At most so many.
    """

    of: RelationNode
    having: tuple[Having, ...] = ()
    order: tuple[Ordered, ...] = ()
    limit: int | None = None

    @property
    def schema(self) -> Schema:
        return self.of.schema

    @property
    def reach(self) -> RowReach:
        return RowReach(0)

    @property
    def words(self) -> str:
        parts = [f"{one.column} {one.sign} {one.value:g}" for one in self.having]
        parts += [f"order by {one.column}{' down' if one.descends else ''}" for one in self.order]
        return "show " + ", ".join([*parts, *([] if self.limit is None else [f"at most {self.limit}"])] or ["all"])
