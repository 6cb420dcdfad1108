"""A report as a web page: one file, no script, nothing from a network, everything escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.events import written
from discreet.core.neighbors import Neighbors
from discreet.display.digits import error_bar, number
from discreet.display.document import document, framed, tiles
from discreet.display.notebook import safe, unbroken
from discreet.query.chart import Bar, columns_chart, row_chart
from discreet.query.text import error_text, value_text
from discreet.releases.card_page import limits
from discreet.releases.privacy_card import PrivacyCard
from discreet.schema.schema import Number

if TYPE_CHECKING:
    from discreet.query.column_profile import ColumnProfile
    from discreet.query.report import Report

NOT_PRIVATE = (
    "<p class='warning'><b>Not private.</b> The noise of this report can be replayed by whoever knows its seed. "
    "Use it for tests only.</p>"
)
RELATION = {
    Neighbors.ADD_REMOVE: "two tables that differ by one of these, added or removed, must look alike",
    Neighbors.REPLACE: "two tables that differ in one of these must look alike; how many there are is public",
}
CHARTED = 20  # names that are shown at once


def page(report: Report) -> str:
    """The report as a whole document."""
    return document(f"Private profile of {report.title}{report.receipt.among}", fragment(report))


def fragment(report: Report) -> str:
    """The report as a part of another document, whose sheet it needs."""
    return framed(_head(report), *(_section(column) for column in report.columns), _card(report))


def _head(report: Report) -> str:
    unit = safe(report.receipt.unit.kind)
    figures = {
        "epsilon": f"{report.budget.epsilon:g}",
        "delta": f"{report.budget.delta:g}",
        "protects": f"one {report.receipt.unit.kind}",
        "columns": str(len(report.columns)),
        "error bars": "95 %",
    }
    return (
        f"<header><p class='kicker'>Private profile</p><h1>{safe(report.title + report.receipt.among)}</h1>"
        f"<p class='lead'>Every number below carries noise that hides whether any one {unit} is in the table. "
        "The ± is how far the noise may have moved it, with 95 % confidence.</p>"
        f"{tiles(figures)}</header>{'' if report.receipt.secret else NOT_PRIVATE}"
    )


def _section(column: ColumnProfile) -> str:
    shown = _number(column) if isinstance(column.kind, Number) else _names(column)
    return f"<section><h2>{safe(column.name)}</h2><p class='kind'>{unbroken(column.description)}</p>{shown}</section>"


def _number(column: ColumnProfile) -> str:
    figures = "".join(
        f"<tr><th>{safe(each.name)}</th><td>{value_text(each)}</td><td class='error'>± {error_text(each)}</td></tr>"
        for each in column.figures
    )
    cells = "".join(f"<tr><th>{safe(bar.label)}</th>{_figure(bar)}</tr>" for bar in column.bars)
    return (
        f"<div class='both'><table class='figures'>{figures}</table>"
        f"<figure>{columns_chart(column.bars, column.edges, column.shown)}</figure></div>"
        f"<details><summary>All {len(column.bars)} cells</summary><table class='figures'>{cells}</table></details>"
    )


def _names(column: ColumnProfile) -> str:
    if not column.bars:
        return "<p class='none'>No value is frequent enough to be named.</p>"
    most = max(1.0, *(bar.high for bar in column.bars))
    rows = [
        f"<tr><th>{safe(bar.label)}</th><td class='bar'>{row_chart(bar, most)}</td>{_figure(bar)}</tr>"
        for bar in column.bars
    ]
    first, rest = "".join(rows[:CHARTED]), "".join(rows[CHARTED:])
    more = f"<details><summary>{len(rows) - CHARTED} more</summary><table class='figures'>{rest}</table></details>"
    return f"<table class='figures'>{first}</table>{more if rest else ''}"


def _figure(bar: Bar) -> str:
    return f"<td>{number(bar.count, bar.error)}</td><td class='error'>± {error_bar(bar.error)}</td>"


def _card(report: Report) -> str:
    card = PrivacyCard.of(report.receipt)
    rows = "".join(f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in _promise(report).items())
    bounds = "".join(
        f"<li><b>{safe(column.name)}</b>: {unbroken(column.description)}</li>" for column in report.columns
    )
    return (
        "<section class='card'><h2>Privacy card</h2>"
        f"<table class='promise'>{rows}</table>"
        "<div class='notes'><div><h3>Taken from the schema, not from the data</h3>"
        f"<ul>{bounds}</ul><p>{_treatment(report)}</p></div>"
        f"<div><h3>What is not protected</h3>{limits(card.limits)}</div></div></section>"
    )


def _treatment(report: Report) -> str:
    """What became of values that do not fit the schema."""
    size_is_public = report.receipt.neighbors is Neighbors.REPLACE and report.receipt.unit.kind == "record"
    middle = " In counts, means and standard deviations, they count as the middle of their bounds, since the number of "
    return (
        "Numbers outside their bounds were moved to the nearer one before they were added; values that are missing, "
        "unreadable or not listed were left out." + (f"{middle}records is public." if size_is_public else "")
    )


def _promise(report: Report) -> dict[str, str]:
    """The rows of the privacy card, as escaped text."""
    receipt, budget, balance = report.receipt, report.budget, report.balance
    unit = receipt.unit
    rows = "" if unit.kind == "record" else f" (identified by {unit.column!r}, {unit.limit})"
    facts = {
        "unit": f"one {unit.kind}{rows}",
        "relation": RELATION[receipt.neighbors],
        "promise": f"({budget.epsilon:g}, {budget.delta:g})-differential privacy for the whole report",
        "event": receipt.lines()["released"],
        "noise": receipt.lines()["noise"],
        "ledger": str(balance),
        "key": receipt.key,
        "head": receipt.head,
        "software": f"discreet {report.version}",
    }
    exact = f"<details><summary>as in the ledger</summary><code>{safe(written(receipt.event))}</code></details>"
    return {name: unbroken(text) + (exact if name == "event" else "") for name, text in facts.items()}
