"""A table of which one thing alone is hidden: that one of its rows moved a little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from discreet.core.answer import MovableRows
from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.held import Secret
from discreet.core.ledger import Ledger
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.receipt import Receipt
from discreet.display.plain import plain
from discreet.ledger.memory_ledger import account_of
from discreet.mechanisms.vectors.moved_row_sketch import MOST_COLUMNS, MOST_ROWS, MovedRowSketch
from discreet.noise.system_bits import system_bits
from discreet.trust.curator import ViewCurator
from discreet.trust.holder import Holder
from discreet.trust.permit import Description

ASKED = "moving table"


@dataclass(frozen=True)
class PaidProjections:
    """What was released, and what it cost."""

    vectors: Array
    receipt: Receipt


@dataclass(frozen=True)
class PositionsView(Secret):
    """The rows of a moving table, as a permit shows them to a question."""

    values: Array = field(repr=False)
    unit: Unit
    bits: Bits = field(repr=False)
    neighbors: ClassVar[Neighbors] = Neighbors.REPLACE


@dataclass(frozen=True)
class AllPositions:
    """All rows at once, of which one may have moved."""

    columns: ClassVar[tuple[str, ...]] = ()

    def answer(self, view: Any) -> MovableRows:
        """The rows, and how far one may have moved."""
        assert view.unit.reach is not None
        return MovableRows(view.values, view.unit.reach)


class MovingTable(Holder, Secret):
    """Rows of any length. Neighbors differ in one row, by a vector no longer than a public reach.

    This protects less than records. Who is in the table, and about where, is not hidden: only the difference between a
    row and others within the reach is. Its account is opened for positions alone, so it cannot pay for anything about
    records, and no account for records can pay for it.

    Parameters
    ----------
    rows : array of shape (n, columns)
        Finite numbers, at most 2**24 rows of 2**12 columns. Those longer than 1024 reaches are shrunk to that length.
    reach : float
        Public. How far one row may move, in the units of the columns.
    ledger : Ledger or Budget
        The account. A budget alone is an account in memory, for as many releases as it pays.
    columns : sequence of str, optional
        Public. What the columns are called; x0, x1, ... where not given.
    bits : Bits, optional
        Where noise comes from; anything but the system's makes releases that are not private.

    Attributes
    ----------
    neighbors : Neighbors
        One row is replaced by another, within the reach.

    Examples
    --------
    >>> MovingTable([[250.0, 3.0], [180.0, 40.0]], 2.0, Budget(1.0, 1e-6))
    MovingTable(2 rows of x0, x1; reach 2)
    """

    neighbors = Neighbors.REPLACE

    def __init__(
        self,
        rows: Any,
        reach: float,
        ledger: Ledger | Budget,
        *,
        columns: Sequence[str] | None = None,
        bits: Bits | None = None,
    ) -> None:
        self.unit = Unit("position", reach=reach)
        values = _positions(rows)
        if len(values) > MOST_ROWS or values.shape[1] > MOST_COLUMNS:
            raise ParameterError(ASKED, f"it is {values.shape}", f"Give at most {MOST_ROWS} times {MOST_COLUMNS}.")
        self.reach = float(reach)
        self.columns = tuple(f"x{i}" for i in range(values.shape[1])) if columns is None else tuple(columns)
        if len(self.columns) != values.shape[1] or len(set(self.columns)) != len(self.columns):
            raise ParameterError(ASKED, f"the columns are {self.columns}", f"Name each of {values.shape[1]} once.")
        self.ledger = account_of(ledger, Neighbors.REPLACE, self.unit)
        if (self.ledger.neighbors, self.ledger.unit) != (Neighbors.REPLACE, self.unit):
            obstacle = f"the ledger was opened for {self.ledger.neighbors} and {self.ledger.unit}"
            raise ParameterError(ASKED, obstacle, f"Open one for {Neighbors.REPLACE} and {self.unit}.")
        self._view = PositionsView(values, self.unit, system_bits() if bits is None else bits)

    def __len__(self) -> int:
        """The number of rows, which is public."""
        return len(self._view.values)

    def projected(self, sketch: MovedRowSketch, purpose: str) -> PaidProjections:
        """Pay for a sketch of all rows, and release it."""
        if sketch.reach != self.reach:
            obstacle = f"the sketch is for a reach of {sketch.reach:g}, and that of the table is {self.reach:g}"
            raise ParameterError(purpose, obstacle, "Make the sketch for the reach of the table.")
        with self.permit(sketch.event, purpose) as permit:
            vectors = permit.ask(AllPositions(), sketch)
            permit.commit(vectors.tobytes())
        return PaidProjections(vectors, permit.receipt)

    def _promise(self, plan: Event | Description) -> ViewCurator:
        return ViewCurator(self._view)

    def __repr__(self) -> str:
        return plain(f"MovingTable({len(self)} rows of {', '.join(self.columns)}; reach {self.reach:g})")


def _positions(rows: Any) -> Array:
    try:
        values = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 2 or not (values.shape[1] and np.isfinite(values).all()):
        remedy = "Give one row of finite numbers for each record: what is missing has no position."
        raise ParameterError(ASKED, "the rows are not a table of finite numbers", remedy)
    return values
