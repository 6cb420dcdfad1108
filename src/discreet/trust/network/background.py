"""An event loop in a thread of its own, so that plain code, and notebooks, can wait for what it does."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")
PATIENCE = 10.0  # seconds for what is under way to end


class Background:
    """Runs coroutines for code that is not asynchronous, until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._live, name="discreet", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What a coroutine gives; it is cancelled when the wait is interrupted."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Cancel what is under way, do one last thing, and end the thread."""
        asyncio.run_coroutine_threadsafe(self._stopped(last), self._loop)
        if threading.current_thread() is not self._thread:
            self._thread.join(PATIENCE)

    def _live(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    async def _stopped(self, last: Coroutine[Any, Any, None]) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.wait([asyncio.ensure_future(last), *others], timeout=PATIENCE)
        self._loop.call_soon(self._loop.stop)
