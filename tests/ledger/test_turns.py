"""Whoever comes first leads for all who came in time; nobody is forgotten, whoever is interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from discreet.core.errors import LedgerError
from discreet.ledger import turns
from discreet.ledger.turns import WaitingDecision, WriterTurns

Take = Callable[[], list[WaitingDecision[Any]]]


def made(take: Take) -> None:
    """Each decision is made, one by one."""
    for decision in take():
        decision.value = decision.decide(None)


def queued(order: WriterTurns, count: int) -> None:
    while len(order._waiting) < count:
        threading.Event().wait(0.001)


def test_each_is_told_its_own_and_most_ride_together() -> None:
    order, leads, go_on = WriterTurns(), threading.Event(), threading.Event()

    def first(take: Take) -> None:
        made(take)
        leads.set()
        go_on.wait()

    with ThreadPoolExecutor(20) as pool:
        leader = pool.submit(order.decided, WaitingDecision(lambda _: -1), first)
        leads.wait()
        told = [pool.submit(order.decided, WaitingDecision(lambda _, n=n: n), made) for n in range(19)]  # type: ignore[misc]
        queued(order, 19)
        go_on.set()
    assert (leader.result(), [each.result() for each in told]) == (-1, list(range(19)))
    assert (order.batches, order.decisions, order._leader) == (2, 20, None)


def test_no_more_ride_than_one_transaction_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MOST", 3)
    order, leads, go_on = WriterTurns(), threading.Event(), threading.Event()

    def first(take: Take) -> None:
        made(take)
        leads.set()
        go_on.wait()

    with ThreadPoolExecutor(8) as pool:
        pool.submit(order.decided, WaitingDecision(lambda _: -1), first)
        leads.wait()
        told = [pool.submit(order.decided, WaitingDecision(lambda _, n=n: n), made) for n in range(7)]  # type: ignore[misc]
        queued(order, 7)
        go_on.set()
    assert sorted(each.result() for each in told) == list(range(7))
    assert order.batches == 4


def test_where_the_lock_is_not_granted_all_who_wait_hear_it_with_an_error_of_their_own() -> None:
    order, leads, go_on = WriterTurns(), threading.Event(), threading.Event()

    def refused(take: Take) -> None:
        leads.set()
        go_on.wait()
        raise LedgerError("ledger", "it is locked")

    with ThreadPoolExecutor(3) as pool:
        told = [pool.submit(order.decided, WaitingDecision(lambda _: 1), refused)]
        leads.wait()
        told += [pool.submit(order.decided, WaitingDecision(lambda _: 1), made) for _ in range(2)]
        queued(order, 3)
        go_on.set()
    errors = [each.exception() for each in told]
    assert [str(error) for error in errors] == [str(errors[0])] * 3
    assert len({id(error) for error in errors}) == 3
    assert order.decided(WaitingDecision(lambda _: 7), made) == 7


class Interrupted(WaitingDecision[int]):
    """One whose thread is interrupted while it waits."""

    class Wake:
        def __init__(self, waits: threading.Event, now: threading.Event) -> None:
            self._waits, self._now = waits, now

        def acquire(self) -> None:
            self._waits.set()
            self._now.wait()
            raise KeyboardInterrupt

        def release(self) -> None:
            self._now.set()


def interrupted() -> tuple[Interrupted, threading.Event, threading.Event]:
    decision, waits, now = Interrupted(lambda _: 1), threading.Event(), threading.Event()
    decision.wake = Interrupted.Wake(waits, now)  # type: ignore[assignment]
    return decision, waits, now


@pytest.mark.parametrize("called", [False, True])
def test_who_is_interrupted_while_waiting_or_as_it_is_called_to_lead_passes_that_on(called: bool) -> None:
    order, leads, go_on = WriterTurns(), threading.Event(), threading.Event()
    going, waits, now = interrupted()

    def first(take: Take) -> None:
        made(take)
        leads.set()
        go_on.wait()

    with ThreadPoolExecutor(3) as pool:
        pool.submit(order.decided, WaitingDecision(lambda _: -1), first)
        leads.wait()
        gone = pool.submit(order.decided, going, made)
        waits.wait()
        last = pool.submit(order.decided, WaitingDecision(lambda _: 7), made)
        queued(order, 2)
        if not called:
            now.set()
            assert isinstance(gone.exception(), KeyboardInterrupt)
            assert len(order._waiting) == 1
        go_on.set()
        assert last.result(timeout=60) == 7
        assert isinstance(gone.exception(), KeyboardInterrupt)
    assert (len(order._waiting), order._leader) == (0, None)


def test_a_fork_begins_with_nobody_waiting() -> None:
    order = WriterTurns()
    order._waiting.append(WaitingDecision(lambda _: 1))
    order._leader = order._waiting[0]
    order._gate.acquire()
    turns._forget_all()
    assert order.decided(WaitingDecision(lambda _: 7), made) == 7
