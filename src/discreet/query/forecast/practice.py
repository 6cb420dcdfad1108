"""Made-up records behind an account that pays for everything and writes down what was asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from discreet.core.budget import Budget
from discreet.core.events import Composed, Event
from discreet.core.held import unheld
from discreet.core.ledger import Balance, Committed, Entry, Reservation
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.chain import BEFORE_ALL
from discreet.noise.deterministic import DeterministicBits
from discreet.query.forecast.stand_in import POOLED, Shape, stand_in
from discreet.schema.schema import Schema
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.source import Source
from discreet.trust.sources.source_of import source_of

PLENTY = 1e9  # epsilon
MOST_TABLES, ROWS_IN_ALL = 12, 100_000  # of each shape: more tables, the fewer records there are


@unheld("releases")
class PracticeLedger:
    """An account of no real data set: it admits every charge and keeps the events.

    Parameters
    ----------
    delta : float
        Public. Of the account that it stands for: with a delta, other noise composes better.

    Examples
    --------
    >>> from discreet.core.events import PureLoss
    >>> account = PracticeLedger()
    >>> _ = account.reserve(PureLoss(50.0), "a question", request="q")
    >>> account.event
    PureLoss(epsilon=50.0)
    """

    neighbors: Neighbors | None = None
    unit: Unit | None = None
    head = BEFORE_ALL

    def __init__(self, delta: float = 0.0) -> None:
        self.budget, self.events = Budget(PLENTY, delta), list[Event]()

    @property
    def event(self) -> Event:
        """Everything that was charged."""
        return self.events[0] if len(self.events) == 1 else Composed(tuple(self.events))

    def reserve(
        self,
        event: Event,
        purpose: str,
        *,
        request: bytes | str,
        key: str | None = None,
        analyst: str | None = None,
        waiver: str | None = None,
        secret: bool = True,
    ) -> Reservation | Committed:
        """Write the event down."""
        self.events.append(event)
        return Reservation(key or f"practice {len(self.events)}", len(self.events), self.head)

    def commit(self, reservation: Reservation, result: bytes, stated: Mapping[str, Any] | None = None) -> Committed:
        """Hand the result out."""
        return Committed(reservation.key, reservation.number, self.head, "", result)

    def keep(self, data: bytes) -> None:
        """Forget it."""

    def kept(self, digest: str) -> bytes | None:
        """Nothing."""
        return None

    def fail(self, reservation: Reservation, asked: str) -> None:
        """Forget it."""

    def affords(self, event: Event, *, analyst: str | None = None) -> bool:
        """Everything."""
        return True

    def often(self, event: Event, most: int, *, analyst: str | None = None) -> int:
        """As often as is asked."""
        return most

    def balance(self, analyst: str | None = None) -> Balance:
        """Nothing is ever spent."""
        return Balance(self.budget, 0.0)

    def entries(self) -> tuple[Entry, ...]:
        """None: what is kept is `events`."""
        return ()


class _SumsAlone(Curator):
    """Answers sums for parties that together have so many times a curator's noise."""

    curated = False
    reports: float = 1

    def __init__(self, source: Source, neighbors: Neighbors, reports: float, bits: DeterministicBits) -> None:
        super().__init__(source, neighbors, bits=bits)
        self.reports = reports


class Practice:
    """What is public about a data set, from which made-up ones of its kind are opened.

    Parameters
    ----------
    of : PrivateData or Schema
        A data set, of which only the schema, the relation, the unit and the trust model are looked at; or a schema,
        for a curator of records that are added or removed.
    n : int
        Public. The assumed number of units.
    delta : float
        Public. Of the account that is to pay, where there is none yet.
    """

    def __init__(self, of: PrivateData | Schema, n: int, delta: float) -> None:
        self.of, self.n = of, n
        self._delta = delta if isinstance(of, Schema) else of.ledger.budget.delta
        self.schema = of if isinstance(of, Schema) else of.schema
        self.unit = Unit() if isinstance(of, Schema) else of.unit

        self.records = cache(lambda shape, table: stand_in(self.schema, n, self.unit, shape, table))
        self._opened = cache(self._open)

    @property
    def tables(self) -> int:
        """How many tables of each shape are made: in one of few records, chance puts more of them here than there."""
        return max(1, min(MOST_TABLES, ROWS_IN_ALL // (self.n * (POOLED if self.unit.pooled else self.unit.rows))))

    def opened(self, shape: Shape, seed: int = 0, table: int = 0) -> PrivateData:
        """Records of this shape, behind the same kind of trust, with an account that pays for everything.

        The seed is that of the noise, which starts anew; the records of a table are the same every time, and so is what
        is opened, with an account to which nothing is charged yet.
        """
        data, bits, ledger = self._opened(shape, table)
        bits.__setstate__((seed, 0))
        ledger.events.clear()
        return data

    def _open(self, shape: Shape, table: int) -> tuple[PrivateData, DeterministicBits, PracticeLedger]:
        source: Any = source_of(self.records(shape, table), self.schema, self.unit)
        bits, ledger = DeterministicBits(0), PracticeLedger(self._delta)
        if isinstance(self.of, Schema):
            return PrivateData(Curator(source, bits=bits), ledger), bits, ledger
        if self.of.local:
            return PrivateData(Local(source, bits=bits), ledger), bits, ledger
        if not self.of.curated:
            trust = _SumsAlone(source, self.of.neighbors, self.of.reports, bits)
            return PrivateData(trust, ledger), bits, ledger
        return PrivateData(Curator(source, self.of.neighbors, bits=bits), ledger), bits, ledger
