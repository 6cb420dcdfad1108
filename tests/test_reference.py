"""The reference shows how everything public is used."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import discreet

SOURCE = Path(discreet.__file__).parent
ELSEWHERE = re.compile(r"^ +(Public[^.]*\. )?As (for )?`", re.MULTILINE)
"""An entry that sends its reader to another page."""


def public() -> Iterator[str]:
    """Every public name: those of all stubs."""
    for stub in sorted(SOURCE.rglob("__init__.pyi")):
        room = ".".join(["discreet", *stub.parent.relative_to(SOURCE).parts])
        for line in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(line, ast.ImportFrom) and line.module:
                yield from (f"{room}.{name.asname or name.name}" for name in line.names)


def docs() -> dict[str, str]:
    """What is said of everything public."""
    pytest.importorskip("torch")
    places = {name: name.rpartition(".") for name in public()}
    found = {name: getattr(importlib.import_module(room), last) for name, (room, _, last) in places.items()}
    assert len(found) > 150
    return {name: inspect.getdoc(one) or "" for name, one in found.items()}


def methods() -> dict[str, str]:
    """What is said of the public methods of everything public, with all that these inherit."""
    found: dict[str, str] = {}
    for name in docs():
        room, _, last = name.rpartition(".")
        kind = getattr(importlib.import_module(room), last)
        shown = [one for one in dir(kind) if not one.startswith("_")] if inspect.isclass(kind) else []
        found |= {f"{name}.{one}": inspect.getdoc(inspect.getattr_static(kind, one)) or "" for one in shown}
    return found


def test_everything_public_has_an_example() -> None:
    """Examples are run as doctests, module by module; here it is whether there are any."""
    assert [name for name, text in docs().items() if not doctest.DocTestParser().get_examples(text)] == []


def test_every_parameter_says_what_it_is_where_it_is() -> None:
    """What many share is written once, and shown with each of them."""
    assert ELSEWHERE.search("x : int\n    Public, except for the data. As for `mean`.")
    assert [name for name, text in (docs() | methods()).items() if ELSEWHERE.search(text)] == []
