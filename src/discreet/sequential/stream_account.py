"""The account of streams: all releases of one are charged, once, before the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted, ParameterError
from discreet.core.events import Event
from discreet.core.ledger import Ledger
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.system_bits import system_bits
from discreet.trust.holder import Holder
from discreet.trust.permit import Description, Openable
from discreet.trust.trust_model import Promise

ASKED = "open a stream"
PARTIAL = ("attribute", "position")  # units that are less than a record


class PaidStream(Openable[Any], Protocol):
    """What releases again and again, at a price that is known beforehand."""

    neighbors: Neighbors

    @property
    def rows(self) -> int:
        """How many rows of a unit the price is for, wherever they are."""

    def copied(self) -> Self:
        """The same, which nobody else can change."""


@dataclass(frozen=True)
class StreamPromise:
    """Whom a stream protects, its neighbors and the units of the account that pays, and where its noise comes from."""

    neighbors: Neighbors
    unit: Unit
    bits: Bits

    @property
    def secret(self) -> bool:
        """Whether the noise is secret."""
        return self.bits.secret


class StreamAccount(Holder):
    """Pays for counters, series, filters, and curators that are trusted with rewards.

    A unit of the account has to be one of the stream: each of its rows is a contribution. So an account of users with
    three rows each pays for streams with three contributions or more, and one of nodes, which any number of edges may
    have, for none. Where people add up within an update, as in series and filters, all three rows may fall together,
    and move a sum farther than three that are apart: the price has to be for that (`rows`).

    `permit(stream, purpose)` charges all releases, or raises `BudgetExceeded`; `NotPermitted`, where the account speaks
    of other neighbors or larger units, or a stream was opened under the key already. `Permit.open` then gives the one
    object that takes updates. One that was saved is resumed, without another charge.

    Parameters
    ----------
    ledger : Ledger or Budget
        The account. A budget alone is an account in memory, for as many streams as it pays.
    bits : Bits, optional
        Where the noise of its streams comes from; secret bits of this process by default.

    Examples
    --------
    >>> from discreet.mechanisms import Laplace
    >>> from discreet.sequential import TreeCounter
    >>> account, visits = StreamAccount(Budget(1.0)), TreeCounter(100, Laplace(1.0))
    >>> counter = account.permit(visits, "visits").open(visits)
    >>> counter.update(1.0).shape
    ()
    >>> account.ledger.balance().certified, counter.receipt.purpose
    (1.0, 'visits')
    """

    opens: ClassVar[bool] = True

    def __init__(self, ledger: Ledger | Budget, bits: Bits | None = None) -> None:
        self.ledger: Ledger = MemoryLedger(ledger) if isinstance(ledger, Budget) else ledger
        self._bits = checked_bits(ASKED, bits)
        if not hasattr(self.ledger, "reserve"):
            remedy = "Give a ledger: SqliteLedger.open(path), or a Budget(1.0) for this process alone."
            raise ParameterError(ASKED, f"the account is {ledger!r:.80}", remedy)

    def _own(self, plan: Event | Description) -> Description:
        """A copy of the stream; a price alone does not say whom it protects."""
        names = ("copied", "event", "identity", "neighbors", "opened", "rows", "terms")
        if not all(hasattr(plan, name) for name in names):
            raise ParameterError(ASKED, f"the plan is {plan!r:.80}", "Give the stream itself as the plan.")
        own: PaidStream = plan.copied()  # type: ignore[union-attr]
        own.identity  # noqa: B018 - refused here, where nothing is charged yet, if there is none
        return own

    def _promise(self, plan: Any) -> Promise:
        return StreamPromise(plan.neighbors, self.ledger.unit or RECORD, self._bits)

    def _check_plan(self, plan: Any, purpose: str, key: str | None) -> None:
        """Refuse a stream that is not for the neighbors and the units of the account."""
        stream: PaidStream = plan
        unit, neighbors = self.ledger.unit, self.ledger.neighbors
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


def checked_bits(asked: str, bits: Bits | None) -> Bits:
    """Where noise comes from: secret bits of this process, where nothing else is given."""
    found = system_bits() if bits is None else bits
    if not (hasattr(found, "secret") and hasattr(found, "words")):
        raise ParameterError(asked, f"the bits are {bits!r:.80}", "Leave them out: noise is secret then.")
    return found
