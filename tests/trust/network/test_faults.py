"""Secure sums while somebody on the line drops, doubles, delays, garbles, replays and swaps messages.

Whatever is done to one message of a round, to one party or to two: the outcome is the exact sum of the survivors, with
their noise, or an error that says who left and why; nobody's vector can be opened alone; and the next round is whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import pytest

from tests.trust.network.outcome import Books, Outcome, check_safe
from tests.trust.network.proxy import (
    BY_SERVER,
    Corrupted,
    CutAfter,
    CutBefore,
    Delayed,
    Doubled,
    Dropped,
    Proxy,
    Replayed,
    Script,
    Swapped,
)
from tests.trust.network.stage import NAMES, Stage, party, server

PATIENCE = 0.25
KINDS: tuple[str, ...] = ("hello", "call", "keys", "announcements", "shares", "delivery", "masked", "survivors")
KINDS += ("agreement", "agreements", "reveal")


class Play:
    """A server, a proxy on every line, and rounds one after the other. The server calls the parties."""

    def __init__(
        self, stage: Stage, addresses: Mapping[str, str], books: Books, scripts: Mapping[str, Script], patience: float
    ) -> None:
        self._stage, self._books, self.scripts = stage, books, scripts
        self.proxies = [self._opened(Proxy(name, addresses[name], self._script(name))) for name in NAMES]
        self._trust = server([one.address for one in self.proxies], patience=patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._trust.close()
        for one in self.proxies:
            self._stage.run(one.close())

    def ask(self) -> set[str]:
        """One round, and whose sum came of it."""
        return check_safe(Outcome.of(self._trust, self._books, self.proxies), self._books)

    def _script(self, name: str) -> Script:
        return self.scripts.get(name, Script("nothing"))

    def _opened(self, proxy: Proxy) -> Proxy:
        self._stage.run(proxy.open())
        return proxy


class Reversed(Play):
    """The parties call the server."""

    def __init__(
        self, stage: Stage, addresses: Mapping[str, str], books: Books, scripts: Mapping[str, Script], patience: float
    ) -> None:
        self._stage, self._books, self.scripts = stage, books, scripts
        self._trust = server(listen="127.0.0.1:0", patience=patience)
        where = str(self._trust.address)
        self.proxies = [self._opened(Proxy(name, where, self._script(name), caller=name)) for name in NAMES]
        self._playing = [stage.connects(party(one.party), one.address) for one in self.proxies]

    def __exit__(self, *error: object) -> None:
        for one in self._playing:
            one.stop()
        super().__exit__(*error)


Build = Callable[[str, float], Script]
HARMLESS: dict[str, Build] = {
    "doubled": lambda kind, patience: Doubled(kind),
    "delayed": lambda kind, patience: Delayed(kind, patience / 5),
    "replayed before": lambda kind, patience: Replayed(kind, instead=False),
}
HARMFUL: dict[str, Build] = {
    "dropped": lambda kind, patience: Dropped(kind),
    "late": lambda kind, patience: Delayed(kind, 1.5 * patience),
    "some byte": lambda kind, patience: Corrupted(kind, 0.618),
    "last byte": lambda kind, patience: Corrupted(kind, 1.0),
    "replayed instead": lambda kind, patience: Replayed(kind, instead=True),
    "cut before": lambda kind, patience: CutBefore(kind),
}
FAULTS: dict[str, Build] = {**HARMLESS, **HARMFUL, "cut after": lambda kind, patience: CutAfter(kind)}
CASES = [
    (fault, kind)
    for fault in FAULTS
    for kind in KINDS
    if not (fault.startswith("replayed") and kind == "hello")  # a hello is the same in every round
    and not (fault == "late" and kind in BY_SERVER)  # to the server, the same as a late answer
]


def sampled(cases: Sequence[Any], every: int) -> list[Any]:
    """Of all cases those that every run tries; the others are slow."""
    marks = [() if i % every == 0 else (pytest.mark.slow,) for i in range(len(cases))]
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=mark)
        for case, mark in zip(cases, marks, strict=True)
    ]


def counted_in(fault: str, kind: str) -> bool:
    """Whether the sum still holds a party's vector after this was done to its message of this kind."""
    if fault in HARMLESS:
        return True
    safe = KINDS.index("masked") + (fault != "cut after")
    return KINDS.index(kind) >= safe


