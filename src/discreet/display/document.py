"""A report as a web page of its own: one file, no script, nothing from a network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path

from discreet.display.notebook import safe

SHEET = Path(__file__).with_name("report.css")
STYLE = SHEET.read_text(encoding="utf-8")


def source_of(text: str) -> str:
    """How a policy names a style or a script that stands in the page: by its digest, so that no other one works.

    Examples
    --------
    >>> source_of("p { margin: 0 }")
    "'sha256-7IWhgxoOGTB5NQzjGk9OPt0FwhVeBvZGoWgF9xLLh8c='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


POLICY = f"default-src 'none'; style-src {source_of(STYLE)}"


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
        f"<title>{safe(title)}</title><style>{STYLE}</style></head>"
        f'<body class="discreet-page">{body}</body></html>\n'
    )


def framed(*parts: str) -> str:
    """Parts of a page in the frame to which the sheet belongs."""
    return f"<div class='discreet-report'><main>{''.join(parts)}</main></div>"


def styled(frame: str) -> str:
    """A frame with its sheet, for another document, such as a notebook, that has none."""
    return f"<style>{STYLE}</style>{frame}"


def tiles(figures: Mapping[str, str]) -> str:
    """Figures that stand out, each below its name."""
    drawn = (f"<div><dt>{safe(name)}</dt><dd>{safe(value)}</dd></div>" for name, value in figures.items())
    return f"<dl class='tiles'>{''.join(drawn)}</dl>"
