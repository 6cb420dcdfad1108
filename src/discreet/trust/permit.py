"""Paid-for access: a permit answers what its plan paid for, and no more."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import threading
from collections import Counter
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, TypeVar

import numpy as np

from discreet.core.errors import DiscreetError, KeyReused, NotPermitted, UnplannedRelease
from discreet.core.events import Composed, Event, Repeated, written
from discreet.core.identity import Unidentified, identity
from discreet.core.ledger import Committed, Ledger, Reservation
from discreet.core.mechanism import Mechanism
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.question import Question
from discreet.core.receipt import Attendance, Receipt
from discreet.core.schema import Schema

Release = TypeVar("Release")


class TrustModel(Protocol):
    """Who may hold an exact answer, and who adds the noise.

    `reports` is the variance in units of a curator's; `curated` tells whether somebody holds all records and hands
    them to a mechanism.
    """

    neighbors: Neighbors
    unit: Unit
    schema: Schema

    @property
    def curated(self) -> bool: ...

    @property
    def secret(self) -> bool: ...

    @property
    def units(self) -> int: ...

    @property
    def reports(self) -> float: ...

    def keeps(self, event: Event) -> bool:
        """Whether the promise of this single event can be kept: asked before anything is charged."""
        ...

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release: ...


def releases(plan: Event) -> Counter[Event]:
    """How often a plan pays for each single event."""
    match plan:
        case Composed(events):
            return sum((releases(event) for event in events), Counter())
        case Repeated(event, times):
            return Counter({single: count * times for single, count in releases(event).items()})
        case _:
            return Counter([plan])


class Permit:
    """Access to one data set for one plan. Use it in a `with` block: leaving it commits what was released.

    A permit whose key was committed before gives the stored releases again, each to the question and the mechanism
    that it was made for, without touching the data. Leaving the block by an exception commits nothing, and the charge
    stays spent. Threads may share a permit; they are answered one after another.
    """

    def __init__(
        self,
        trust: TrustModel,
        ledger: Ledger,
        charge: Reservation | Committed,
        plan: Event,
        purpose: str,
        *,
        keyed: bool = True,
    ) -> None:
        self._trust, self._ledger, self._charge = trust, ledger, charge
        self._plan, self._purpose = plan, purpose
        self._keyed = keyed
        self._unspent = releases(plan)
        self._released: list[Stored] = []
        self._attendance: Attendance | None = None
        self._stored = decoded_releases(charge.result) if isinstance(charge, Committed) else None
        self._open, self._turn = False, threading.RLock()

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """Release the answer to a question, if the plan pays for it."""
        with self._turn:
            self._pay(mechanism.event)
            asked = self._identity(question, mechanism)
            try:
                release = self._trust.ask(question, mechanism) if self._stored is None else self._again(asked)
            except DiscreetError as error:
                error.settle(self._consequence)
                raise
            self._released.append(Stored(asked, release))
            self._attend()
            return release

    def _attend(self) -> None:
        """Remember who was in every sum, where the trust model knows: it tells of the last one of this thread."""
        latest: Attendance | None = None if self._stored is not None else getattr(self._trust, "attendance", None)
        if latest is not None:
            self._attendance = latest if self._attendance is None else self._attendance & latest

    def _pay(self, event: Event) -> None:
        if not self._open:
            raise NotPermitted(
                self._purpose,
                "the permit is not open",
                "Ask inside `with data.permit(...) as permit:`.",
                self._consequence,
            )
        price = releases(event)
        if not price <= self._unspent:
            raise UnplannedRelease(
                self._purpose,
                f"the plan does not pay for another {written(event)}",
                "Put every release into the plan.",
                self._consequence,
            )
        self._unspent -= price

    def _identity(self, question: Question, mechanism: Mechanism[Any]) -> str | None:
        """What a retry has to ask again; None where no retry can come, or where it could not be recognised."""
        if not self._keyed:
            return None
        try:
            return identity((self._trust.schema, question, mechanism))
        except Unidentified:
            return None

    def _again(self, asked: str | None) -> Any:
        """The first stored release to the same question and mechanism that was not given yet."""
        assert self._stored is not None
        for place, stored in enumerate(self._stored):
            if asked is not None and stored.asked == asked:
                return self._stored.pop(place).release
        raise KeyReused(
            self._purpose,
            f"the key {self._charge.key!r} stands for another question, or for a function that cannot be recognised",
            "Use a new key for a new question.",
            self._consequence,
            key=self._charge.key,
        )

    @property
    def _consequence(self) -> str:
        return KEPT if self._stored is None else REPLAYED

    def random_state(self, given: Any) -> Any:
        """A seed for public choices: the one that was given; else one that is the same in a retry with the same key."""
        if given is not None or not self._keyed:
            return given
        return int.from_bytes(hashlib.sha256(self._charge.key.encode()).digest()[:4], "big")

    @property
    def receipt(self) -> Receipt:
        """What this permit cost."""
        return Receipt(
            self._purpose,
            self._plan,
            self._trust.neighbors,
            self._trust.unit,
            self._trust.secret,
            self._charge.key,
            self._charge.head,
            self._stored is not None,
            self._attendance,
        )

    def __enter__(self) -> Permit:
        self._open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._turn:
            self._open = False
            if isinstance(error, DiscreetError):
                error.settle(self._consequence)
            if kind is None and isinstance(self._charge, Reservation):
                self._charge = self._ledger.commit(self._charge, encoded_releases(self._released))

    def __reduce__(self) -> Any:
        raise TypeError("a permit reaches the records of its data set and is neither copied nor pickled")


KEPT = "The plan was charged and stays so; this was not released."
REPLAYED = "The plan was charged when its key was first used, and nothing more was released or spent."


@dataclass(frozen=True)
class Stored:
    """A release, and what it answers."""

    asked: str | None
    release: Any


def encoded_releases(stored: list[Stored]) -> bytes:
    """Releases as bytes for the ledger: arrays and tables of named counts."""
    return json.dumps([{"asked": one.asked} | _encoded(one.release) for one in stored], separators=(",", ":")).encode()


def decoded_releases(stored: bytes) -> list[Stored]:
    """The releases that were stored."""
    return [Stored(one["asked"], _decoded(one)) for one in json.loads(stored)]


def _encoded(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"table": value}
    file = io.BytesIO()
    np.save(file, np.asarray(value), allow_pickle=False)
    return {"array": base64.b64encode(file.getvalue()).decode()}


def _decoded(value: dict[str, Any]) -> Any:
    if "table" in value:
        return value["table"]
    return np.load(io.BytesIO(base64.b64decode(value["array"])), allow_pickle=False)[()]
