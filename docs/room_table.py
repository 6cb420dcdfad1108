"""The table of rooms, made of their docstrings and of the import contracts; writes it into the pages that show it.

Run as `python docs/room_table.py` (or `make rooms`).
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "discreet"
PAGES = ("README.md", "CONTRIBUTING.md", "docs/sentence.md")
BEGIN, END = "<!-- rooms: written by docs/room_table.py -->", "<!-- end of rooms -->"


def floors() -> list[list[str]]:
    """The rooms of each floor, the highest first, as the import contracts have them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [re.findall(r"\w+", layer) for layer in layers]


def holds(room: Path) -> str:
    """What a room holds: the first sentence of its docstring."""
    said = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    return re.split(r"\.(?:\s|$)", said, maxsplit=1)[0]


def inside(room: Path) -> str:
    """The rooms inside a room."""
    return ", ".join(f"`{part.parent.name}`" for part in sorted(room.glob("*/__init__.py")))


def rows() -> Iterator[str]:
    """One row for each room."""
    for height, floor in zip(range(len(floors()), 0, -1), floors(), strict=True):
        for room in floor:
            yield f"| {height} | `{room}` | {holds(PACKAGE / room)} | {inside(PACKAGE / room)} |"


def table() -> str:
    """All rooms."""
    return "\n".join(["| floor | room | what it holds | inside |", "|---|---|---|---|", *rows()])


def shown(page: str) -> str:
    """A page with the table as it is now."""
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"the page has no table between {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def main() -> None:
    """Write the table into every page that shows it."""
    for name in PAGES:
        page = ROOT / name
        page.write_text(shown(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
