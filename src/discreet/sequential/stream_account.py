"""The account of streams: all releases of one are charged, once, before the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted, ParameterError
from discreet.core.events import Event
from discreet.core.ledger import Ledger
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.trust.holder import Holder
from discreet.trust.permit import Description, OpenedStream, Promise

ASKED = "open a stream"
PARTIAL = ("attribute", "position")  # units that are less than a record


class PaidStream(OpenedStream, Protocol):
    """What releases again and again, at a price that is known beforehand."""

    @property
    def secret(self) -> bool:
        """Whether the noise is secret."""

    @property
    def neighbors(self) -> Neighbors:
        """The relation that the price speaks of."""

    @property
    def rows(self) -> int:
        """How many rows of a unit the price is for, wherever they are."""


@dataclass(frozen=True)
class StreamPromise:
    """Whom a stream protects: its neighbors, and the units of the account that pays."""

    neighbors: Neighbors
    unit: Unit
    secret: bool


class StreamAccount(Holder):
    """Pays for counters, series, filters, and curators that are trusted with rewards.

    A unit of the account has to be one of the stream: each of its rows is a contribution. So an account of users with
    three rows each pays for streams with three contributions or more, and one of nodes, which any number of edges may
    have, for none. Where people add up within an update, as in series and filters, all three rows may fall together,
    and move a sum farther than three that are apart: the price has to be for that (`rows`).

    `permit(stream, purpose)` charges all releases, or raises `BudgetExceeded`; `NotPermitted`, where the account speaks
    of other neighbors or larger units, or a stream was opened under the key already. `Permit.open` then gives the
    stream. One that was saved is resumed, without another charge.

    Parameters
    ----------
    ledger : Ledger or Budget
        The account. A budget alone is an account in memory, for as many streams as it pays.

    Examples
    --------
    >>> from discreet.mechanisms import Laplace
    >>> from discreet.sequential import TreeCounter
    >>> account, counter = StreamAccount(Budget(1.0)), TreeCounter(100, Laplace(1.0))
    >>> account.permit(counter, "visits").open(counter) is counter
    True
    >>> account.ledger.balance().certified, counter.receipt.purpose
    (1.0, 'visits')
    """

    def __init__(self, ledger: Ledger | Budget) -> None:
        self.ledger: Ledger = MemoryLedger(ledger) if isinstance(ledger, Budget) else ledger
        if not hasattr(self.ledger, "reserve"):
            remedy = "Give a ledger: SqliteLedger.open(path), or a Budget(1.0) for this process alone."
            raise ParameterError(ASKED, f"the account is {ledger!r:.80}", remedy)

    def _promise(self, plan: Event | Description) -> Promise:
        stream = _stream(plan)
        return StreamPromise(stream.neighbors, self.ledger.unit or RECORD, stream.secret)

    def _check_plan(self, plan: Event | Description, purpose: str, key: str | None) -> None:
        """Refuse a stream that is not for the neighbors and the units of the account."""
        stream, unit, neighbors = _stream(plan), self.ledger.unit, self.ledger.neighbors
        if neighbors not in (None, stream.neighbors):
            obstacle = f"the account is for {neighbors} and the stream for {stream.neighbors}"
            raise NotPermitted(ASKED, obstacle, "Make the stream for the neighbors of the account.")
        if unit is not None and unit.kind == "node" and unit.column is None:
            obstacle = (
                f"a unit of the account is a node with {unit.limit}, and nothing limits how many updates these are"
            )
            remedy = "Pay from an account of edges or events, if one of them is what an update is."
            raise NotPermitted(ASKED, obstacle, remedy)
        if unit is not None and (unit.rows > stream.rows or unit.pooled or unit.kind in PARTIAL):
            obstacle = f"a unit of the account has {unit.limit}, and the price of the stream is for {stream.rows}"
            remedy = "Allow as many contributions as the account does, and more where rows of a unit may fall together."
            raise NotPermitted(ASKED, obstacle, remedy)

    def _reused(self, purpose: str, key: str) -> DiscreetError | None:
        remedy = "Resume its saved state, or take another key."
        return NotPermitted(ASKED, f"a stream was opened under the key {key!r} before", remedy)


def _stream(plan: Event | Description) -> PaidStream:
    """The stream that is to be paid for; a price alone does not say whom it protects."""
    if not all(hasattr(plan, name) for name in ("event", "terms", "neighbors", "rows", "secret")):
        raise ParameterError(ASKED, f"the plan is {plan!r:.80}", "Give the stream itself as the plan.")
    return plan  # type: ignore[return-value]
