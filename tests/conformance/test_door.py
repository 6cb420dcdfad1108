"""One door: a permit alone reserves charges and makes receipts, and no holder shows its records beside it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.events import PureLoss
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import RECORD, Neighbors
from discreet.deep.fair.sensitive_attribute import SensitiveAttribute
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.graphs.graph_data import graph_data
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.vectors.moved_row_sketch import MovedRowSketch
from discreet.schema.schema import Category, Schema
from discreet.sequential.stream_account import StreamAccount
from discreet.trust.holder import Holder
from discreet.trust.moving_table import MovingTable
from discreet.trust.party import RoundAccount
from discreet.trust.permit import Permit
from discreet.trust.private_data import PrivateData
from discreet.trust.private_graph import PrivateGraph
from tests.conformance.walk import public_classes, rooms

SOURCE = Path(discreet.__file__).parent
MARK = 8191.0  # in the records, and nowhere else
GROUPS = [f"g{place}" for place in range(10_000)]

RECORDS: dict[type[Holder], Callable[[], Holder]] = {
    PrivateData: lambda: PrivateData.of(np.full((9, 1), MARK), Schema.numeric(0.0, 1e4, 1), Budget(1.0)),
    PrivateGraph: lambda: graph_data([(MARK, 1.0)], 10_000, Budget(1.0), unit="edge"),
    MovingTable: lambda: MovingTable([[MARK, MARK]] * 9, 1e4, Budget(1.0, 1e-6)),
    SensitiveAttribute: lambda: SensitiveAttribute([f"g{MARK:.0f}"] * 9, GROUPS, Budget(1.0)),
    PrivateTensors: lambda: PrivateTensors(torch.full((9, 2), MARK), torch.full((9,), MARK), Budget(1.0)),
    StreamAccount: lambda: StreamAccount(Budget(1.0)),
    RoundAccount: lambda: RoundAccount(MemoryLedger(Budget(1.0)), Neighbors.ADD_REMOVE, RECORD, secret=True),
}
GIVEN = {
    "condition": "x0 > 1",
    "device": torch.device("cpu"),
    "event": PureLoss(1.0),
    "lists": {"x0": Category(("a", "b"))},
    "plan": PureLoss(1.0),
    "purpose": "a walk",
    "sample": SecretSample(1.0),
    "size": 8,
    "sketch": MovedRowSketch(1e4, 2, 1e4),
}


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
    assert found == {("trust/holder.py", "permit")}


def test_a_receipt_is_made_by_a_permit_or_for_reports_of_devices() -> None:
    found = {file for file, _, called in calls() if called == "Receipt"}
    assert found == {"trust/permit.py", "local/device_receipt.py"}


def test_an_opening_is_made_by_a_permit_a_saved_state_or_an_open_stream_for_its_parts() -> None:
    found = {(file, inside) for file, inside, called in calls() if called == "Grant"}
    parts = {("trust/permit.py", "open"), ("sequential/saved_stream.py", "resume_stream")}
    assert found == parts | {("sequential/continual_release.py", "_part")}


def test_every_holder_is_here() -> None:
    walked = {kind for room in rooms() for kind in public_classes(room) if issubclass(kind, Holder)}
    assert walked - {Holder} == set(RECORDS)


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_no_public_member_of_a_holder_shows_a_record(kind: type[Holder]) -> None:
    for name in (name for name in dir(kind) if not name.startswith("_")):
        member = inspect.getattr_static(kind, name)
        if not isinstance(member, classmethod):
            assert not shows_the_mark(_given(RECORDS[kind](), name)), name


def test_the_walk_would_see_a_record() -> None:
    class Shows(SensitiveAttribute):
        def codes(self) -> Any:
            return [{"codes": self._curator._view.codes}]

    assert shows_the_mark(_given(Shows([f"g{MARK:.0f}"], GROUPS, Budget(1.0)), "codes"))
    tensors: Any = RECORDS[PrivateTensors]()
    assert shows_the_mark(tensors._curator._view.chunks(GIVEN["sample"], 8, GIVEN["device"]))


def _given(holder: Holder, name: str) -> Any:
    """What a member gives; a method is called with what it asks for."""
    member = getattr(holder, name)
    if not callable(member):
        return member
    wanted = [one for one in inspect.signature(member).parameters.values() if one.default is one.empty]
    try:
        return member(**{one.name: GIVEN[one.name] for one in wanted})
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
