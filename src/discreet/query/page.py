"""A report as a web page: one file, no script, nothing from a network, everything escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.events import written
from discreet.core.neighbors import Neighbors
from discreet.display.digits import error_bar, number
from discreet.display.notebook import safe, unbroken
from discreet.query.chart import Bar, columns_chart, row_chart
from discreet.query.text import error_text, value_text
from discreet.schema.schema import Number

if TYPE_CHECKING:
    from discreet.query.column_profile import ColumnProfile
    from discreet.query.report import Report

STYLE = """
.discreet-report {
  --ink: #1b2430; --soft: #5c6877; --line: #dde3ea; --paper: #f5f7f9; --card: #ffffff;
  --bar: #3b82a0; --error: #16303d; --accent: #1f6f8b; --warn: #8a3b12; --warn-paper: #fdeee4;
  background: var(--paper); color: var(--ink); line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; font-size: 15px;
}
@media (prefers-color-scheme: dark) { .discreet-report {
  --ink: #e6ebf0; --soft: #98a5b3; --line: #2c3641; --paper: #12171d; --card: #1a2129;
  --bar: #4f9ab8; --error: #dbeaf1; --accent: #7cc4dd; --warn: #f4b183; --warn-paper: #3a2416;
} }
.discreet-report * { box-sizing: border-box; }
.discreet-report main { max-width: 1080px; margin: 0 auto; padding: 40px 24px 64px; }
.discreet-report header { margin-bottom: 28px; }
.discreet-report .kicker { margin: 0; color: var(--accent); font-weight: 600; font-size: 13px;
  letter-spacing: .08em; text-transform: uppercase; }
.discreet-report h1 { margin: 4px 0 8px; font-size: 32px; line-height: 1.2; overflow-wrap: break-word; }
.discreet-report h2 { margin: 0; font-size: 20px; overflow-wrap: break-word; }
.discreet-report h3 { margin: 0 0 8px; font-size: 15px; }
.discreet-report .lead { margin: 0 0 20px; color: var(--soft); max-width: 72ch; }
.discreet-report .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr));
  gap: 12px; margin: 0; }
.discreet-report .tiles div { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 12px 16px; }
.discreet-report dt { color: var(--soft); font-size: 13px; }
.discreet-report dd { margin: 0; font-size: 20px; font-weight: 600; font-variant-numeric: tabular-nums; }
.discreet-report section { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 22px 24px; margin: 16px 0; break-inside: avoid; overflow-x: auto; }
.discreet-report .kind { margin: 2px 0 14px; color: var(--soft); font-size: 13.5px; overflow-wrap: break-word; }
.discreet-report .both { display: grid; grid-template-columns: minmax(min(270px, 100%), 1fr) 2fr; gap: 28px;
  align-items: center; }
.discreet-report figure { margin: 0; min-width: 0; }
.discreet-report .none { color: var(--soft); margin: 6px 0 0; }
.discreet-report .chart { width: 100%; display: block; overflow: visible; }
.discreet-report figure .chart { height: auto; }
.discreet-report .chart text { fill: var(--soft); font-size: 12px; font-variant-numeric: tabular-nums; }
.discreet-report .chart rect { fill: var(--bar); }
.discreet-report .chart g:hover rect { fill: var(--accent); }
.discreet-report .chart .grid { stroke: var(--line); stroke-width: 1; }
.discreet-report .chart .axis { stroke: var(--soft); stroke-width: 1; }
.discreet-report .chart .error { stroke: var(--error); stroke-width: 1.6; stroke-linecap: round; }
.discreet-report table { border-collapse: collapse; table-layout: auto; width: 100%; background: none; margin: 0;
  font-size: inherit; }
.discreet-report table tr:nth-child(n) { background: none; border-bottom: 1px solid var(--line); }
.discreet-report table tr:last-child { border-bottom: 0; }
.discreet-report th { text-align: left; font-weight: 500; color: var(--soft); padding: 6px 12px 6px 0; }
.discreet-report td { padding: 6px 0; font-variant-numeric: tabular-nums; text-align: left; }
.discreet-report .figures td { text-align: right; white-space: nowrap; font-weight: 600; }
.discreet-report .figures td.error { color: var(--soft); font-weight: 400; padding-left: 10px; width: 1%; }
.discreet-report .figures td.bar { width: 70%; min-width: 90px; padding: 3px 14px 3px 0; }
.discreet-report code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12.5px;
  overflow-wrap: anywhere; }
