"""Parts of a page for notebooks: they take the colours of the page, light or dark, and the width that it has."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence

from discreet.core.display import plain

STYLE = """
.discreet { max-width: 100%; overflow-x: auto; line-height: 1.45; color: inherit; background: none; }
.discreet table { border-collapse: collapse; margin: .3em 0; background: none; color: inherit; }
.discreet caption { caption-side: top; text-align: left; font-weight: 600; padding: .2em 0; color: inherit; }
.discreet tr { background: none; border-bottom: 1px solid rgba(128, 128, 128, .35); }
.discreet th, .discreet td { padding: .25em .9em .25em 0; vertical-align: top; white-space: normal;
  overflow-wrap: break-word; word-break: normal; background: none; }
.discreet th { text-align: left; font-weight: 500; }
.discreet td { text-align: left; font-variant-numeric: tabular-nums; }
.discreet .numbers td { text-align: right; white-space: nowrap; }
.discreet summary { cursor: pointer; color: #1f6f8b; }
@media (prefers-color-scheme: dark) { .discreet summary { color: #7cc4dd; } }
"""


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
    rows = (f"<tr><th>{safe(name)}</th><td>{safe(text)}</td></tr>" for name, text in lines.items())
    return f"<table>{''.join(rows)}</table>"


def grid(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], labels: int = 1, kind: str = "numbers") -> str:
    """A table with a title and a head, whose first cells in each row are labels."""
    caption = f"<caption>{safe(title)}</caption>" if title else ""
    body = "".join(f"<tr>{_cells('th', row[:labels])}{_cells('td', row[labels:])}</tr>" for row in rows)
    top = f"<thead><tr>{_cells('th', head)}</tr></thead>"
    return f"<table class='{kind}'>{caption}{top}<tbody>{body}</tbody></table>"


def folded(summary: str, part: str) -> str:
    """A part that opens when its summary is clicked."""
    return f"<details><summary>{safe(summary)}</summary>{part}</details>"


def safe(text: str) -> str:
    """Text without markup and without control characters."""
    return html.escape(plain(text))


def _cells(tag: str, texts: Sequence[str]) -> str:
    return "".join(f"<{tag}>{safe(text)}</{tag}>" for text in texts)
