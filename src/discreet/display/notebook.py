"""Parts of a page for notebooks: they take the colours of the page, light or dark, and the width that it has."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence

from discreet.display.plain import plain

STYLE = """
.discreet { max-width: 100%; overflow-x: auto; line-height: 1.45; color: inherit; background: none; }
.discreet table { border-collapse: collapse; table-layout: auto; margin: .3em 0; background: none; color: inherit;
  font-size: inherit; }
.discreet table tr:nth-child(n) { background: none; border-bottom: 1px solid rgba(128, 128, 128, .35); }
.discreet th, .discreet td { padding: .25em .9em .25em 0; vertical-align: top; text-align: left; white-space: normal;
  overflow-wrap: break-word; word-break: normal; background: none; }
.discreet th { font-weight: 500; }
.discreet td { font-variant-numeric: tabular-nums; }
.discreet .title { margin: .3em 0; font-weight: 600; }
.discreet .facts td { overflow-wrap: anywhere; }
.discreet th, .discreet .words td, .discreet .numbers td, .discreet .whole { white-space: nowrap; }
.discreet table .long { white-space: normal; }
.discreet .numbers td, .discreet .numbers thead .number { text-align: right; }
.discreet summary { cursor: pointer; text-decoration: underline dotted; text-underline-offset: .25em; }
"""
SHORT = 32  # letters that stay on one line: a table scrolls sideways rather than stack words
HYPHENATED = re.compile(r"[^\s()]*\d[^\s()]*-[^\s(),;]+")  # such as 1e-06 and 2026-11-16, which browsers would break


def carded(*parts: str) -> str:
    """Parts of a page in a frame whose style reaches nothing else.

    Examples
    --------
    >>> carded(facts({"unit": "one <record>"})).endswith("<td>one &lt;record&gt;</td></tr></table></div>")
    True
    """
    return f"<style>{STYLE}</style><div class='discreet'>{''.join(parts)}</div>"


def facts(lines: Mapping[str, str]) -> str:
    """Names and texts, a row for each."""
    rows = (f"<tr><th>{safe(name)}</th><td>{unbroken(text)}</td></tr>" for name, text in lines.items())
    return f"<table class='facts'>{''.join(rows)}</table>"


def grid(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], labels: int = 1, kind: str = "numbers") -> str:
    """A table with a title and a head, whose first cells in each row are labels."""
    above = f"<p class='title'>{unbroken(title)}</p>" if title else ""
    body = "".join(f"<tr>{_cells('th', row[:labels])}{_cells('td', row[labels:])}</tr>" for row in rows)
    top = f"<thead><tr>{_cells('th', head[:labels])}{_cells('th', head[labels:], 'number')}</tr></thead>"
    return f"{above}<table class='{kind}'>{top}<tbody>{body}</tbody></table>"


def folded(summary: str, part: str) -> str:
    """A part that opens when its summary is clicked."""
    return f"<details><summary>{safe(summary)}</summary>{part}</details>"


def safe(text: str) -> str:
    """Text without markup and without control characters."""
    return html.escape(plain(text))


def unbroken(text: str) -> str:
    """Text without markup, whose numbers and dates stay whole."""
    return HYPHENATED.sub(r"<span class='whole'>\g<0></span>", safe(text))


def _cells(tag: str, texts: Sequence[str], kind: str = "") -> str:
    cells = []
    for text in texts:
        kinds = " ".join(filter(None, (kind, "long" if len(text) > SHORT else "")))
        named = f" class='{kinds}'" if kinds else ""
        cells.append(f"<{tag}{named}>{safe(text)}</{tag}>")
    return "".join(cells)
