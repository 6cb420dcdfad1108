"""An event loop in a thread of its own, for code that is not asynchronous, such as notebooks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from discreet.core.errors import DiscreetError
from discreet.core.held import unheld

Result = TypeVar("Result")
Work = Callable[[], Coroutine[Any, Any, Result]]
PATIENCE = 10.0  # seconds for what is under way to end


class Closed(DiscreetError):
    """The background thread has ended; nothing can be asked of it."""


@unheld("own turns")
class Background:
    """Runs coroutine functions for code that is not asynchronous, one after the other, until it is closed.

    Whatever is interrupted has come to its end before the next begins.
    """

    def __init__(self) -> None:
        self._loop, self._lock = asyncio.new_event_loop(), asyncio.Lock()
        self._open, self._opening = True, threading.Lock()
        self._works: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(target=self._live, name="discreet", daemon=True)
        self._thread.start()

    def run(self, work: Work[Result]) -> Result:
        """What the work gives; it is cancelled when the wait for it is interrupted."""
        wait = _Wait()
        try:
            with self._opening:
                if not self._open:
                    raise _closed()
                future = asyncio.run_coroutine_threadsafe(self._in_turn(work, wait), self._loop)
            return future.result()
        except CancelledError as why:
            raise _closed() from why
        except Exception:
            raise
        except BaseException:
            self._loop.call_soon_threadsafe(wait.give_up)
            raise

    def close(self, last: Work[None]) -> None:
        """Cancel what is under way, do one last thing, and end the thread; a second time does nothing."""
        with self._opening:
            if self._open:
                asyncio.run_coroutine_threadsafe(self._stopped(last), self._loop)
            self._open = False
        if threading.current_thread() is not self._thread:
            self._thread.join(4 * PATIENCE)

    def _live(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    async def _in_turn(self, work: Work[Result], wait: _Wait) -> Result:
        task = wait.begin()
        self._works.add(task)
        try:
            async with self._lock:
                return await work()
        finally:
            self._works.discard(task)

    async def _stopped(self, last: Work[None]) -> None:
        await _ended(self._works)
        await asyncio.wait([asyncio.ensure_future(last())], timeout=PATIENCE)
        await _ended(asyncio.all_tasks() - {asyncio.current_task()})
        self._loop.call_soon(self._loop.stop)


class _Wait:
    """Somebody waits for a task, and may give up at any moment: even before the task has begun."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Any] | None = None
        self._over = False

    def begin(self) -> asyncio.Task[Any]:
        self._task = asyncio.current_task()
        if self._over or self._task is None:
            raise asyncio.CancelledError
        return self._task

    def give_up(self) -> None:
        self._over = True
        if self._task is not None:
            self._task.cancel()


async def _ended(tasks: Iterable[asyncio.Task[Any] | None]) -> None:
    """Cancel these, and wait until they have come to their end."""
    if under_way := [task for task in tasks if task is not None]:
        for task in under_way:
            task.cancel()
        await asyncio.wait(under_way, timeout=PATIENCE)


def _closed() -> Closed:
    return Closed("secure sum", "it was closed", "Make a new one.", "Nothing was opened.")
