"""Rules of the house that hold for every file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import discreet
from tests.conformance.walk import rooms

SOURCE = Path(discreet.__file__).parent
MAY_HAVE_ENGINES = {"deep", "trust", "query", "service"}
MAY_CHOOSE = {
    "audit",
    "graphs",
    "learners",
    "query",
    "sequential",
    "service",
}  # public things
HEAVY = ("scipy", "sklearn", "pandas", "polars", "pyarrow", "duckdb", "matplotlib", "torch")


@cache
def trees() -> dict[Path, ast.Module]:
    """Every file, parsed once, by the first test that needs it."""
    return {path: ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}


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


def test_noise_is_drawn_in_one_room_only() -> None:
    """Numpy's and Python's generators may choose public things; none may come near an answer."""
    for path, tree in trees().items():
        room = path.relative_to(SOURCE).parts[0]
        used = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        if room not in MAY_CHOOSE:
            random = {ast.unparse(node.value) for node in used if node.attr == "random"}
            assert not random & {"np", "numpy"}, path
            assert not imported(tree) & {"random", "numpy.random"}, path
        if room != "noise":
            assert "urandom" not in {node.attr for node in used}, path


def imported(tree: ast.Module) -> set[str]:
    """The names that a file imports, and the modules it imports them from."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return {alias.name for node in nodes for alias in node.names} | {
        str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)
    }


def test_the_rooms_are_those_that_the_rules_name() -> None:
    """A new room obeys all rules by itself, and the import contracts say which floor it is on."""
    contracts = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert set(rooms()) == set(re.findall(r"\w+", " ".join(layers)))
    assert set(rooms()) > MAY_CHOOSE
    engineless = next(contract["source_modules"] for contract in contracts if "engines" in contract["name"])
    assert {f"discreet.{room}" for room in set(rooms()) - MAY_HAVE_ENGINES} == set(engineless)


def test_every_file_says_what_it_is() -> None:
    assert [path for path, tree in trees().items() if not ast.get_docstring(tree)] == []


def test_one_name_is_one_class() -> None:
    names = Counter(node.name for tree in trees().values() for node in tree.body if isinstance(node, ast.ClassDef))
    assert [name for name, times in names.items() if times > 1 and not name.startswith("_")] == []


def test_there_is_no_room_without_a_subject() -> None:
    assert not [path for path in SOURCE.rglob("*") if path.stem in ("utils", "util", "common", "helpers", "misc")]
