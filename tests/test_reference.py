"""The reference shows how everything public is used."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import discreet

SOURCE = Path(discreet.__file__).parent


def public() -> Iterator[str]:
    """Every public name: those of all stubs."""
    for stub in sorted(SOURCE.rglob("__init__.pyi")):
        room = ".".join(["discreet", *stub.parent.relative_to(SOURCE).parts])
        for line in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(line, ast.ImportFrom) and line.module:
                yield from (f"{room}.{name.asname or name.name}" for name in line.names)


def test_everything_public_has_an_example() -> None:
    """Examples are run as doctests, module by module; here it is whether there are any."""
    pytest.importorskip("torch")
    names, lacking = list(public()), []
    for name in names:
        room, _, last = name.rpartition(".")
        found = getattr(importlib.import_module(room), last)
        if not doctest.DocTestParser().get_examples(inspect.getdoc(found) or ""):
            lacking.append(name)
    assert len(names) > 150
    assert lacking == []
