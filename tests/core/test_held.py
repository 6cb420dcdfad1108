"""What holds a payment and changes: one thread at a time, one process, no copy."""

from __future__ import annotations

import copy
import os
import pickle
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from discreet.core.errors import NotPermitted
from discreet.core.held import Held, exclusive, is_exclusive
from tests.conformance.forks import in_a_fork


class Purse(Held):
    def __init__(self) -> None:
        self.coins = 0

    @exclusive
    def add(self) -> int:
        coins = self.coins
        time.sleep(0)  # gives other threads their turn: without the lock, updates are lost
        self.coins = coins + 1
        return self.coins

    @exclusive
    def add_two(self) -> int:
        return self.add() + self.add()


@dataclass(frozen=True)
class Frozen(Held):
    name: str = "a"

    @exclusive
    def told(self) -> str:
        return self.name


def test_threads_take_turns() -> None:
    purse = Purse()
    threads = [threading.Thread(target=lambda: [purse.add() for _ in range(500)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert purse.coins == 4000


def test_a_method_may_call_another_of_the_same_object() -> None:
    assert Purse().add_two() == 3


def test_a_fork_is_refused_even_where_it_finds_the_lock_taken() -> None:
    purse = Purse()
    purse._lock.acquire()
    child = os.fork()
    if child == 0:
        try:
            purse.add()
        except NotPermitted as error:
            os._exit(0 if "fork" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("kind", [Purse, Frozen])
def test_it_is_neither_copied_nor_pickled(kind: type[Held]) -> None:
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            way(kind())


def test_a_frozen_dataclass_can_be_held() -> None:
    assert Frozen("b").told() == "b"


class Cautious(Purse):
    def add(self) -> int:
        self.coins += 2
        return self.coins


def test_what_overrides_an_exclusive_method_is_exclusive() -> None:
    assert is_exclusive(Cautious.add)
    assert Cautious().add() == 2


def test_what_runs_after_its_call_cannot_be_exclusive() -> None:
    def steps(self: Purse) -> Iterator[int]:
        yield 1

    async def later(self: Purse) -> int:
        return 1

    for method in (steps, later):
        with pytest.raises(TypeError, match="let each of its steps be exclusive"):
            exclusive(method)


def test_a_fork_of_a_fork_is_another_process_even_with_the_same_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of processes come again."""
    purse, number = Purse(), os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: number)
    assert in_a_fork(purse.add) == "refused"