.discreet-report details { margin-top: 14px; }
.discreet-report .both + details table { max-width: 420px; margin-top: 8px; font-size: 13.5px; }
.discreet-report .promise details { margin-top: 2px; }
.discreet-report summary { color: var(--accent); cursor: pointer; font-size: 13.5px; }
.discreet-report .promise th { width: 110px; vertical-align: top; }
.discreet-report .promise td { overflow-wrap: anywhere; }
.discreet-report .whole { white-space: nowrap; }
.discreet-report .card h2 { margin-bottom: 12px; }
.discreet-report .notes { display: grid; grid-template-columns: 1fr 1fr; gap: 28px; margin-top: 22px; font-size: 14px; }
.discreet-report .notes ul { margin: 0 0 10px; padding-left: 18px; }
.discreet-report .notes li { margin: 3px 0; overflow-wrap: break-word; }
.discreet-report .notes p { margin: 0; color: var(--soft); }
.discreet-report .warning { background: var(--warn-paper); color: var(--warn); border: 1px solid currentColor;
  border-radius: 10px; padding: 12px 16px; margin: 0 0 16px; }
@media (max-width: 760px) {
  .discreet-report main { padding: 24px 14px 40px; }
  .discreet-report .both, .discreet-report .notes { grid-template-columns: minmax(0, 1fr); gap: 16px; }
  .discreet-report figure .chart text { font-size: 20px; }
  .discreet-report .figures td.bar { width: 45%; }
}
@media print { .discreet-report { background: none; } .discreet-report main { padding: 0; } }
"""


POLICY = "default-src 'none'; style-src 'unsafe-inline'"
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
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">'
        f"<title>Private profile of {safe(report.title + report.receipt.among)}</title></head>"
        f'<body style="margin:0">{fragment(report)}</body></html>\n'
    )


def fragment(report: Report) -> str:
    """The report as a part of another document, such as a notebook."""
    sections = "".join(_section(column) for column in report.columns)
    main = f"<main>{_head(report)}{sections}{_card(report)}</main>"
    return f"<style>{STYLE}</style><div class='discreet-report'>{main}</div>"


def _head(report: Report) -> str:
    unit = safe(report.receipt.unit.kind)
    tiles = {
        "epsilon": f"{report.budget.epsilon:g}",
        "delta": f"{report.budget.delta:g}",
        "protects": f"one {unit}",
        "columns": str(len(report.columns)),
        "error bars": "95 %",
    }
    drawn = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in tiles.items())
    return (
        f"<header><p class='kicker'>Private profile</p><h1>{safe(report.title + report.receipt.among)}</h1>"
        f"<p class='lead'>Every number below carries noise that hides whether any one {unit} is in the table. "
        "The ± is how far the noise may have moved it, with 95 % confidence.</p>"
        f"<dl class='tiles'>{drawn}</dl></header>{'' if report.receipt.secret else NOT_PRIVATE}"
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
    rows = "".join(f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in _promise(report).items())
    bounds = "".join(
        f"<li><b>{safe(column.name)}</b>: {unbroken(column.description)}</li>" for column in report.columns
    )
    return (
        "<section class='card'><h2>Privacy card</h2>"
        f"<table class='promise'>{rows}</table>"
        "<div class='notes'><div><h3>Taken from the schema, not from the data</h3>"
        f"<ul>{bounds}</ul><p>{_treatment(report)}</p></div>"
        f"<div><h3>What is not protected</h3><ul>{_limits(report)}</ul></div></div></section>"
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


def _limits(report: Report) -> str:
    count = "" if report.receipt.neighbors is Neighbors.ADD_REMOVE else "The number of records is public."
    whole = report.receipt.unit.kind != "record"
    several = "" if whole else "A person with several rows is protected row by row only."
    limits = [
        "Facts that hold for the table as a whole, such as a common link between two columns, remain visible: privacy "
        "hides individuals, not patterns.",
        several,
        count,
        "The schema, its bounds and its lists are public, and so are the file's name and column names.",
        "Other releases about the same people add to this loss unless they are charged to the same ledger.",
    ]
    return "".join(f"<li>{limit}</li>" for limit in limits if limit)
