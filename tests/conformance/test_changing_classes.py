"""Whatever changes after it was made is held, or says itself why no copy, thread or fork of it can spend twice."""

from __future__ import annotations

import ast
import inspect
import threading
from dataclasses import is_dataclass
from typing import Any, get_args

import pytest
from sklearn.base import BaseEstimator

from discreet.core.bits import Bits
from discreet.core.held import Held, Reason, Secret
from discreet.core.ledger import Ledger
from discreet.trust.holder import Holder
from discreet.trust.permit import Permit
from tests.conformance.changing import (
    Source,
    changed_by_others,
    changing,
    directly,
    entrances,
    kept_by_modules,
    lets_others_in,
    made,
    sources,
)
from tests.conformance.walk import public_classes, reasons, rooms

pytestmark = pytest.mark.xdist_group("sources")  # which are read once
OWN = ("part", "own turns")
KEPT_BY_MODULES = {
    "crypto/identity.py _RIGHT": "digests of signatures that were right",
    "deep/clipping/clipped_sum.py _LAST": "layers of the last models, found on made-up records",
    "deep/layers/composite.py _COMPOSITES": "rules of layers, by their classes",
    "deep/layers/rule.py _RULES": "rules of layers, by their classes",
    "ledger/forked_store.py _all_stores": "whose connections are closed before a fork",
    "ledger/forked_store.py _held_for_fork": "locks, given back after a fork",
    "ledger/ledger_file.py _connected": "how many connections each file has",
    "ledger/turns.py _all_turns": "queues, emptied in a fork",
    "questions/question.py _filters": "the filters of warnings before they were silenced",
    "questions/question.py _listening": "who asked for silence",
    "questions/recipe.py RECIPES": "recipes, by their names",
    "service/console/data_pages.py CURVES": "errors that follow from public facts",
    "trust/sources/adbc_connection.py _IN_USE": "connections that are answering",
    "trust/sources/adbc_connection.py _UNWANTED": "names of temporary tables to drop",
}
"""What modules keep beside their classes, and what it is: no payment, no record, no noise."""
FREE = (BaseEstimator, BaseException, threading.local)
"""Estimators are fitted anew, and what they release is public; errors are told; the last has one state each thread."""


def named(source: Source) -> str:
    return f"{source.file} {source.name}"


def found() -> list[Source]:
    """Every class that changes after it was made."""
    return [one for one in sources() if (one.file, one.name) in changing()]


def reason_of(source: Source) -> str | None:
    return None if source.private else getattr(source.kind, "unheld", None)


def exempt(source: Source) -> str:
    """The reason of its test file why it neither is held nor says itself why not."""
    return "" if source.private else reasons(source.kind, "UNHELD").get(source.name, "")


def keepers(name: str) -> list[Source]:
    """The classes that keep an object of this class in an attribute."""
    return [one for one in sources() if any(name in kinds for kinds in one.parts.values())]


def test_the_walk_finds_what_changes() -> None:
    names = {one.name for one in found()}
    assert names >= {"Permit", "TrialPermit", "Conversation", "OnlineQueries", "OpenTree", "OpenEpisodes", "Trainer"}
    assert names >= {"OpenRewards", "Client", "Server", "SecureSum", "MemoryPage", "SampledGradient"}
    assert not names & {"Laplace", "Schema", "Budget", "Composition"}


def test_what_changes_is_held_or_says_why_not() -> None:
    wrong = []
    for one in found():
        if one.private or exempt(one) or reason_of(one) is not None:
            continue
        if not issubclass(one.kind, (Held, *FREE)):
            wrong.append(named(one))
    assert not wrong, "derive these from Held, or say with `unheld` why not"


def test_what_others_change_is_held_or_says_why_not() -> None:
    given = [one for one in sources() if one.name in changed_by_others() and not one.private]
    assert {one.name for one in given} >= {"SqlRows", "WaitingDecision", "DeclaredQuestion"}
    wrong = [named(one) for one in given if reason_of(one) is None and not issubclass(one.kind, (Held, *FREE))]
    assert not wrong, "derive these from Held, or say with `unheld` why not"


def test_a_private_class_that_changes_is_kept_by_what_is_held_or_nowhere() -> None:
    """Whoever keeps one is held, or says why not; what is kept nowhere is made and used within one call."""
    hidden = [one for one in found() if one.private and not one.inside and not issubclass(one.kind, (Held, *FREE))]
    assert len(hidden) > 10
    by = {one.name: [kept for kept in keepers(one.name) if not kept.private] for one in hidden}
    wrong = [
        f"{name}, in {named(one)}"
        for name, kept in by.items()
        for one in kept
        if not (issubclass(one.kind, (Held, *FREE)) or reason_of(one) or exempt(one))
    ]
    assert not wrong, "derive their keepers from Held, or say with `unheld` why not"


