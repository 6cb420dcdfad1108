"""No cache is keyed by anything secret: what is looked up, and so what is found, is the same for neighbors."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from discreet.core.answer import Answer, KeyedAnswer, NeighborPair, Records
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import releasing
from tests.conformance.changing import Method, Source, changing, sources
from tests.conformance.walk import mechanisms, modules, rooms, trial

pytestmark = pytest.mark.xdist_group("sources")  # which are read once
CACHED = type(functools.lru_cache(lambda: None))
Looked = set[tuple[str, Any]]


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> Looked:
    """Everything that any cache is asked for from now on; but pi, by its number of digits: noise alone decides that."""
    seen: Looked = set()
    for _ in (module for room in rooms() for module in modules(room)):
        pass  # walking imports
    for module in [one for name, one in sys.modules.items() if name.startswith("discreet.")]:
        for name, found in list(vars(module).items()):
            if isinstance(found, CACHED) and found.__wrapped__.__qualname__ != "pi":
                monkeypatch.setattr(module, name, _recording(found, seen))
    return seen


def _recording(cached: Any, seen: Looked) -> Any:
    def looking(*given: Any, **named: Any) -> Any:
        seen.add((cached.__qualname__, repr((given, sorted(named.items())))))
        return cached(*given, **named)

    return looking


def neighbors_of(kind: type[Any]) -> Iterator[NeighborPair]:
    """The worst neighbors, and some that have nothing special."""
    worst = trial(kind).made(kind).worst_neighbors()
    yield worst
    rng, first = np.random.default_rng(0), worst.first
    if isinstance(first, Records):
        values = rng.uniform(0, 1000, (41, first.values.shape[1]))
        yield NeighborPair(*(Records(some, first.rows, first.neighbors) for some in (values, values[:-1])))
    elif isinstance(first, KeyedAnswer):
        yield NeighborPair(*(KeyedAnswer(("a", "b"), np.array([9, n]), first.rows, first.neighbors) for n in (1, 2)))
    elif isinstance(first, Answer):
        steps = rng.integers(0, 20, first.size)
        yield NeighborPair(*(Answer(steps + n, first.grid, first.bound, first.neighbors, first.slack) for n in (0, 1)))


def test_neighbors_look_up_the_same(looked_up: Looked) -> None:
    for kind, pair in [(one, pair) for one in mechanisms() for pair in neighbors_of(one)]:
        asked = []
        for answer in (pair.first, pair.first, pair.second):  # first what is built once and kept, whoever asks
            looked_up.clear()
            releasing(trial(kind).made(kind))(answer, DeterministicBits(1))
            asked.append(set(looked_up))
        assert asked[1] == asked[2], kind


def test_the_walk_finds_the_caches(looked_up: Looked) -> None:
    from discreet.mechanisms.additive.laplace import Laplace

    Laplace().release(Laplace().worst_neighbors().first, DeterministicBits(1))  # type: ignore[arg-type]
    assert {"table_of", "_constructor"} == {name for name, _ in looked_up}


def reads(method: Method, name: str) -> int:
    """How often a method looks at an attribute of its object."""
    found = (node for node in ast.walk(method) if isinstance(node, ast.Attribute) and node.attr == name)
    return sum(isinstance(node.ctx, ast.Load) and ast.unparse(node.value) == "self" for node in found)


def puts(method: Method) -> set[str]:
    """The attributes of its object that a method puts something else into."""
    found = (node for node in ast.walk(method) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return {node.attr for node in found if ast.unparse(node.value) == "self"}


def test_no_thread_is_given_what_another_has_put_into_a_cache() -> None:
    """A cache that any thread may fill is looked at once: at a second look it may hold what another has put there."""
    kept = [one for one in sources() if not one.private and getattr(one.kind, "unheld", None) == "cache"]
    assert {one.name for one in kept} >= {"CuratorsView", "Frame"}
    for one in kept:
        for name in changing().get((one.file, one.name), ()):
            for method in one.methods[name]:
                assert all(reads(method, each) <= 1 for each in puts(method)), f"{one.file} {one.name}.{name}"


def test_the_walk_sees_a_second_look() -> None:
    text = "class A:\n def of(self, n):\n  if self.x != n: self.x = n\n  return self.x"
    (of,) = Source("", ast.parse(text).body[0], True).methods["of"]  # type: ignore[arg-type]
    assert puts(of) == {"x"}
    assert reads(of, "x") == 2