def played(
    stage: Stage,
    addresses: Mapping[str, str],
    books: Books,
    scripts: Callable[[float], Mapping[str, Script]],
    settled: Callable[[set[str]], bool],
    way: type[Play] = Play,
) -> None:
    """Play a case. What is safe must hold at once; what a busy machine may spoil, at the latest when given time."""
    for patience in (PATIENCE, 4 * PATIENCE, 16 * PATIENCE):
        with way(stage, addresses, books, scripts(patience), patience) as play:
            ready = rehearsed(play)
            whose, again = play.ask(), play.ask()
            struck = not any(one.armed for one in play.scripts.values())
        if ready and struck and settled(whose) and again == set(NAMES):
            return
    pytest.fail(f"in the sum: {sorted(whose)}, in the next: {sorted(again)}")


def rehearsed(play: Play) -> bool:
    """Let scripts that need an earlier round see one."""
    waiting = [one for one in play.scripts.values() if not one.armed]
    whole = not waiting or play.ask() == set(NAMES)
    for one in waiting:
        one.armed = whole
    return whole


def test_each_fault_and_each_kind_of_message_is_tried_in_every_run() -> None:
    tried = [case.values for case in sampled(CASES, 6) if not case.marks]
    assert {fault for fault, _ in tried} == set(FAULTS)
    assert {kind for _, kind in tried} == set(KINDS)


@pytest.mark.parametrize(("fault", "kind"), sampled(CASES, 6))
def test_a_fault_on_one_line_costs_at_most_one_party(
    fault: str, kind: str, stage: Stage, addresses: dict[str, str], books: Books
) -> None:
    played(stage, addresses, books, on_one_line(fault, kind), lambda whose: as_expected(fault, kind, whose))


def on_one_line(fault: str, kind: str) -> Callable[[float], Mapping[str, Script]]:
    return lambda patience: {"north": FAULTS[fault](kind, patience)}


def as_expected(fault: str, kind: str, whose: set[str]) -> bool:
    if kind == "hello":  # the party may have been called again in time
        return whose >= set(NAMES) - {"north"}
    return whose == (set(NAMES) if counted_in(fault, kind) else set(NAMES) - {"north"})


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("dropped", "masked"), ("doubled", "keys"), ("some byte", "call"), ("cut before", "reveal")],
)
def test_parties_that_call_the_server_are_as_safe(
    fault: str, kind: str, stage: Stage, addresses: dict[str, str], books: Books
) -> None:
    scripts = on_one_line(fault, kind)
    played(stage, addresses, books, scripts, lambda whose: as_expected(fault, kind, whose), Reversed)


@pytest.mark.parametrize(
    ("fault", "kind"), sampled([(fault, kind) for kind in KINDS[1:] for fault in ("dropped", "cut after")], 5)
)
def test_a_fault_on_two_lines_is_one_too_many(
    fault: str, kind: str, stage: Stage, addresses: dict[str, str], books: Books
) -> None:
    """But for the last message of all, after which a party may go."""

    def scripts(patience: float) -> Mapping[str, Script]:
        return {name: FAULTS[fault](kind, patience) for name in ("north", "west")}

    expected = set(NAMES) if (fault, kind) == ("cut after", "reveal") else set()
    played(stage, addresses, books, scripts, lambda whose: whose == expected)


@pytest.mark.parametrize("kind", sampled(KINDS, 3))
def test_messages_of_two_parties_cannot_be_swapped(
    kind: str, stage: Stage, addresses: dict[str, str], books: Books
) -> None:
    """What the server says to all alike can be: that changes nothing."""

    def scripts(patience: float) -> Mapping[str, Script]:
        return dict(zip(("north", "west"), Swapped.pair(kind), strict=True))

    alike = kind in BY_SERVER and kind != "delivery"
    expected = [set(NAMES)] if alike else [set(), set(NAMES)] if kind == "hello" else [set()]
    played(stage, addresses, books, scripts, lambda whose: whose in expected)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_whatever_happens_on_all_lines_at_once(
    seed: int, stage: Stage, addresses: dict[str, str], books: Books
) -> None:
    """A storm of faults, in ten rounds one after the other; then rounds become whole again."""
    rng = np.random.default_rng(seed)

    def storm() -> Script:
        fault = rng.choice([one for one in FAULTS if not one.startswith("replayed")])
        return FAULTS[fault](str(rng.choice(KINDS)), PATIENCE)

    with Play(stage, addresses, books, {name: storm() for name in NAMES}, PATIENCE) as play:
        for _ in range(10):
            play.ask()
            for one in play.proxies:
                if rng.random() < 0.5:
                    one.script = storm()
        for one in play.proxies:
            one.script = Script("nothing")
        assert set(NAMES) in [play.ask() for _ in range(8)]
