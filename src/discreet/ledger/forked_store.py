"""Stores that a fork does not inherit: their connections are closed before it, and each process opens its own."""

from __future__ import annotations

import os
import threading
import weakref

_all_stores: weakref.WeakSet[ForkedStore] = weakref.WeakSet()
_held_for_fork: list[threading.Lock] = []


class ForkedStore:
    """What has connections, each used under a lock.

    A connection that a child inherits would be used by two processes at once; even closing it there would end it for
    the parent.
    """

    def __init__(self, *locks: threading.Lock) -> None:
        self._locks = locks
        _all_stores.add(self)

    def disconnect(self) -> None:
        """Close all connections, with all locks held."""
        raise NotImplementedError


def _before_fork() -> None:
    for store in list(_all_stores):
        for lock in store._locks:
            lock.acquire()
            _held_for_fork.append(lock)
        store.disconnect()


def _after_fork() -> None:
    while _held_for_fork:
        _held_for_fork.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
