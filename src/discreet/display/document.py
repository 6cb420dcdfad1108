"""A report as a web page of its own: one file, no script, nothing from a network."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.display.notebook import safe

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
.discreet-report .wide th, .discreet-report .wide td { white-space: nowrap; padding-right: 18px; }
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
.discreet-report figure .curve { max-width: 420px; margin: 0 auto; }
.discreet-report figure .curve text { font-size: 12px; }
@media print { .discreet-report { background: none; } .discreet-report main { padding: 0; } }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def document(title: str, body: str) -> str:
    """A whole document around a body that is HTML already; the title is escaped.

    Examples
    --------
    >>> "<title>a &lt;b&gt;</title>" in document("a <b>", framed("<p>text</p>"))
    True
    """
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">'
        f"<title>{safe(title)}</title></head>"
        f'<body style="margin:0">{body}</body></html>\n'
    )


def framed(*parts: str) -> str:
    """Parts of a page in the frame to which the style belongs."""
    return f"<style>{STYLE}</style><div class='discreet-report'><main>{''.join(parts)}</main></div>"


def tiles(figures: Mapping[str, str]) -> str:
    """Figures that stand out, each below its name."""
    drawn = (f"<div><dt>{safe(name)}</dt><dd>{safe(value)}</dd></div>" for name, value in figures.items())
    return f"<dl class='tiles'>{''.join(drawn)}</dl>"
