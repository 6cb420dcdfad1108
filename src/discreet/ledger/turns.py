"""Threads that wait for the same lock: the first of them goes for all, so that one transaction serves many.

Nobody waits for company, and there is no thread for it. Whoever comes while nobody leads is the leader: it waits for
the lock, and only then takes what has queued meanwhile, so that all who came in time ride. Then it wakes them, and
the first of those who came too late leads next.
"""

from __future__ import annotations

import copy
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from discreet.core.errors import DiscreetError, LedgerError
from discreet.core.held import unheld

MOST = 256  # decisions in one transaction
Value = TypeVar("Value")

_all_turns: weakref.WeakSet[WriterTurns] = weakref.WeakSet()


@unheld("one call")
class WaitingDecision(Generic[Value]):
    """What one thread wants decided, and what came of it.

    Parameters
    ----------
    decide : callable
        Given the page, what the thread is told; what it raises is that thread's alone.
    lasting : bool
        Whether the mark beside the ledger has to be on disk too before the thread is told.
    """

    __slots__ = ("decide", "done", "error", "lasting", "value", "wake")

    def __init__(self, decide: Callable[[Any], Value], lasting: bool = True) -> None:
        self.decide, self.lasting = decide, lasting
        self.value: Value | None = None
        self.error: BaseException | None = None
        self.done = False
        self.wake = threading.Lock()
        self.wake.acquire()


Lead = Callable[[Callable[[], list[WaitingDecision[Any]]]], None]


@unheld("own turns")
class WriterTurns:
    """The queue of one process."""

    def __init__(self) -> None:
        self.batches = self.decisions = 0
        self._begin()
        _all_turns.add(self)

    def _begin(self) -> None:
        """Nobody waits: those who did are not in a fork, and may have left the gate closed."""
        self._gate = threading.Lock()
        self._waiting: deque[WaitingDecision[Any]] = deque()
        self._leader: WaitingDecision[Any] | None = None

    def decided(self, decision: WaitingDecision[Value], led: Lead) -> Value:
        """What was decided, when it is on disk.

        Parameters
        ----------
        decision : WaitingDecision
            What this thread wants.
        led : callable
            Holds the lock, takes the queue by calling what it is given, and sees to all decisions in it. Where it
            raises, everybody who was taken is told; where nothing was taken, everybody who waits.
        """
        try:
            with self._gate:
                self._waiting.append(decision)
                leads = self._leader is None
                if leads:
                    self._leader = decision
            if not leads:
                decision.wake.acquire()
            if not decision.done:
                self._lead(led)
        finally:
            self._leave(decision)
        if decision.error is not None:
            raise decision.error
        return decision.value  # type: ignore[return-value]

    def _leave(self, decision: WaitingDecision[Any]) -> None:
        """Whoever goes, interrupted perhaps, neither waits any more nor leads."""
        with self._gate:
            if not decision.done and decision in self._waiting:
                self._waiting.remove(decision)
            if self._leader is decision:
                self._leader = self._waiting[0] if self._waiting else None
                if self._leader is not None:
                    self._leader.wake.release()

    def _lead(self, led: Lead) -> None:
        taken: list[WaitingDecision[Any]] = []

        def take() -> list[WaitingDecision[Any]]:
            with self._gate:
                taken.extend(self._waiting.popleft() for _ in range(min(MOST, len(self._waiting))))
            return taken

        why: BaseException | None = None
        try:
            led(take)
        except BaseException as error:
            why = error
            raise
        finally:
            self._tell(taken, why)

    def _tell(self, taken: list[WaitingDecision[Any]], why: BaseException | None) -> None:
        with self._gate:
            if why is not None and not taken:  # the lock was not granted: all who wait hear it
                taken = list(self._waiting)
                self._waiting.clear()
            leader = self._leader
        self.batches, self.decisions = self.batches + 1, self.decisions + len(taken)
        for decision in taken:
            if why is not None:
                decision.error = _own_copy(why)
            decision.done = True
            if decision is not leader:
                decision.wake.release()


def _own_copy(why: BaseException) -> DiscreetError:
    """The error for each of several threads: an exception that is raised in two keeps the traces of both."""
    if isinstance(why, DiscreetError):
        return copy.copy(why)
    remedy = "Retry with the same key: whether it was recorded shows then."
    error = LedgerError("ledger", f"whoever wrote it was interrupted ({type(why).__name__})", remedy, "")
    error.__cause__ = why
    return error


def _forget_all() -> None:
    for turns in list(_all_turns):
        turns._begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
