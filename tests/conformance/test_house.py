"""Rules of the house that hold for every file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path

import pytest

import discreet
from tests.conformance.walk import rooms

SOURCE = Path(discreet.__file__).parent
MAY_HAVE_ENGINES = {"as_published", "deep", "trust", "query", "service"}
MAY_CHOOSE = {
    "attacks",
    "audit",
    "fitting",
    "as_published",
    "graphs",
    "learners",
    "microdata",
    "query",
    "sequential",
    "service",
}  # public things
MOST_FILES = 30  # beyond, a room has rooms inside
HEAVY = ("scipy", "sklearn", "pandas", "polars", "pyarrow", "duckdb", "matplotlib", "torch")


@dataclass(frozen=True)
class Read:
    """What the rules ask of one file."""

    docstring: str | None
    classes: list[str]
    attributes: set[tuple[str, str]]
    imported: set[str]


@cache
def files() -> dict[Path, Read]:
    """Every file, parsed once, by the first test that needs it; no tree is kept, for the garbage collector to walk."""
    return {path: _read(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}


def _read(text: str) -> Read:
    tree = ast.parse(text)
    nodes = list(ast.walk(tree)) if "random" in text else []  # no other name is looked for inside
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    used = {(ast.unparse(n.value), n.attr) for n in nodes if isinstance(n, ast.Attribute) and "random" in n.attr}
    return Read(ast.get_docstring(tree), classes, used, _imported(nodes))


def _imported(nodes: list[ast.AST]) -> set[str]:
    """The names that a file imports, and the modules it imports them from."""
    plain = {alias.name for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names}
    return plain | {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import sys, discreet; print([name for name in {HEAVY!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_every_name_of_the_package_can_be_loaded() -> None:
    for room in (discreet, discreet.accounting, discreet.learners, discreet.mechanisms):
        for name in room.__all__:
            assert getattr(room, name) is not None
    for name, words in {"Magic": "discreet has no 'Magic'; it has", "sum": "did you mean discreet.total?"}.items():
        with pytest.raises(AttributeError, match=re.escape(words)):
            getattr(discreet, name)
    for name, words in {"SVC": "did you mean KernelSVC or LinearSVC?", "Kmean": "did you mean KMeans?"}.items():
        with pytest.raises(AttributeError, match=re.escape(words)):
            getattr(discreet.learners, name)


def test_what_names_mean_is_there() -> None:
    for name in discreet.MEANT.values():
        assert attrgetter(name)(discreet) is not None
    for names in discreet.learners.MEANT.values():
        for name in names.split(" or "):
            assert name.startswith("discreet.deep.") or name in discreet.learners.__all__


def test_noise_is_drawn_in_one_room_only() -> None:
    """Numpy's and Python's generators may choose public things; none may come near an answer."""
    for path, read in files().items():
        room = path.relative_to(SOURCE).parts[0]
        if room not in MAY_CHOOSE:
            assert not read.attributes & {("np", "random"), ("numpy", "random")}, path
            assert not read.imported & {"random", "numpy.random"}, path
        if room != "noise":
            assert "urandom" not in {name for _, name in read.attributes}, path


def test_the_rooms_are_those_that_the_rules_name() -> None:
    """A new room obeys all rules by itself, and the import contracts say which floor it is on."""
    contracts = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert set(rooms()) == set(re.findall(r"\w+", " ".join(layers)))
    assert set(rooms()) > MAY_CHOOSE
    engineless = next(contract["source_modules"] for contract in contracts if "engines" in contract["name"])
    assert {f"discreet.{room}" for room in set(rooms()) - MAY_HAVE_ENGINES} == set(engineless)


def test_every_file_says_what_it_is() -> None:
    assert [path for path, read in files().items() if not read.docstring] == []


def test_one_name_is_one_class() -> None:
    names = Counter(name for read in files().values() for name in read.classes)
    assert [name for name, times in names.items() if times > 1 and not name.startswith("_")] == []


def test_no_folder_holds_more_than_a_reader_looks_through() -> None:
    counts = Counter(path.parent for path in files())
    assert {folder: count for folder, count in counts.items() if count > MOST_FILES} == {}


def test_there_is_no_room_without_a_subject() -> None:
    assert not [path for path in SOURCE.rglob("*") if path.stem in ("utils", "util", "common", "helpers", "misc")]
