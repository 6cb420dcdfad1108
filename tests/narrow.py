"""Narrows the common trials to what lives in one room: `make test ROOM=sequential`, or `pytest --room sequential`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

COMMON = "tests/conformance/"

room = ""  # the one that was asked for; all, if none was
strict = False  # whether what lives nowhere is left out too


def here(found: Iterable[Any]) -> list[Any]:
    """Those that live in the room that was asked for, or of which it is not known where they live."""
    return [one for one in found if any(map(_inside, homes(one))) or not (strict or homes(one))]


def homes(one: Any) -> list[str]:
    """The module of the library that defines a class, or what it derives from; so for functions, objects and tuples."""
    if isinstance(one, tuple | list):
        return [home for part in one for home in homes(part)]
    named = one if hasattr(one, "__qualname__") else type(one)
    defined = [base.__module__ for base in getattr(named, "__mro__", [named])]
    return [module for module in defined if module.partition(".")[0] == "discreet"][:1]


def concerned(item: pytest.Item) -> bool:
    """Whether a test is no common trial, or one of something in the room that was asked for."""
    if not item.nodeid.startswith(COMMON):
        return True
    given = list(getattr(getattr(item, "callspec", None), "params", {}).values())
    about = getattr(getattr(item, "function", None), "about", None)
    return bool(here([tuple(given)] if about is None else about))


def _inside(module: str) -> bool:
    wanted = f"discreet.{room.strip('/').replace('/', '.')}."
    return not room or f"{module}.".startswith(wanted)
