"""What one person's device has reported: one report to each task, within a limit for all tasks together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.accounting.accountant import epsilon
from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, NotPermitted
from discreet.core.events import Composed, Event, read, written
from discreet.core.grid import Array
from discreet.core.held import exclusive
from discreet.crypto.prio3.shares import Sharded
from discreet.ledger.own_account import OwnAccount
from discreet.trust.aggregation.published_task import PublishedTask
from discreet.trust.aggregation.share_aggregator import Reports

VERSION = 1


@dataclass(frozen=True)
class Participation:
    """A task that a device takes part in: its price, a digest of the record, and the report until it has arrived."""

    event: Event
    record: str
    made: Reports | None = field(repr=False)


class DeviceAccount(OwnAccount):
    """What the device of one person takes part in.

    Each task has one report of it. Until that has arrived it is kept, and sent again as it is: so it counts once,
    however often it is tried. A task that would make all of them together cost more than the owner lets it is refused
    before anything is made: whoever asks may publish as many tasks as he likes.

    Parameters
    ----------
    most : Budget
        Public. What all tasks together may cost: the owner's choice and not the asker's.
    path : path, optional
        Where it is kept, on the person's own device, so that it outlives the process. Threads and processes may share
        it. A report that has not arrived is in it, and with it the record.

    Guarantee
    ---------
    The budget for all reports together, as long as one aggregator of each task is honest: what each honest aggregator's
    noise promises, composed.

    Examples
    --------
    >>> DeviceAccount(Budget(1.0))
    DeviceAccount(0 tasks; at most epsilon 1)
    """

    def __init__(self, most: Budget, path: str | Path | None = None) -> None:
        self.most = most
        self._tasks: dict[str, Participation] = {}
        super().__init__(path)

    @property
    @exclusive
    def spent(self) -> float:
        """The epsilon of all tasks so far, at the delta of the budget."""
        with self._held():
            return self._cost()

    @exclusive
    def report(self, published: PublishedTask, row: Array, bits: Bits) -> Reports | None:
        """The one report of this record to a task, which is paid for before it is made; None where it has arrived.

        Parameters
        ----------
        published : PublishedTask
            Public. The task.
        row : array of shape (1, columns)
            The record.
        bits : Bits
            Where its shares come from.

        Raises
        ------
        BudgetExceeded
            It would be one task too many.
        NotPermitted
            Another record was reported.
        """
        name, record = published.identifier.hex(), hashlib.sha256(np.where(np.isnan(row), np.nan, row).tobytes())
        with self._held():
            known = self._tasks.get(name)
            if known is None:
                self._check_affords(published)
                known = Participation(published.task.event, record.hexdigest(), Reports.of(published.task, row, bits))
                self._note(name, known)
        if known.record != record.hexdigest():
            obstacle = "this device has reported another record, and reports one to each task"
            raise NotPermitted(f"task {published.task.name!r}", obstacle, "Let the first one count.")
        return known.made

    @exclusive
    def arrived(self, published: PublishedTask) -> None:
        """Forget a report that has arrived; that there was one is kept."""
        name = published.identifier.hex()
        with self._held():
            self._note(name, replace(self._tasks[name], made=None))

    def _check_affords(self, published: PublishedTask) -> None:
        price = self._cost(published.task.event)
        if price > self.most.epsilon:
            raise BudgetExceeded(
                f"task {published.task.name!r}",
                f"with it, {len(self._tasks) + 1} tasks cost epsilon {price:.3g} at delta {self.most.delta:g}, and this"
                f" device pays {self.most.epsilon:g} in all",
                "Take part in fewer tasks, or in such as have more noise.",
            )

    def _cost(self, *more: Event) -> float:
        events = (*(one.event for one in self._tasks.values()), *more)
        return epsilon(Composed(events), self.most.delta) if events else 0.0

    def _note(self, name: str, known: Participation) -> None:
        tasks = self._tasks | {name: known}
        self._keep(json.dumps({"version": VERSION, "tasks": dict(_written(tasks))}).encode())
        self._tasks = tasks

    @property
    def _begun(self) -> bool:
        return bool(self._tasks)

    def _take(self, data: bytes) -> None:
        kept = json.loads(data)
        if kept["version"] != VERSION:
            raise ValueError("it is of another version")
        self._tasks = {name: _read(one) for name, one in kept["tasks"].items()}

    def __repr__(self) -> str:
        return f"DeviceAccount({len(self._tasks)} tasks; at most epsilon {self.most.epsilon:g})"


def _written(tasks: dict[str, Participation]) -> Iterator[tuple[str, Any]]:
    for name, one in tasks.items():
        made = one.made and [
            part.tobytes().hex() for part in (one.made.nonces, one.made.shares.public, *one.made.shares.inputs)
        ]
        yield name, {"event": written(one.event), "record": one.record, "made": made}


def _read(plain: dict[str, Any]) -> Participation:
    made = None
    if plain["made"] is not None:
        nonces, public, *inputs = (np.frombuffer(bytes.fromhex(one), np.uint8)[None] for one in plain["made"])
        made = Reports(nonces, Sharded(public, inputs))
    return Participation(read(plain["event"]), str(plain["record"]), made)
