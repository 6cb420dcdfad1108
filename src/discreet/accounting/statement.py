"""The statement of a ledger: text for a terminal, HTML for a notebook."""

from __future__ import annotations

import math
import os
from html import escape

from discreet.accounting.book import Book
from discreet.accounting.ledger_file import LedgerFile
from discreet.accounting.ledger_view import LedgerView
from discreet.core.ledger import Entry

COLUMNS = ("entry", "time", "analyst", "purpose", "event", "cost", "state")


def show(path: str | os.PathLike[str]) -> str:
    """The statement of the ledger in this file, as text."""
    with LedgerView(Book(LedgerFile(path))) as ledger:
        return text(ledger)


def text(ledger: LedgerView) -> str:
    """The statement as aligned text."""
    rows = [COLUMNS, *_rows(ledger)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([f"{label:<9} {value}" for label, value in _summary(ledger)] + ["", *table])


def html(ledger: LedgerView) -> str:
    """The statement as two tables; everything in it is escaped."""
    summary = "".join(f"<tr><th>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in _summary(ledger))
    header = "".join(f"<th>{name}</th>" for name in COLUMNS)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in _rows(ledger))
    return f"<table>{summary}</table><table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>"


def _summary(ledger: LedgerView) -> list[tuple[str, str]]:
    entries = ledger.entries()
    unit = ledger.unit
    per = f"{unit.kind} ({unit.column}, {unit.limit})" if unit.column else unit.kind
    lines = [("ledger", f"{ledger.name}, for one {per} under {ledger.neighbors.value}")]
    for analyst, rule in ledger.filters.items():
        stands = ledger.balance(analyst)
        how = "pure" if math.isinf(rule.order) else f"Renyi, order {rule.order:g}"
        lines.append(
            (
                analyst or "data set",
                f"epsilon {stands.spent:.6g} of {rule.budget.epsilon:g} spent, {stands.remaining:.6g} left,"
                f" at delta {rule.budget.delta:g}; {stands.used:.1%} of the cap ({how})",
            )
        )
    dangling = sum(not entry.committed for entry in entries)
    lines.append(("charges", f"{len(entries)}, of which {dangling} dangling"))
    return [*lines, ("head", ledger.head)]


def _rows(ledger: LedgerView) -> list[tuple[str, ...]]:
    return [_row(entry) for entry in ledger.entries()]


def _row(entry: Entry) -> tuple[str, ...]:
    state = "committed" if entry.committed else "dangling: spent, never handed out"
    cost = f"{entry.divergence:.6g}" + (f", delta {entry.delta:.3g}" if entry.delta else "")
    return (
        str(entry.number),
        f"{entry.at[:19]}Z",
        entry.analyst or "",
        _plain(entry.purpose),
        entry.event.kind,
        f"waived: {_plain(entry.waiver)}" if entry.waiver else cost,
        state,
    )


def _plain(words: str) -> str:
    """Words on one line, without control characters that could rewrite a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in words)
