"""Answers are counted before they are given, and capped, whatever threads, processes and days do."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.neighbors import Neighbors
from discreet.crypto.errors import Malformed, RoundReused
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.trust.matching import match_account
from discreet.trust.matching.match_account import EVENT, MatchAccount
from tests.trust.holding import HolderTrial

TRIAL = HolderTrial(
    lambda: MatchAccount(MemoryLedger(Budget(1.0)), "a test", 3), {"asker": "desk", "session": "0" * 32}
)


def session(number: int) -> str:
    return f"{number:032x}"


def test_each_asker_has_so_many_answers_and_each_is_an_entry_without_a_promise() -> None:
    ledger = MemoryLedger(Budget(1e-9))
    account = MatchAccount(ledger, "access control", 3)
    for number in range(3):
        assert account.left("desk") == 3 - number
        account.count("desk", session(number))
    with pytest.raises(NotPermitted, match="3 are the most") as refused:
        account.count("desk", session(3))
    assert refused.value.answered == 3  # type: ignore[attr-defined]
    account.count("gate", session(4))
    entries = ledger.entries()
    assert [entry.event for entry in entries] == [EVENT] * 4
    assert {entry.waiver for entry in entries} == {"access control"}
    assert all(entry.committed and entry.epsilon == 0 for entry in entries)


def test_a_session_is_answered_once_whoever_asks_again() -> None:
    account = MatchAccount(MemoryLedger(Budget(1.0)), "a test", 5)
    account.count("desk", session(1))
    with pytest.raises(RoundReused, match="answered before"):
        account.count("desk", session(1))
    assert account.left("desk") == 4
    for wrong in ("", "x" * 32, "0" * 31, "0" * 33, "A" * 32, "0" * 31 + " "):
        with pytest.raises(Malformed):
            account.count("desk", wrong)


def test_names_that_end_alike_are_counted_apart() -> None:
    account = MatchAccount(MemoryLedger(Budget(1.0)), "a test", 1)
    account.count("a by b", session(1))
    account.count("b", session(2))
    account.count(" by b", session(3))
    assert [account.left(name) for name in ("a by b", "b", " by b", "a")] == [0, 0, 0, 1]


def test_a_day_has_its_own_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = MemoryLedger(Budget(1.0))
    account = MatchAccount(ledger, "a test", 5, daily=2)
    account.count("desk", session(1))
    account.count("desk", session(2))
    with pytest.raises(NotPermitted, match="given today, and 2 are the most"):
        account.count("desk", session(3))
    monkeypatch.setattr(match_account, "today", lambda: "2099-01-01")
    account.count("desk", session(4))


def test_without_a_waiver_there_is_no_account() -> None:
    for waiver in ("", "  ", None):
        with pytest.raises(NotPermitted, match="it keeps no promise"):
            MatchAccount(MemoryLedger(Budget(1.0)), waiver, 5)  # type: ignore[arg-type]
    for most in (0, -1, 2.5, None):
        with pytest.raises(ParameterError, match="most"):
            MatchAccount(MemoryLedger(Budget(1.0)), "a test", most)  # type: ignore[arg-type]


def test_many_threads_and_two_ledgers_of_one_file_get_no_more(tmp_path: Path) -> None:
    path = tmp_path / "answers.ledger"
    answered: list[str] = []
    with (
        SqliteLedger.create(path, Budget(1e-9), name="answers", neighbors=Neighbors.ADD_REMOVE) as one,
        SqliteLedger.open(path) as other,
    ):
        accounts = [MatchAccount(ledger, "a test", 4) for ledger in (one, other)]

        def ask(number: int) -> None:
            try:
                accounts[number % 2].count("desk", session(number))
                answered.append(session(number))
            except NotPermitted:
                pass

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(answered) == 4


def test_who_is_late_by_a_moment_is_refused_though_the_first_look_let_him_in(monkeypatch: pytest.MonkeyPatch) -> None:
    account = MatchAccount(MemoryLedger(Budget(1.0)), "a test", 1)
    real = MatchAccount._answered
    looks: list[int] = []

    def slow(self: MatchAccount, asker: str) -> list[object]:
        looks.append(1)
        if len(looks) == 1:  # another process counts between the look and the charge
            found = real(self, asker)
            account.count("desk", session(7))
            return found  # type: ignore[return-value]
        return real(self, asker)  # type: ignore[return-value]

    monkeypatch.setattr(MatchAccount, "_answered", slow)
    with pytest.raises(NotPermitted, match="the attempt was counted"):
        account.count("desk", session(8))