def test_nothing_that_pays_or_is_secret_is_kept_by_a_module() -> None:
    """What functions change beside all classes; all threads and forks share it, and nobody could be refused it."""
    assert set(kept_by_modules()) == set(KEPT_BY_MODULES), "keep it in an object that is held, or say what it is"


def test_no_entrance_of_what_is_held_lets_another_thread_or_a_fork_in() -> None:
    wrong = []
    for one in sources():
        if not one.inside and inspect.isclass(one.kind) and issubclass(one.kind, Held) and one.kind is not Held:
            own = changing().get((one.file, one.name), {})
            wrong += [f"{named(one)}.{each.name}" for each in entrances(one, own) if lets_others_in(one.kind, each)]
    assert not wrong, "mark these as exclusive"


COPYING = {"__reduce__", "__reduce_ex__", "__copy__", "__deepcopy__", "__getstate__", "__replace__"}


def test_nothing_that_is_held_or_secret_has_a_way_of_its_own_to_be_copied() -> None:
    """`dataclasses.replace` would be one for what is held."""
    own = [one for one in sources() if not one.inside and inspect.isclass(one.kind)]
    below = [one for one in own if issubclass(one.kind, Held | Secret) and one.kind not in (Held, Secret)]
    assert len(below) > 80
    assert [named(one) for one in below if COPYING & set(one.methods)] == []
    assert [named(one) for one in below if issubclass(one.kind, Held) and is_dataclass(one.kind)] == []


def test_nothing_is_exempt_that_need_not_be() -> None:
    exceptions = [one for one in sources() if not one.inside and exempt(one)]
    assert len(exceptions) >= 3
    for one in exceptions:
        assert one in found(), named(one)
        assert not issubclass(one.kind, Held), named(one)
        assert reason_of(one) is None, named(one)


def test_each_reason_is_true_as_far_as_the_source_shows() -> None:
    checks = {"releases": knows_no_secret, "one call": is_kept_nowhere, "own turns": takes_turns, "part": is_a_part}
    given = [one for one in sources() if not one.inside and "unheld" in vars(one.kind)]
    assert {reason_of(one) for one in given} == set(get_args(Reason))
    for one in given:
        check: Any = checks.get(str(reason_of(one)))
        assert check is None or check(one), f"{named(one)} says {reason_of(one)!r}"


def knows_no_secret(source: Source) -> bool:
    parameters = inspect.signature(source.kind.__init__).parameters.values()
    annotations = " ".join(str(one.annotation) for one in parameters)
    told = annotations.replace("|", " ").split()
    return not any(kind.__name__ in told for room in rooms() for kind in public_classes(room) if secret(kind))


def secret(kind: type[Any]) -> bool:
    """Whether what is called so holds records or answers, pays, or draws noise."""
    return issubclass(kind, Secret | Permit | Holder) or kind in (Bits, Ledger)


def is_kept_nowhere(source: Source) -> bool:
    return not keepers(source.name)


def takes_turns(source: Source) -> bool:
    """Each public method that changes it is a coroutine, or waits for a lock of its own."""
    own = changing()[source.file, source.name]
    methods = [one for name in own if not name.startswith("_") for one in source.methods[name]]
    return all(isinstance(one, ast.AsyncFunctionDef) or "with self." in ast.unparse(one) for one in methods)


def is_a_part(source: Source) -> bool:
    """Whoever keeps it is held, or locks, or is such a part too."""
    own = keepers(source.name)
    fine = [one for one in own if exempt(one) or issubclass(one.kind, Held) or reason_of(one) in OWN]
    return bool(own) and fine == own


def test_the_walk_sees_each_way_to_change() -> None:
    tree = ast.parse(
        """class Purse:
    def a(self): self.coins = 1
    def b(self): self.coins += 1
    def c(self): self.coins[0], other = 1, 2
    def d(self): del self.coins
    def e(self): self.coins.append(1)
    def f(self): object.__setattr__(self, "coins", 1)
    def g(self): setattr(self, "coins", 1)
    def h(self): next(self.coins)
    def i(self):
        with open("x") as self.file: pass
    def j(self):
        for self.coin in self.coins: pass
    def k(self):
        mine = self.coins
        mine[0] = 1
    def l(self):
        other, mine = 1, self.coins[2]
        mine.append(1)
    def m(self):
        mine = self.coins
        mine += 1
    def n(self): np.add(self.coins, 1, out=self.coins)
    def o(self): np.add.at(self.coins, [0], 1)
    def p(self): heapq.heappush(self.coins, 1)
    def no(self): return self.coins.count(1)
    def nor(self):
        mine = self.coins
        mine = mine + [1]
        return np.add(mine, 1, out=other)
"""
    )
    purse = Source("", tree.body[0], True)  # type: ignore[arg-type]
    changed = [name for name, (method,) in purse.methods.items() if directly(method)]
    assert changed == list("abcdefghijklmnop")
    assert list(made(ast.parse("a or Kind.of(1) if x else _Other(2)", mode="eval").body)) == ["_Other", "Kind"]
