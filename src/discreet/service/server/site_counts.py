"""Figures for those who watch a site: how often, how it went, how long; never who, what, or about whom."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

from discreet.core.held import unheld
from discreet.service.server.site_file import UserEntry

if TYPE_CHECKING:
    from discreet.service.server.site import Site

CELLS = (0.01, 0.05, 0.25, 1.0, 5.0)  # seconds


@unheld("own turns")
class SiteCounts:
    """Counts answers by way and status, and their times, which are public moments.

    Examples
    --------
    >>> counts = SiteCounts()
    >>> counts.note("/api/me", 200, 0.02)
    >>> counts.lines()[0]
    'discreet_answers_total{way="/api/me",status="200"} 1'
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: Counter[tuple[str, int]] = Counter()
        self._times: Counter[float] = Counter()

    def note(self, way: str, status: int, seconds: float) -> None:
        """Count an answer."""
        with self._lock:
            self._answers[way, status] += 1
            self._times[next((cell for cell in CELLS if seconds <= cell), float("inf"))] += 1

    def lines(self) -> list[str]:
        """The counts, a line for each."""
        with self._lock:
            answers, times = sorted(self._answers.items()), dict(self._times)
        found = [f'discreet_answers_total{{way="{way}",status="{status}"}} {n}' for (way, status), n in answers]
        total = 0
        for cell in (*CELLS, float("inf")):
            total += times.get(cell, 0)
            found.append(f'discreet_answer_seconds_bucket{{le="{"+Inf" if cell == float("inf") else cell}"}} {total}')
        return found

    def text(self, site: Site, caller: UserEntry) -> str:
        """The counts, with how accounts and queues stand: all of it known to curators and auditors."""
        found = self.lines()
        for one in site.data_sets(caller):
            found.append(f'discreet_ledger_usable{{data="{one.name}"}} {int(not one.trouble)}')
            found += [
                f'discreet_budget_used_share{{data="{one.name}"}} {balance.used:.6g}'
                for name, balance in one.balances.items()
                if name == "data set"
            ]
        states = sorted(site.counted(caller, "state").items())
        found += [f'discreet_questions{{state="{state}"}} {n}' for state, n in states]
        return "\n".join(found) + "\n"
