"""A counter that is added as CONTRIBUTING says is put through the whole walk, without any other edit."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from tests.conformance import test_streams
from tests.conformance.walk import stream_trial
from tests.test_contributing import FILES


def added(monkeypatch: pytest.MonkeyPatch, old: str = "", new: str = "") -> type[Any]:
    """The counter that CONTRIBUTING adds, with its test file; with one line of it made wrong."""
    for path, code in FILES.items():
        if "plain_counter" in path:
            module = ModuleType(path.replace("/", "."))
            monkeypatch.setitem(sys.modules, module.__name__, module)
            assert code.count(old) == 1 or path.startswith("tests") or not old
            exec(compile(code.replace(old, new) if old else code, path, "exec"), vars(module))
    found: type[Any] = sys.modules["discreet.sequential.counters.plain_counter"].PlainCounter
    return found


def claims(kind: type[Any]) -> None:
    """All that is said of every stream, of this one."""
    test_streams.check_price(stream_trial(kind))
    for said in vars(test_streams).values():
        if callable(getattr(said, "claim", None)):
            said.claim(kind)


def test_the_counter_of_contributing_passes_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    claims(added(monkeypatch))


WRONG = {
    "an eighth of its noise": ("updates.drawn(self._bits, (size,))", "updates.drawn(self._bits, (size,)) // 8"),
    "half of its factor": ("self.neighbors, factor)", "self.neighbors, factor / 2)"),
    "two thirds of its factor": ("self.neighbors, factor)", "self.neighbors, factor * 2 / 3)"),
    "no noise": (
        "exact.noised(lambda steps: steps, updates.drawn(self._bits, (size,)))",
        "exact.noised(lambda steps: steps, np.zeros(size, np.int64))",
    ),
    "an exact sum beside": ("        exact = Exact(", "        self.seen = given\n        exact = Exact("),
    "noise that is not saved": ('"noisy": self._noisy}', '"noisy": 0 * self._noisy}'),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_the_same_counter_made_wrong_in_one_line_fails(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    with pytest.raises(AssertionError):
        claims(added(monkeypatch, *WRONG[wrong]))
