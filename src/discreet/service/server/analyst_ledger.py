"""A data set's account as one question of one analyst is charged to it, and what was paid for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from discreet.core.budget import Budget
from discreet.core.events import Event
from discreet.core.held import unheld
from discreet.core.ledger import Balance, Committed, Entry, Reservation
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.stored_ledger import StoredLedger


@unheld("one call")
class AnalystLedger:
    """Names the analyst in every charge, and keeps what was reserved and committed.

    Parameters
    ----------
    ledger : StoredLedger
        Of the data set.
    analyst : str
        Public. Who asks.
    rest : callable
        Waits for a public moment: the order of the ledger's entries, which others see, then tells nothing finer of how
        long the records took.
    """

    def __init__(self, ledger: StoredLedger, analyst: str, rest: Callable[[], None] = lambda: None) -> None:
        self._ledger, self.analyst, self._rest = ledger, analyst, rest
        self.reserved: list[Reservation] = []
        self.committed: list[tuple[Event, Committed]] = []
        self._events: dict[str, Event] = {}
        self._budget: Budget | None = None

    @property
    def budget(self) -> Budget:
        """That of the data set, as it is when this question first looks at it; then, as it is when it is charged."""
        if self._budget is None:  # no `cached_property`: before Python 3.12, all questions would wait for its one lock
            self._budget = self._ledger.budget_seen
        return self._budget

    @property
    def neighbors(self) -> Neighbors | None:
        """That of the data set."""
        return self._ledger.neighbors

    @property
    def unit(self) -> Unit | None:
        """That of the data set."""
        return self._ledger.unit

    @property
    def head(self) -> str:
        """That of the data set."""
        return self._ledger.head

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
        """Charge the analyst; a waiver is the owner's alone, and none is passed on."""
        charge = self._ledger.reserve(event, purpose, request=request, key=key, analyst=self.analyst, secret=secret)
        self._budget = None  # as it was when it was charged, from here on
        if isinstance(charge, Committed):
            self.committed.append((event, charge))
        else:
            self.reserved.append(charge)
            self._events[charge.key] = event
        return charge

    def commit(self, reservation: Reservation, result: bytes, stated: Mapping[str, Any] | None = None) -> Committed:
        """Record the result, at a public moment."""
        self._rest()
        done = self._ledger.commit(reservation, result, stated)
        self.committed.append((self._events[reservation.key], done))
        return done

    def keep(self, data: bytes) -> None:
        """Keep what is too large."""
        self._ledger.keep(data)

    def kept(self, digest: str) -> bytes | None:
        """What was kept."""
        return self._ledger.kept(digest)

    def fail(self, reservation: Reservation, asked: str) -> None:
        """Record that nothing was released, at such a moment too."""
        self._rest()
        self._ledger.fail(reservation, asked)

    def affords(self, event: Event, *, analyst: str | None = None) -> bool:
        """Whether the analyst could be charged."""
        return self._ledger.affords(event, analyst=self.analyst)

    def often(self, event: Event, most: int, *, analyst: str | None = None) -> int:
        """How often the analyst could be charged."""
        return self._ledger.often(event, most, analyst=self.analyst)

    def balance(self, analyst: str | None = None) -> Balance:
        """How the data set's account stands, or that of an analyst."""
        return self._ledger.balance(analyst)

    def entries(self) -> tuple[Entry, ...]:
        """Every charge of the data set."""
        return self._ledger.entries()


class ChargeReached(Exception):
    """A question got as far as its charge: what it would cost, and what it is for."""

    def __init__(self, event: Event, purpose: str) -> None:
        super().__init__(purpose)
        self.event, self.purpose = event, purpose


@unheld("one call")
class PricingLedger(AnalystLedger):
    """Charges nothing: it stops a question where it would be charged, and says what it would cost."""

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
        """Stop here."""
        raise ChargeReached(event, purpose)
