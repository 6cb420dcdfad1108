"""Runs a module as if only one extra of the library were installed: what else is there cannot be imported.

    python docs/alone.py docs mkdocs build --strict

So the manual is built beside the tests, in their environment, and shows that the extra `docs` is enough.
"""

from __future__ import annotations

import runpy
import sys
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from typing import NoReturn

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ALWAYS = {"pip", "setuptools"}  # in every new environment


def needed(name: str, extras: frozenset[str]) -> set[str]:
    """What is installed with a distribution and these extras of it, by name: also what that needs, and so on."""
    found: set[str] = set()
    left, seen = [(name, extras)], set()
    while left:
        one = left.pop()
        if one in seen:
            continue
        seen.add(one)
        found.add(canonicalize_name(one[0]))
        asked = [each for each in map(Requirement, _requires(one[0])) if _applies(each, one[1])]
        left += [(each.name, frozenset(each.extras)) for each in asked]
    return found


def _applies(asked: Requirement, extras: frozenset[str]) -> bool:
    return asked.marker is None or any(asked.marker.evaluate({"extra": extra}) for extra in extras | {""})


def foreign(extra: str) -> set[str]:
    """The modules that are installed, and would not be with this extra alone."""
    own = needed("discreet", frozenset({extra})) | ALWAYS
    return {
        module
        for module, owners in packages_distributions().items()
        if not own.intersection(map(canonicalize_name, owners))
    }


class Refusing:
    """Refuses to import foreign modules, as if they were not there."""

    def __init__(self, refused: set[str]) -> None:
        self.refused = refused

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Fail where it is foreign; else leave it to others."""
        if name.partition(".")[0] in self.refused:
            self._refuse(name)

    def _refuse(self, name: str) -> NoReturn:
        raise ModuleNotFoundError(f"No module named {name!r}: it is installed, but not by the extra", name=name)


def _requires(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:  # whoever imports it will find that out
        return []


if __name__ == "__main__":
    extra, *sys.argv = sys.argv[1:]
    sys.meta_path.insert(0, Refusing(foreign(extra)))  # type: ignore[arg-type]
    sys.path.pop(0)  # this folder
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
