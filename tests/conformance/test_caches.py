"""No cache is keyed by anything secret: what is looked up, and so what is found, is the same for neighbors."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from discreet.core.answer import Answer, Apart, KeyedAnswer, Records
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.walk import mechanisms, modules, rooms

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


def neighbors_of(kind: type[Any]) -> Iterator[Apart]:
    """The worst neighbors, and some that have nothing special."""
    worst = kind().worst_neighbors()
    yield worst
    rng, first = np.random.default_rng(0), worst.first
    if isinstance(first, Records):
        values = rng.uniform(0, 1000, (41, first.values.shape[1]))
        yield Apart(*(Records(some, first.rows, first.neighbors) for some in (values, values[:-1])))
    elif isinstance(first, KeyedAnswer):
        yield Apart(*(KeyedAnswer(("a", "b"), np.array([9, n]), first.rows, first.neighbors) for n in (1, 2)))
    elif isinstance(first, Answer):
        steps = rng.integers(0, 20, first.size)
        yield Apart(*(Answer(steps + n, first.grid, first.bound, first.neighbors, first.slack) for n in (0, 1)))


def test_neighbors_look_up_the_same(looked_up: Looked) -> None:
    for kind, pair in [(one, pair) for one in mechanisms() for pair in neighbors_of(one)]:
        asked = []
        for answer in (pair.first, pair.second):
            looked_up.clear()
            kind().release(answer, DeterministicBits(1))
            asked.append(set(looked_up))
        assert asked[0] == asked[1], kind


def test_the_walk_finds_the_caches(looked_up: Looked) -> None:
    from discreet.mechanisms.additive.laplace import Laplace

    Laplace().release(Laplace().worst_neighbors().first, DeterministicBits(1))  # type: ignore[arg-type]
    assert {"table_of"} == {name for name, _ in looked_up}
