"""Every client of a collector, found by walking the rooms, is sent terms of every kind that a hostile one could send.

What a client does, sending or refusing, and in which words, is the same for all values: silence would tell.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from discreet.local.protocol import agreed, published
from discreet.local.randomizer import DEVICE_EPSILON
from discreet.local.rappor.permanent_memo import SecretMemo
from discreet.local.rappor.rappor import Rappor
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.walk import for_each, modules, public_classes, randomizers

Client = Callable[[Any, Any], bytes]
"""Makes a message from what the collector published and a value."""
GIVEN: dict[str, Any] = {"PermanentMemo": SecretMemo(b"a secret of more than 16 bytes")}
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
    needed = [GIVEN[one.annotation] for one in others if one.default is one.empty]

    def message(document: Any, value: Any) -> bytes:
        terms = agreed(document)
        assert first.annotation == "Randomizer" or isinstance(terms, Rappor) == (first.annotation == "Rappor")
        sent: bytes = kind(terms, *needed).message(value)
        return sent

    return message


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
