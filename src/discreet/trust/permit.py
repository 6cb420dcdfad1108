"""Paid-for access: a permit answers what its plan paid for, and no more."""

from __future__ import annotations

import base64
import io
import json
from collections import Counter
from types import TracebackType
from typing import Any, Protocol, TypeVar

import numpy as np

from discreet.core.errors import NotPermitted, UnplannedRelease
from discreet.core.events import Composed, Event, Repeated, written
from discreet.core.ledger import Committed, Ledger, Reservation
from discreet.core.mechanism import Mechanism
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.question import Question
from discreet.core.receipt import Receipt
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

    A permit whose key was committed before gives the stored releases again, in order, without touching the data.
    Leaving the block by an exception commits nothing, and the charge stays spent.
    """

    def __init__(
        self, trust: TrustModel, ledger: Ledger, charge: Reservation | Committed, plan: Event, purpose: str
    ) -> None:
        self._trust, self._ledger, self._charge = trust, ledger, charge
        self._plan, self._purpose = plan, purpose
        self._unspent = releases(plan)
        self._released: list[Any] = []
        self._stored = decoded_releases(charge.result) if isinstance(charge, Committed) else None
        self._open = False

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """Release the answer to a question, if the plan pays for it."""
        price = releases(mechanism.event)
        if not self._open:
            raise NotPermitted(
                self._purpose, "the permit is not open", "Ask inside `with data.permit(...) as permit:`.", KEPT
            )
        if not price <= self._unspent:
            raise UnplannedRelease(
                self._purpose,
                f"the plan does not pay for another {written(mechanism.event)}",
                "Put every release into the plan.",
                KEPT,
            )
        self._unspent -= price
        if self._stored is not None:
            release = self._stored[len(self._released)]
        else:
            release = self._trust.ask(question, mechanism)
        self._released.append(release)
        return release

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
        )

    def __enter__(self) -> Permit:
        self._open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        if kind is None and isinstance(self._charge, Reservation):
            self._charge = self._ledger.commit(self._charge, encoded_releases(self._released))


KEPT = "The plan was charged and stays so; this was not released."


def encoded_releases(values: list[Any]) -> bytes:
    """Releases as bytes for the ledger: arrays and tables of named counts."""
    return json.dumps([_encoded(value) for value in values], separators=(",", ":")).encode()


def decoded_releases(stored: bytes) -> list[Any]:
    """The releases that were stored."""
    return [_decoded(value) for value in json.loads(stored)]


def _encoded(value: Any) -> Any:
    if isinstance(value, dict):
        return {"table": value}
    file = io.BytesIO()
    np.save(file, np.asarray(value), allow_pickle=False)
    return {"array": base64.b64encode(file.getvalue()).decode()}


def _decoded(value: Any) -> Any:
    if "table" in value:
        return value["table"]
    return np.load(io.BytesIO(base64.b64decode(value["array"])), allow_pickle=False)[()]
