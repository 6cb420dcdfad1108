"""A page with what a notebook shows, in the style that JupyterLab gives to outputs."""

from __future__ import annotations

import re
from collections.abc import Iterable

INK = {"light": ("rgba(0, 0, 0, .87)", "#fff", "#f5f5f5"), "dark": ("#fff", "#111", "#212121")}
PAGE = """<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>
:root {{ color-scheme: {scheme}; }}
body {{ margin: 8px; font: 14px "Open Sans", sans-serif; line-height: 1.3; color: {ink}; background: {paper}; }}
.output {{ margin-bottom: 20px; }}
.output table {{ border-collapse: collapse; border: none; font-size: 12px; table-layout: fixed; margin: 0 auto 1em; }}
.output td, .output th {{ text-align: right; vertical-align: middle; padding: .5em; line-height: normal;
  white-space: normal; max-width: none; border: none; }}
.output th {{ font-weight: bold; }}
.output tbody tr:nth-child(odd) {{ background: {stripe}; }}
</style><body data-jp-theme-light="{light}">{cells}"""
CHANGING = {  # from one run to the next, or with what is installed
    r"[0-9a-f]{16}": "0123456789abcdef",
    r"20\d\d-\d\d-\d\d": "2024-02-29",
    r"\b(discreet|torch) \d[\w.+]*": r"\1 1.0",
}


def sheet(shown: Iterable[str], scheme: str) -> str:
    """The outputs, one below the other, in a light or a dark notebook."""
    ink, paper, stripe = INK[scheme]
    cells = "".join(f"<div class='output'>{steady(one)}</div>" for one in shown)
    light = str(scheme == "light").lower()
    return PAGE.format(scheme=scheme, ink=ink, paper=paper, stripe=stripe, light=light, cells=cells)


def steady(page: str) -> str:
    """The same without keys, times and versions."""
    for pattern, instead in CHANGING.items():
        page = re.sub(pattern, instead, page)
    return page
