"""Statistics in the manual are as they are declared: their signature and their whole docstring, not what is written.

A statistic is written without the options that all share (see `discreet.releases.statistic`); whoever reads the source
alone, as Griffe does, would miss them.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from itertools import chain
from typing import Any

import griffe

from discreet.releases.declaration import is_statistic

KINDS = {
    inspect.Parameter.POSITIONAL_OR_KEYWORD: griffe.ParameterKind.positional_or_keyword,
    inspect.Parameter.KEYWORD_ONLY: griffe.ParameterKind.keyword_only,
}


class Declared(griffe.Extension):
    """Give every statistic the signature and the docstring that callers see."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Go through all functions of the rooms of statistics, tables, graphs and series."""
        for function in (*_functions(pkg["statistics"]), *_functions(pkg["microdata"])):
            called = pkgutil.resolve_name(function.path)
            if is_statistic(called):
                signature = inspect.signature(called)
                function.docstring.value = inspect.getdoc(called)
                function.parameters = griffe.Parameters(*map(_parameter, signature.parameters.values()))
                function.returns = str(signature.return_annotation)
                function.overloads = None
        shared = (_functions(pkg[room]) for room in ("graphs", "microdata", "sequential"))
        for function in chain.from_iterable(shared):  # what they share is written once
            function.docstring.value = inspect.getdoc(pkgutil.resolve_name(function.path))


def _parameter(one: inspect.Parameter) -> griffe.Parameter:
    default = None if one.default is one.empty else repr(one.default)
    return griffe.Parameter(one.name, kind=KINDS[one.kind], annotation=str(one.annotation), default=default)


def _functions(room: griffe.Object) -> Iterator[Any]:
    for member in room.members.values():
        if member.is_alias:
            continue
        if member.is_function and member.docstring:
            yield member
        if member.is_module:
            yield from _functions(member)
