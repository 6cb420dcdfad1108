"""How often each caller may ask, and how much at a time."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.core.held import unheld
from discreet.service.server.site_refusals import TooMany

MOST_CALLERS = 4096


@unheld("one call")
class Place:
    """The place of a question among those of its caller that are being answered."""

    moment = 0.0

    def until(self, moment: float) -> None:
        """Keep it until its answer leaves."""
        self.moment = moment


@unheld("own turns")
class CallerLimits:
    """Counts requests of the last minute, and questions that are being answered.

    Parameters
    ----------
    requests : int
        Public. A minute, of each caller.
    running : int
        Public. Questions at a time, of each caller.
    clock : callable
        Seconds that only go forward.

    Examples
    --------
    >>> limits = CallerLimits(2, 1, clock=lambda: 0.0)
    >>> limits.count("ann"); limits.count("ann"); limits.count("ann")
    Traceback (most recent call last):
    ...
    discreet.service.server.site_refusals.TooMany: a request of ann: there were 2 in the last minute, as many as are \
allowed. Nothing was released or spent. Wait a little.
    """

    def __init__(self, requests: int, running: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._requests, self._most_running, self._clock = requests, running, clock
        self._lock = threading.Lock()
        self._tokens: dict[str, tuple[float, float]] = {}
        self._running: dict[str, int] = {}
        self._until: dict[str, list[float]] = {}

    def count(self, caller: str) -> None:
        """Count a request; refused where there were too many."""
        now, rate = self._clock(), self._requests / 60
        with self._lock:
            left, since = self._tokens.get(caller, (float(self._requests), now))
            left = min(float(self._requests), left + (now - since) * rate)
            if left < 1:
                obstacle = f"there were {self._requests} in the last minute, as many as are allowed"
                raise TooMany(f"a request of {caller}", obstacle, "Wait a little.")
            if caller not in self._tokens and len(self._tokens) >= MOST_CALLERS:
                self._tokens.pop(next(iter(self._tokens)))
            self._tokens[caller] = (left - 1, now)

    @contextmanager
    def running(self, caller: str) -> Iterator[Place]:
        """A question that is being answered; refused where there are too many."""
        with self._lock:
            if self._taken(caller) >= self._most_running:
                obstacle = f"{self._most_running} of your questions are being answered, as many as are allowed"
                raise TooMany(f"a question of {caller}", obstacle, "Wait for one of their answers.")
            self._running[caller] = self._running.get(caller, 0) + 1
        place = Place()
        try:
            yield place
        finally:
            with self._lock:
                self._running[caller] -= 1
                if not self._running[caller]:
                    del self._running[caller]
                if place.moment > self._clock():
                    heapq.heappush(self._until.setdefault(caller, []), place.moment)

    def taken(self, caller: str) -> int:
        """How many places a caller has: of questions that are being answered, and of answers that have not left."""
        with self._lock:
            return self._taken(caller)

    def _taken(self, caller: str) -> int:
        staying = self._until.get(caller, [])
        while staying and staying[0] <= self._clock():
            heapq.heappop(staying)
        if not staying:
            self._until.pop(caller, None)
        return self._running.get(caller, 0) + len(staying)
