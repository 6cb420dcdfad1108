"""Every client of a collector, found by walking the rooms, is sent terms of every kind that a hostile one could send.

What a client does, sending or refusing, and in which words, is the same for all values: silence would tell.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import discreet
from discreet.ledger.own_account import OwnAccount
from discreet.local.protocol import agreed, published
from discreet.local.randomizer import DEVICE_EPSILON
from discreet.local.rappor.rappor import Rappor
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.walk import for_each, modules, public_classes, randomizers, rooms, trial

Client = Callable[[Any, Any], bytes]
"""Makes a message from what the collector published and a value."""
ODD: tuple[Any, ...] = (
    None,
    -1,
    2**70,
    0.5,
    math.nan,
    "no such value",
    "",
    "\ud800",
    b"x",
    True,
    [],
    [[1], [2, 3]],
    {},
    object,
)
NUMBERS: tuple[Any, ...] = (
    0,
    1,
    -1,
    2.5,
    0.0,
    1e-300,
    11.0,
    41.0,
    2**24 + 1,
    2**70,
    math.inf,
    math.nan,
    True,
    None,
    "1",
    [],
    {},
    [1.0],
)
DOMAINS: tuple[Any, ...] = (
    [],
    ["a"],
    ["a", "a"],
    [1, 2],
    ["a", ["b"]],
    ["a", "\ud800"],
    "ab",
    {"a": 1},
    [["a", "b"], 3],
    3,
)

WRONG: tuple[Any, ...] = (None, 2, "00" * 8, {"q": 2, "t": 1}, [])


def clients() -> Iterator[tuple[str, Client]]:
    """All classes with a `message`, and all modules with a function of that name."""
    for room in ("local", "service"):
        for kind in public_classes(room):
            if hasattr(kind, "message"):
                yield kind.__name__, of_class(kind)
        for module in modules(room):
            if inspect.isfunction(getattr(module, "message", None)) and module.message.__module__ == module.__name__:
                yield module.__name__, module.message


def of_class(kind: type[Any]) -> Client:
    """A client that is made anew for each message, of what was agreed and of what else it needs."""
    first, *others = inspect.signature(kind).parameters.values()
    needed = [trial(kind)[one.name] for one in others if one.default is one.empty]

    def message(document: Any, value: Any) -> bytes:
        terms = agreed(document)
        assert first.annotation == "Randomizer" or isinstance(terms, Rappor) == (first.annotation == "Rappor")
        sent: bytes = kind(terms, *needed).message(value)
        return sent

    return message


CALLERS = {
    "local/wire_client.py": "conformance/test_clients.py::test_what_a_client_does_is_the_same_for_all_values",
    "service/client/site_line.py": "service/client/test_connect.py::test_a_site_that_lies_is_refused",
    "trust/aggregation/aggregator_line.py": (
        "trust/aggregation/test_prio_reporter.py::test_what_an_aggregator_answers_is_bounded_and_not_believed"
    ),
    "trust/network/link.py": "trust/network/test_faults.py::test_whatever_happens_on_all_lines_at_once",
}
"""What calls others over a line, and the test in which these lie to it."""
ACCOUNTS = {
    "Reporter": (
        "conformance/test_clients.py::test_a_client_pays_no_more_than_its_own_limit_and_believes_no_derived_number"
    ),
    "DeviceAccount": (
        "trust/aggregation/test_device_account.py"
        "::test_all_tasks_together_cost_what_the_owner_lets_them_and_one_more_is_refused"
    ),
}
"""The accounts of devices, and the test in which an asker wants more than their owners pay."""
CALLING = ("http.client", "urllib.request", "requests", "httpx", "aiohttp", "websockets")
DIALLING = ("create_connection", "open_connection", "urlopen", "HTTPConnection", "HTTPSConnection", "connect_ex")
FOUND = dict(clients())
HONEST = [json.loads(json.dumps(published(kind()))) for kind in randomizers()]
every = for_each(FOUND)


def speaks(name: str, document: dict[str, Any]) -> bool:
    """Whether a client is for this kind of report: it sends a message for an honest protocol."""
    value = agreed(document).worst_pair.first
    return outcome(FOUND[name], document, value).startswith("sent")


def outcome(client: Client, document: Any, value: Any) -> str:
    """What everybody can see of a client: the length of its message, or the words of its refusal."""
    try:
        return f"sent {len(client(document, value))} bytes"
    except (ValueError, AssertionError) as refusal:
        return f"{type(refusal).__name__}: {refusal}"


def hostile(honest: dict[str, Any]) -> Iterator[Any]:
    """Protocols with one thing that is wrong, extreme or missing."""
    yield from (None, [], "x", {}, {"parameters": None}, {"parameters": []}, honest | {"parameters": {}})
    for name in ("version", "derived", "fingerprint"):
        yield {key: value for key, value in honest.items() if key != name}
        yield from (honest | {name: wrong} for wrong in WRONG)
    for name, value in honest["derived"].items():
        yield from (honest | {"derived": honest["derived"] | {name: one}} for one in (1, 2, value + 1, 2**70, None))
    parameters = honest["parameters"]
    for name in [*parameters, "extra"]:
        wrongs = (*NUMBERS, *DOMAINS) if name.startswith(("domain", "kinds", "extra")) else NUMBERS
        for wrong in wrongs:
            yield signed({**parameters, name: wrong}, honest)
    if parameters["kind"] == "rappor":
        for f, p, q in ((0.0, 0.0, 1.0), (0.0, 0.25, 0.75), (2.0**-10, 0.0, 1.0), (0.0, 1.0, 0.0)):
            yield signed(
                {key: v for key, v in parameters.items() if key != "epsilon"} | {"f": f, "p": p, "q": q}, honest
            )


def signed(parameters: dict[str, Any], honest: dict[str, Any]) -> dict[str, Any]:
    """A protocol whose other numbers fit, where there is a randomiser with these parameters."""
    from discreet.local.protocol import randomizer_of

    try:
        return json.loads(json.dumps(published(randomizer_of(parameters))))
    except Exception:
        return honest | {"parameters": parameters}


def test_the_clients_are_found() -> None:
    assert {"Reporter", "RapporClient", "discreet.local.wire_client"} <= set(FOUND)


def calls_out(tree: ast.Module) -> bool:
    """Whether a file calls others by itself."""
    nodes = list(ast.walk(tree))
    names = {one.name for node in nodes if isinstance(node, ast.Import) for one in node.names}
    names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    return bool(names & set(CALLING)) or any(isinstance(one, ast.Attribute) and one.attr in DIALLING for one in nodes)


def test_whoever_calls_out_or_pays_for_a_device_is_lied_to_in_a_test() -> None:
    source, tests = Path(discreet.__file__).parent, Path(__file__).parents[1]
    found = {str(path.relative_to(source)) for path in source.rglob("*.py") if calls_out(ast.parse(path.read_text()))}
    assert found == set(CALLERS), "name the test in which others lie to it"
    kinds = [kind for room in rooms() for kind in public_classes(room) if issubclass(kind, OwnAccount)]
    assert {kind.__name__ for kind in kinds if kind is not OwnAccount} == set(ACCOUNTS), "name the test of its limit"
    for named in (*CALLERS.values(), *ACCOUNTS.values()):
        file, _, name = named.partition("::")
        assert f"def {name}(" in (tests / file).read_text(), named


@every
def test_what_a_client_does_is_the_same_for_all_values(name: str) -> None:
    spoken = [document for document in HONEST if speaks(name, document)]
    assert spoken, "it sends nothing even to an honest collector"
    for honest in spoken:
        pair = agreed(honest).worst_pair
        for number, document in enumerate([honest, *hostile(honest)]):
            odd = ODD if number == 0 else (ODD[number % len(ODD)], "no such value")
            seen = {outcome(FOUND[name], document, value) for value in (pair.first, pair.second, *odd)}
            assert len(seen) == 1, (document, seen)


@every
def test_a_client_pays_no_more_than_its_own_limit_and_believes_no_derived_number(name: str) -> None:
    for honest in (document for document in HONEST if speaks(name, document)):
        for document in hostile(honest):
            if outcome(FOUND[name], document, agreed(honest).worst_pair.first).startswith("sent"):
                terms = agreed(document)
                price = terms.epsilon_infinity if isinstance(terms, Rappor) else terms.epsilon
                assert price <= DEVICE_EPSILON
                assert document == json.loads(json.dumps(published(terms)))


def test_a_sketch_of_any_length_costs_a_device_no_memory() -> None:
    for document in (one for one in HONEST if "functions" in one["parameters"]):
        terms = agreed(document)
        most = {"functions": 256, "cells": 2**14} | ({"domain": 2**24} if hasattr(terms, "domain") else {})
        large = dataclasses.replace(terms, **most)
        assert outcome(FOUND["Reporter"], published(large), terms.worst_pair.first).startswith("sent")


def test_a_stand_in_is_drawn_without_looking_and_can_be_reported() -> None:
    for kind in randomizers():
        one = kind()
        drawn = [one.report(object(), DeterministicBits(3)) for _ in range(2)]
        stand_in = one.stand_in(DeterministicBits(3))
        assert np.array_equal(*drawn)
        assert one.read(stand_in) is not None
        assert one.decode(one.encode(drawn[0])).shape == one.form.shape
