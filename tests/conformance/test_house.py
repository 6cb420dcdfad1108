"""Rules of the house that hold for every file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

SOURCE = Path(discreet.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
HEAVY = ("scipy", "sklearn", "pandas", "polars", "pyarrow", "duckdb", "matplotlib", "torch")


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


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_noise_is_drawn_in_one_room_only(path: Path) -> None:
    """Numpy's and Python's generators may choose public things; none may come near an answer."""
    room = path.relative_to(SOURCE).parts[0]
    names = {ast.unparse(node) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
    modules = {
        alias.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    } | {node.module for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)}
    if room in ("core", "noise", "mechanisms", "crypto", "trust", "accounting", "statistics"):
        assert not {name for name in names if name.startswith(("np.random", "numpy.random"))}
        assert not modules & {"random", "numpy.random"}
    if room != "noise":
        assert "urandom" not in {name.rpartition(".")[2] for name in names}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_file_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def test_there_is_no_room_without_a_subject() -> None:
    assert not [path for path in SOURCE.rglob("*") if path.stem in ("utils", "util", "common", "helpers", "misc")]
