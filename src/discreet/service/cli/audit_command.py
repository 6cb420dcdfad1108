"""`discreet audit`: try to refute what a mechanism of one's own is said to cost. It reads no record of anybody."""

from __future__ import annotations

import importlib
import os
import re
import sys
from argparse import Namespace
from contextlib import ExitStack
from typing import Any

from discreet.audit.audit_report import AuditReport
from discreet.audit.audited import audited
from discreet.core.checks import shown
from discreet.core.errors import DiscreetError, ParameterError
from discreet.service.cli.out_file import OutFile
from discreet.service.cli.saying import put

DONE, REFUTED = 0, 7
LONG = 200  # letters of a name, at most
NAME = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)*:[A-Za-z]\w*(\.[A-Za-z]\w*)*", re.ASCII)


def audit(arguments: Namespace) -> int:
    """Print the report, and tell by the exit code whether the claim is refuted."""
    bounds = _bounds(arguments)
    with ExitStack() as files:
        out = None if arguments.out is None else files.enter_context(OutFile(arguments.out))
        report = audited(
            named(arguments.function),
            arguments.neighbors,
            claim=arguments.epsilon,
            delta=arguments.delta,
            bounds=bounds,
            size=arguments.size,
            runs=arguments.runs,
            grid=arguments.grid,
            random_state=arguments.seed,
        )
        if out is not None:
            out.write(report.to_html())
    put(report.to_json() if arguments.json else _text(report, arguments))
    return DONE if report.holds else REFUTED


def _text(report: AuditReport, arguments: Namespace) -> str:
    return str(report) if arguments.out is None else f"{report}\nWrote {arguments.out}"


def _bounds(arguments: Namespace) -> tuple[Any, Any]:
    """A number for each column, or two numbers, as they were given; whole ones where asked for."""
    kind = int if arguments.whole else float
    sides = [arguments.lower or [0.0], arguments.upper or [1.0]]
    if arguments.whole and not all(number.is_integer() for side in sides for number in side):
        raise ParameterError("audit", "bounds of whole numbers are not whole", "Leave out --whole, or round them.")
    lower, upper = ([kind(number) for number in side] for side in sides)
    return (lower[0], upper[0]) if len(lower) == len(upper) == 1 else (lower, upper)


def named(text: str) -> Any:
    """The object of a module, as `module:name`. Its module is imported, which runs its code."""
    asked = f"audit {shown(text)}"
    if len(text) > LONG or not NAME.fullmatch(text):
        raise ParameterError(asked, "that names no object of a module", "Write my_module:mechanism.")
    module, _, name = text.partition(":")
    if module.partition(".")[0] in sys.stdlib_module_names:
        raise ParameterError(asked, "that is a module of Python itself", "Name a module of your own.")
    found = _imported(module, asked)
    for part in name.split("."):
        if not hasattr(found, part):
            raise ParameterError(asked, f"there is no {part} in it", "Name an object that the module has.")
        found = getattr(found, part)
    return found


def _imported(module: str, asked: str) -> Any:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(module)
    except DiscreetError:
        raise
    except (Exception, SystemExit) as why:
        remedy = "Run the command where the module can be imported, and import it by itself to see why."
        raise ParameterError(asked, f"importing {module} raised {type(why).__name__}", remedy) from why
