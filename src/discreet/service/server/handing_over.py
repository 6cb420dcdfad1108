"""What threads made, handed to the event loop that waits for it: as much at a time as there is."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from discreet.core.held import unheld


@unheld("own turns")
class HandingOver:
    """Wakes the loop once for all that threads finish until it looks.

    To wake it for each costs as much as many a reply does.

    Examples
    --------
    >>> async def both() -> list[int]:
    ...     handing = HandingOver()
    ...     with ThreadPoolExecutor(2) as threads:
    ...         return await asyncio.gather(*(handing.done(threads, lambda n=n: n * n) for n in (3, 4)))
    >>> asyncio.run(both())
    [9, 16]
    """

    def __init__(self) -> None:
        self._made: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._woken = False

    async def done(self, threads: ThreadPoolExecutor, work: Callable[[], Any]) -> Any:
        """What some work comes to, in a thread."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        threads.submit(self._run, loop, future, work)
        return await future

    def _run(self, loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], work: Callable[[], Any]) -> None:
        try:
            made: tuple[asyncio.Future[Any], Any, BaseException | None] = future, work(), None
        except BaseException as why:
            made = future, None, why
        self._made.append(made)
        if not self._woken:
            self._woken = True
            loop.call_soon_threadsafe(self._hand)

    def _hand(self) -> None:
        """In the loop: what is appended from here on wakes it again."""
        self._woken = False
        while self._made:
            future, value, why = self._made.popleft()
            if future.done():
                continue  # whoever waited is gone
            if why is None:
                future.set_result(value)
            else:
                future.set_exception(why)
