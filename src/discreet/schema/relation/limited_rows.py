"""A limited number of rows of each unit, every row with the same chance; `kept_rows` of sources says which."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.schema.relation.relation_node import PartedRows, RelationNode, RowReach
from discreet.schema.schema import Schema

START = "CAST('0x' || substr(md5(CAST(u AS VARCHAR)), 1, 15) AS BIGINT)"


def place(schema: Schema, unit: str = "u") -> str:
    """The place of a row among its unit's, in SQL; see `kept_rows`."""
    order = ", ".join(f"c{i} NULLS FIRST" for i in range(len(schema.columns)))
    return f"row_number() OVER (PARTITION BY {unit} ORDER BY {order}) - 1 AS place"


def choice(start: str, rows: int) -> str:
    """Whether a row is kept, in SQL, where `start` is where its unit's sample begins, in the same dialect."""
    return f"(place * least({rows}, size) + {start} % size) % size < {rows}"


@dataclass(frozen=True)
class LimitedRows(RelationNode):
    """At most so many rows of each unit.

    Parameters
    ----------
    of : RelationNode
        Public. The rows; those without a unit are left out.
    rows : int
        Public. The most rows of one unit.
    """

    of: RelationNode
    rows: int

    @property
    def schema(self) -> Schema:
        return self.of.schema

    @property
    def reach(self) -> RowReach:
        return RowReach(self.rows)

    @property
    def words(self) -> str:
        own = self.protected
        return f"at most {self.rows} row{'' if self.rows == 1 else 's'} of each {own.kind if own else 'unit'}"

    def unlimited(self) -> RelationNode:
        return self.of.unlimited()

    def select(self, *inputs: str) -> str:
        content = ("u", *(f"c{i}" for i in range(len(self.schema.columns))))
        rows, listed = PartedRows(inputs[0], ("u",), content, self.rows), ", ".join(content)
        placed = f"SELECT *, {place(self.schema)} FROM ({rows.crowded})"
        chosen = f"SELECT {listed} FROM ({placed}) WHERE {choice(START, self.rows)}"
        return f"{rows.before}{rows.few} UNION ALL {chosen}"
