"""Which modules belong to installed libraries: they are trusted, and there to be loaded wherever this one is."""

from __future__ import annotations

import os
import sys
import sysconfig
from functools import cache
from types import ModuleType

import numpy as np

SHELVES = ("site-packages", "dist-packages", "lib-dynload")
OWN = __name__.partition(".")[0]


@cache
def libraries() -> tuple[str, ...]:
    """Where installed modules lie: the standard library, and wherever else packages are put."""
    standard = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    shelves = [path for path in sys.path if os.path.basename(path) in SHELVES]
    return tuple(dict.fromkeys(map(os.path.realpath, [*standard, *shelves, _above(np)])))


def home() -> str:
    """The directory that this package lies in."""
    return _above(sys.modules[OWN])


def _above(package: ModuleType) -> str:
    return os.path.dirname(os.path.dirname(os.path.realpath(package.__file__ or "")))


def installed(module: object) -> bool:
    """Whether a module is of an installed library, or of this one; else it is the user's own.

    Examples
    --------
    >>> installed(np), installed(os), installed(sys), installed(ModuleType("mine"))
    (True, True, True, False)
    """
    if not isinstance(module, ModuleType) or (top := module.__name__.partition(".")[0]) == "__main__":
        return False
    known = vars(module)
    places = [known["__file__"]] if known.get("__file__") else list(known.get("__path__", ()))
    if not places:
        return top in sys.stdlib_module_names
    return top == OWN or any(map(_on_a_shelf, places))


@cache
def _on_a_shelf(place: str) -> bool:
    """Whether a file lies in a library; looked up once, since thousands of modules are asked about again and again."""
    return os.path.realpath(place).startswith(tuple(path + os.sep for path in libraries()))
