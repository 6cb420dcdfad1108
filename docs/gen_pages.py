"""Write the reference: one page per module and one per room, found by walking the package.

The rooms come in the order of their floors, which the import contracts in pyproject.toml state. A proof that lies
beside its module (`laplace.md` beside `laplace.py`) gets a page after it.
"""

from __future__ import annotations

import ast
import runpy
import tomllib
from pathlib import Path

import mkdocs_gen_files

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "discreet"
FIRST = "index.md"


def summary(source: Path) -> str:
    """The first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


def rooms() -> list[Path]:
    """The folders of the package, lowest floor first; what no contract names comes last."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    floors = next(c["layers"] for c in settings["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    order = [room.strip() for floor in reversed(floors) for room in floor.split("|")]
    found = sorted(path.parent for path in PACKAGE.glob("*/__init__.py"))
    return sorted(found, key=lambda room: order.index(room.name) if room.name in order else len(order))


def modules(room: Path) -> list[Path]:
    """The modules of a room and of the folders in it."""
    return sorted(path for path in room.rglob("*.py") if path.name not in {"__init__.py", "__main__.py"})


def write(page: Path, text: str) -> None:
    """Write one page."""
    with mkdocs_gen_files.open(page, "w") as file:
        file.write(text)


def room_page(room: Path, pages: dict[Path, Path]) -> str:
    """What a room is for, and what is in it."""
    lines = [f"# {room.name}", "", summary(room / "__init__.py"), ""]
    if pages:
        lines += ["| module | what it is |", "|---|---|"]
    lines += [
        f"| [{module.stem}]({page.relative_to(Path('reference', room.name)).as_posix()}) | {summary(module)} |"
        for module, page in pages.items()
    ]
    return "\n".join(lines) + "\n"


def write_room(nav: mkdocs_gen_files.Nav, room: Path) -> None:
    """Write a room's own page and those of its modules and proofs."""
    pages = {path: Path("reference", path.relative_to(PACKAGE).with_suffix(".md")) for path in modules(room)}
    nav["Reference", room.name] = f"reference/{room.name}/index.md"
    write(Path("reference", room.name, "index.md"), room_page(room, pages))
    for module, page in pages.items():
        *above, name = module.relative_to(PACKAGE).with_suffix("").parts
        nav["Reference", *above, name] = page.as_posix()
        write(page, f"::: {'.'.join(['discreet', *above, name])}\n")
        proof = module.with_suffix(".md")
        if proof.exists():
            beside = page.with_name(f"{name}_proof.md")
            nav["Reference", *above, f"{name}: proof"] = beside.as_posix()
            write(beside, proof.read_text(encoding="utf-8"))


def write_figure(example: str, page: str) -> None:
    """Draw what an example draws, anew."""
    made = runpy.run_path(str(ROOT / "examples" / example))
    with mkdocs_gen_files.open(page, "wb") as file:
        made["figure"](made["runs"]()).savefig(file, format="svg")


def main() -> None:
    """Write all pages and the navigation: the pages written by hand first."""
    write_figure("mean_and_median.py", "mean_and_median.svg")
    nav = mkdocs_gen_files.Nav()
    for page in sorted((ROOT / "docs").glob("*.md"), key=lambda page: (page.name != FIRST, page.name)):
        title = page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        nav[title] = page.name
    for room in rooms():
        write_room(nav, room)
    write(Path("SUMMARY.md"), "".join(nav.build_literate_nav()))


main()
