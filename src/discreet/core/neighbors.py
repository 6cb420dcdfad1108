"""Which two data sets must look alike, and whose presence is hidden."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError

MOST_ROWS = 2**30  # of a unit, so that noise for all of them fits the grids


class Neighbors(Enum):
    """The relation under which a promise is made; one per data set, never guessed.

    Examples
    --------
    >>> Neighbors.ADD_REMOVE.reach, Neighbors.REPLACE.reach, Neighbors("replace")
    (1, 2, <Neighbors.REPLACE: 'replace'>)
    """

    ADD_REMOVE = "add_remove"
    """One data set has one unit more. The number of units is secret."""

    REPLACE = "replace"
    """One unit differs. The number of units is public."""

    reach: int
    """How many bound radii a sum can move between neighbors."""

    def __init__(self, name: str) -> None:
        self.reach = {"add_remove": 1, "replace": 2}[name]


@dataclass(frozen=True)
class Unit:
    """Whose presence is hidden: one record, or everything that one person (edge, node, event) brings.

    Or less: the value of one attribute in one record, all other values being known; or the position of one row within a
    public reach, where the row is and about where being known. Accounts and receipts say so, and `PrivateData`, whose
    questions are about whole records, refuses these units.

    Parameters
    ----------
    kind : {"record", "user", "edge", "node", "event", "attribute", "position"}
        Public. What a unit is.
    column : str, optional
        Public. The column that identifies units; none for records. For an attribute, its name.
    rows : int
        Public. The most rows of one unit that are used; the rest are left out, without bias. At most 2**30. A record is
        one row, which may become several where tables are joined.
    pooled : bool
        Public. Instead, all rows of a unit are used, and what they add up to is clipped to the bound of a single row.
        A unit then moves a sum by one bound, however many rows it has: counts count units, and each weighs alike.
    reach : float, optional
        Public. Of a position: the greatest distance that a row may move by.

    Examples
    --------
    >>> Unit("user", column="patient", rows=3).limit
    'at most 3 rows of each'
    >>> Unit("user", column="patient", pooled=True).limit
    'all rows of each bounded together'
    """

    kind: Literal["record", "user", "edge", "node", "event", "attribute", "position"] = "record"
    column: str | None = None
    rows: int = 1
    pooled: bool = False
    reach: float | None = None

    @property
    def is_row(self) -> bool:
        """Whether each unit is one row: a record, or an edge of a graph."""
        single = self.kind == "record" and self.rows == 1
        return single or (self.kind == "edge" and self.column is None)

    @property
    def limit(self) -> str:
        """What bounds a unit that may have many rows, in words."""
        if self.kind == "node" and self.column is None:
            return "all edges at it; the list of nodes is public"
        if self.kind == "attribute":
            return "of one record, whose other columns are not protected"
        if self.kind == "position":
            return f"of one row, to within {self.reach:g}; whether and about where the row is, is not protected"
        return "all rows of each bounded together" if self.pooled else f"at most {self.rows} rows of each"

    @property
    def loss(self) -> str | None:
        """What its limit may take away from answers, in words; None where it has none.

        Examples
        --------
        >>> Unit("user", column="patient", rows=3).loss
        'counts and sums are too small where a user has more than 3 rows: the others are left out'
        """
        if self.column is None or self.kind == "attribute":
            return None
        if self.pooled:
            return f"a {self.kind} with many rows counts as one with a single row: sums are of clipped totals"
        rows = "1 row" if self.rows == 1 else f"{self.rows} rows"
        cut = f"where a {self.kind} has more than {rows}: the others are left out"
        return f"counts and sums are too small {cut}"

    def protects_as(self, other: Unit) -> bool:
        """Whether the same is hidden: what a limit leaves out changes answers, and not who is protected.

        Examples
        --------
        >>> Unit("user", column="patient", rows=3).protects_as(Unit("user", column="patient", pooled=True))
        True
        """
        return (self.kind, self.column, self.reach) == (other.kind, other.column, other.reach)

    def __post_init__(self) -> None:
        check_whole("privacy unit", "rows", self.rows, most=MOST_ROWS)
        if self.kind == "record" and self.column is not None:
            remedy = 'Write Unit("user", column=..., rows=...) to protect all rows of a person.'
            raise ParameterError("privacy unit", "a record is a row by itself and needs no column", remedy)
        if self.pooled and (self.column is None or self.rows != 1):
            obstacle = "pooled units are identified by a column, and none of their rows is left out"
            raise ParameterError("privacy unit", obstacle, 'Write Unit("user", column=..., pooled=True), without rows.')
        if self.kind == "attribute" and (self.column is None or self.rows != 1 or self.pooled):
            obstacle = "an attribute is one value of one record, and has a name"
            raise ParameterError("privacy unit", obstacle, 'Write Unit("attribute", column="...").')
        if (self.kind == "position") != (self.reach is not None):
            obstacle = f"the unit is a {self.kind} and the reach is {self.reach}"
            raise ParameterError("privacy unit", obstacle, 'Write Unit("position", reach=...); no other unit has one.')
        if self.kind == "position":
            check_positive("privacy unit", "reach", self.reach or 0.0, 2.0**-500, 2.0**500)
            if self.column is not None or self.rows != 1 or self.pooled:
                obstacle = "a position is that of one row, in all columns"
                raise ParameterError("privacy unit", obstacle, 'Write Unit("position", reach=...), and nothing else.')
        if self.kind == "user" and self.column is None:
            raise ParameterError("privacy unit", "no column identifies users", 'Write Unit("user", column="...").')


RECORD = Unit()


def check_protected(asked: str, neighbors: object, unit: object) -> None:
    """Refuse what is no relation, or no unit, such as their names.

    Examples
    --------
    >>> check_protected("private data", Neighbors.REPLACE, RECORD)
    """
    if not isinstance(neighbors, Neighbors):
        remedy = "Give Neighbors.ADD_REMOVE or Neighbors.REPLACE."
        raise ParameterError(asked, f"neighbors is {neighbors!r:.80}", remedy, neighbors=neighbors)
    if not isinstance(unit, Unit):
        remedy = 'Give a Unit, such as Unit("user", column="patient", rows=3).'
        raise ParameterError(asked, f"the unit is {unit!r:.80}", remedy, unit=unit)
    if unit.kind == "record" and unit.rows != 1:
        remedy = 'Write Unit("user", column=..., rows=...) to protect all rows of a person.'
        raise ParameterError(asked, f"a record is one row, and the unit has {unit.rows}", remedy, unit=unit)
