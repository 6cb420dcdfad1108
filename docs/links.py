"""Links every public name that a page of the manual writes as code to its place in the reference."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parent.parent / "src" / "discreet"
FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(?<![\[`])`((?:discreet\.)?((?:\w+\.)?\w+)(?:\([^`|]*\))?)`(?![\]`])")
SHORT = {"statistics.md": "discreet", "learners.md": "discreet.learners"}
"""Pages that name the functions of one room without its prefix."""


@cache
def public() -> frozenset[str]:
    """Every public name of the rooms that the reference has pages for."""
    names = set()
    for stub in SOURCE.rglob("__init__.pyi"):
        room = ".".join(["discreet", *stub.parent.relative_to(SOURCE).parts])
        lines = ast.parse(stub.read_text(encoding="utf-8")).body
        names |= {
            f"{room}.{name.name}"
            for line in lines
            if isinstance(line, ast.ImportFrom) and line.module
            for name in line.names
        }
    return frozenset(names)


def linked(markdown: str, page: str) -> str:
    """The text of a page, with links; code blocks stay as they are."""
    parts = FENCE.split(markdown)
    parts[::2] = [CODE.sub(lambda found: _link(found, page), part) for part in parts[::2]]
    return "".join(parts)


def _link(found: re.Match[str], page: str) -> str:
    code, name = found[1], found[2]
    room = "discreet" if code.startswith("discreet.") else SHORT.get(page, "")
    full = f"{room}.{name}"
    return f"[`{code}`][{full}]" if room and full in public() else found[0]


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Link what the pages that are written by hand name."""
    where = page.file.src_uri
    return markdown if "/" in where else linked(markdown, where)
