"""The statement of a ledger: text for a terminal, HTML for a notebook."""

from __future__ import annotations

import os

from discreet.core.ledger import Entry
from discreet.display.notebook import facts, grid
from discreet.display.plain import plain
from discreet.ledger.book import Book
from discreet.ledger.ledger_file import LedgerFile
from discreet.ledger.ledger_view import FileView, LedgerView

COLUMNS = ("entry", "day", "analyst", "purpose", "event", "cost", "state")


def show(path: str | os.PathLike[str]) -> str:
    """The statement of the ledger in this file, as text."""
    with FileView(Book(LedgerFile(path))) as ledger:
        return text(ledger)


def text(ledger: LedgerView) -> str:
    """The statement as aligned text."""
    rows = [COLUMNS, *(tuple(map(plain, row)) for row in _rows(ledger))]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([f"{plain(label):<9} {plain(value)}" for label, value in _summary(ledger)] + ["", *table])


def html(ledger: LedgerView) -> str:
    """The statement as two tables; everything in it is escaped."""
    return facts(dict(_summary(ledger))) + grid("", COLUMNS, _rows(ledger), kind="words")


def _summary(ledger: LedgerView) -> list[tuple[str, str]]:
    entries = ledger.entries()
    lines = [("ledger", f"{ledger.name}, {_protects(ledger)}")]
    lines += [(analyst or "data set", str(ledger.balance(analyst))) for analyst in ledger.accounts]
    dangling = sum(not entry.committed for entry in entries)
    lines.append(("charges", f"{len(entries)}, of which {dangling} dangling"))
    return [*lines, ("head", ledger.head)]


def _protects(ledger: LedgerView) -> str:
    unit, relation = ledger.unit, ledger.neighbors
    if unit is None or relation is None:
        return "for any relation"
    limit = f" ({unit.column}, {unit.limit})" if unit.column else f" ({unit.limit})" if unit.reach else ""
    return f"for one {unit.kind}{limit} under {relation.value}"


def _rows(ledger: LedgerView) -> list[tuple[str, ...]]:
    return [_row(entry) for entry in ledger.entries()]


def _row(entry: Entry) -> tuple[str, ...]:
    state = "committed" if entry.committed else "dangling: spent, never handed out"
    state += "" if entry.secret else "; from known bits: NOT PRIVATE"
    cost = f"epsilon {entry.epsilon:.6g}" + (f", delta {entry.delta:.3g}" if entry.delta else "")
    return (
        str(entry.number),
        entry.at,
        entry.analyst or "",
        entry.purpose,
        entry.event.kind,
        f"waived: {entry.waiver}" if entry.waiver else cost,
        state,
    )
