"""One door: a permit alone reserves charges and makes receipts, and no holder shows its records beside it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.deep.fair.sensitive_attribute import SensitiveAttribute
from discreet.trust.holder import Holder
from discreet.trust.permit import Permit
from tests.conformance.walk import for_each, public_classes, rooms, trial
from tests.trust.holding import MARK

SOURCE = Path(discreet.__file__).parent


def holders() -> list[type[Holder]]:
    """Whatever a permit can be asked of."""
    return [
        kind for room in rooms() for kind in public_classes(room) if issubclass(kind, Holder) and kind is not Holder
    ]


def calls() -> Iterator[tuple[str, str, str]]:
    """Every call in the source: its file, the function that it is in, and what is called."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text()
        if any(word in text for word in ("reserve", "Receipt", "Grant")):
            yield from ((path.relative_to(SOURCE).as_posix(), *one) for one in _calls(ast.parse(text), ""))


def _calls(node: ast.AST, inside: str) -> Iterator[tuple[str, str]]:
    name = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else inside
    if isinstance(node, ast.Call):
        called = node.func
        yield name, called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    elif isinstance(node, ast.alias) and node.asname is not None:
        yield name, node.name  # under another name it could be called anywhere
    for child in ast.iter_child_nodes(node):
        yield from _calls(child, name)


def test_a_charge_is_reserved_in_one_function() -> None:
    found = {(file, inside) for file, inside, called in calls() if called == "reserve"}
    passed_on = ("service/server/analyst_ledger.py", "reserve")  # with the name of who asks, to the ledger itself
    assert found == {("trust/holder.py", "permit"), passed_on}


def test_a_receipt_is_made_by_a_permit_or_for_reports_of_devices() -> None:
    found = {file for file, _, called in calls() if called == "Receipt"}
    assert found == {"trust/permit.py", "local/device_receipt.py"}


def test_an_opening_is_made_by_a_permit_a_saved_state_or_an_open_stream_for_its_parts() -> None:
    found = {(file, inside) for file, inside, called in calls() if called == "Grant"}
    parts = {("trust/permit.py", "open"), ("sequential/saved_stream.py", "resume_stream")}
    assert found == parts | {("sequential/continual_release.py", "_part")}


@for_each(holders())
def test_no_public_member_of_a_holder_shows_a_record(kind: type[Holder]) -> None:
    for name in (name for name in dir(kind) if not name.startswith("_")):
        member = inspect.getattr_static(kind, name)
        if not isinstance(member, classmethod):
            assert not shows_the_mark(_given(trial(kind).made(), name, trial(kind).calls)), name


def test_the_walk_finds_the_holders_and_would_see_a_record() -> None:
    assert len(holders()) >= 7

    class Shows(SensitiveAttribute):
        def codes(self) -> Any:
            return [{"codes": self._curator._view.codes}]

    groups = [f"g{place}" for place in range(10_000)]
    assert shows_the_mark(_given(Shows([f"g{MARK:.0f}"], groups, Budget(1.0)), "codes", {}))


SEVERAL = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD


def _given(holder: Holder, name: str, given: Mapping[str, Any]) -> Any:
    """What a member gives; a method is called with what it asks for."""
    member = getattr(holder, name)
    if not callable(member):
        return member
    wanted = [one for one in inspect.signature(member).parameters.values() if one.default is one.empty]
    several = {one.kind: given.get(one.name, ()) for one in wanted if one.kind in SEVERAL}
    single = {one.name: given[one.name] for one in wanted if one.kind not in SEVERAL}
    try:
        return member(*several.get(SEVERAL[0], ()), **single, **dict(several.get(SEVERAL[1], ())))
    except DiscreetError:
        return None


def shows_the_mark(value: Any) -> bool:
    """Whether what was given holds a record, however deep."""
    match value:
        case Holder() | Permit() | str() | bytes() | None:
            return False
        case bool() | int() | float() | np.number():
            return float(value) == MARK
        case torch.Tensor() | np.ndarray():
            return bool((np.asarray(value) == MARK).any())
        case Mapping():
            return any(map(shows_the_mark, value.values()))
        case _ if is_dataclass(value):
            return any(map(shows_the_mark, vars(value).values()))
        case Iterable():
            return any(map(shows_the_mark, value))
    return False
