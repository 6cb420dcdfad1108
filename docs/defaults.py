"""What the manual shows is what Python shows: whole docstrings, and defaults, which are compared in every page built.

Griffe reads files, and sees what a class says itself; what its docstring inherits (`discreet.core.inherited_docs`) is
added here.

Griffe gives all parameters of one entry (`epsilon, delta : float`) the default of the first, and takes the first of
several choices (`{"records", "tree"}`) for the default. Here each gets the one of the signature; a constant is shown
by its value.
"""

from __future__ import annotations

import ast
import dataclasses
import html
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe
from mkdocs.exceptions import PluginError

HEADING = re.compile(r'<h\d id="(discreet\.[^"]*)"\s+class="doc doc-heading">')
ROW = re.compile(r'<tr class="doc-section-item">(.*?)</tr>', re.DOTALL)
CELL = re.compile(r"<td>(.*?)</td>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")


class Defaults(griffe.Extension):
    """Give every parameter of a docstring the default that it has in the signature."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_: Any) -> None:
        """Go through all functions and classes."""
        for described in _described(pkg):
            if described.is_class and described.bases:
                described.docstring.value = inspect.getdoc(pkgutil.resolve_name(described.path))
            for parameter in described.parameters:
                parameter.default = _value(parameter.default, loader)
            for section in described.docstring.parsed:
                if section.kind is griffe.DocstringSectionKind.parameters:
                    section.value = [item for item in section.value if _taken(item.name, described)]
                    for item in section.value:
                        if item.name in described.parameters:
                            item.value = described.parameters[item.name].default


def _taken(name: str, described: Any) -> bool:
    """Whether a parameter is one of this; a base also says what those are that subclasses take."""
    taken = name.lstrip("*") in described.parameters
    if not taken and described.is_function:
        raise PluginError(f"{described.path} has no parameter {name}")
    return taken


def _described(room: griffe.Object) -> Iterator[Any]:
    for member in room.members.values():
        if not member.is_alias:
            if (member.is_function or member.is_class) and member.docstring:
                yield member
            if member.is_module or member.is_class:
                yield from _described(member)


def _value(default: Any, loader: griffe.GriffeLoader) -> Any:
    """What a constant stands for, where that is plain numbers and texts."""
    if not isinstance(default, griffe.ExprName):
        return default
    try:
        constant = loader.modules_collection[default.canonical_path].value
    except (KeyError, AttributeError, griffe.AliasResolutionError):
        return default
    return constant if _plain(str(constant)) else default


def _plain(text: str) -> bool:
    """Whether it is made of literals and signs alone."""
    parts = ast.walk(ast.parse(text, mode="eval"))
    signs = (ast.Expression, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Tuple, ast.Load)
    return all(isinstance(part, signs) for part in parts)


def on_post_build(config: Any, **_: Any) -> None:
    """Compare every default in the pages with the signature of what they describe."""
    compared = 0
    for page in sorted(Path(config.site_dir, "reference").rglob("*.html")):
        _, *parts = HEADING.split(page.read_text(encoding="utf-8"))
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            rows = list(_shown(text))
            described = pkgutil.resolve_name(name) if rows else None
            for parameter, shown in rows:
                if parameter not in inspect.signature(described).parameters:
                    raise PluginError(f"{name} has no parameter {parameter}")
                _compare(f"{name}, {parameter}", shown, _default(described, parameter), _names(described))
            compared += len(rows)
    if compared < 200:
        raise PluginError(f"only {compared} defaults were found in the reference: has its form changed?")


def _default(described: Any, parameter: str) -> Any:
    """What a parameter is if it is not given; of a dataclass, also what a factory makes."""
    fields = {one.name: one for one in dataclasses.fields(described)} if dataclasses.is_dataclass(described) else {}
    made = fields[parameter].default_factory if parameter in fields else dataclasses.MISSING
    return inspect.signature(described).parameters[parameter].default if made is dataclasses.MISSING else made()


def _names(described: Any) -> dict[str, Any]:
    """What the modules define in which something, and all that it inherits from, is written."""
    kinds = [*reversed(inspect.getmro(described))] if inspect.isclass(described) else [described]
    modules = filter(None, map(inspect.getmodule, kinds))
    return {name: value for module in modules for name, value in vars(module).items()}


def _shown(text: str) -> Iterator[tuple[str, str]]:
    """The parameters in a part of a page, each with the default that is shown."""
    for row in ROW.findall(text):
        cells = [html.unescape(TAG.sub("", cell)).strip() for cell in CELL.findall(row)]
        if len(cells) == 4 and not cells[0].startswith("*"):
            yield cells[0], cells[3]


def _compare(what: str, shown: str, default: Any, names: dict[str, Any]) -> None:
    missing = default is inspect.Parameter.empty
    if shown != "required" if missing else eval(shown, names) != default:
        raise PluginError(f"{what}: the manual shows the default {shown}, the code has {default!r}")
