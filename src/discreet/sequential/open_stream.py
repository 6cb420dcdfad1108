"""The charge for a stream of releases: all of it, once, before the first."""

from __future__ import annotations

from typing import Protocol, TypeVar

from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Event
from discreet.core.ledger import Committed, Ledger
from discreet.core.neighbors import Neighbors

ASKED = "open a stream"


class PaidStream(Protocol):
    """What releases again and again, at a price that is known beforehand."""

    @property
    def event(self) -> Event:
        """The price of all releases together."""

    @property
    def secret(self) -> bool:
        """Whether the noise is secret."""

    @property
    def neighbors(self) -> Neighbors:
        """The relation that the price speaks of."""

    @property
    def rows(self) -> int:
        """How many rows of a unit the price is for, wherever they are."""

    @property
    def terms(self) -> str:
        """All public parameters, in words."""


S = TypeVar("S", bound=PaidStream)

PARTIAL = ("attribute", "position")  # units that are less than a record


def open_stream(stream: S, ledger: Ledger, *, purpose: str, key: str | None = None) -> S:
    """Charge a ledger for all releases of a counter, of series, or of a curator that is trusted with rewards.

    A unit of the account has to be one of the stream: each of its rows is a contribution. So an account of users with
    three rows each pays for streams with three contributions or more, and one of nodes, which any number of edges may
    have, for none. Where people add up within an update, as in series and filters, all three rows may fall together,
    and move a sum farther than three that are apart: the price has to be for that (`rows`).

    Parameters
    ----------
    stream : Counter, SeriesStream, RunningSums, EpisodeSums or GramSums
        A new one.
    ledger : Ledger
        The account that pays.
    purpose : str
        Public. What it is for, in words.
    key : str, optional
        Public. A stream is opened once under a key. One that was saved is resumed, without another charge.

    Returns
    -------
    The stream itself.

    Raises
    ------
    BudgetExceeded
        The account cannot pay; nothing was spent.
    NotPermitted
        The account speaks of other neighbors or larger units, or a stream was opened under this key already.

    Examples
    --------
    >>> from discreet.ledger.memory_ledger import MemoryLedger
    >>> from discreet.core.budget import Budget
    >>> from discreet.mechanisms import Laplace
    >>> from discreet.sequential import TreeCounter
    >>> ledger = MemoryLedger(Budget(1.0))
    >>> counter = open_stream(TreeCounter(100, Laplace(1.0)), ledger, purpose="visits")
    >>> ledger.balance().certified
    1.0
    """
    if not hasattr(ledger, "reserve"):
        remedy = "Give a ledger: SqliteLedger.open(path), or MemoryLedger(Budget(1.0)) for this process alone."
        raise ParameterError(ASKED, f"the account is {ledger!r:.80}", remedy)
    if ledger.neighbors not in (None, stream.neighbors):
        obstacle = f"the account is for {ledger.neighbors} and the stream for {stream.neighbors}"
        raise NotPermitted(ASKED, obstacle, "Make the stream for the neighbors of the account.")
    unit = ledger.unit
    if unit is not None and unit.kind == "node" and unit.column is None:
        obstacle = f"a unit of the account is a node with {unit.limit}, and nothing limits how many updates these are"
        remedy = "Pay from an account of edges or events, if one of them is what an update is."
        raise NotPermitted(ASKED, obstacle, remedy)
    if unit is not None and (unit.rows > stream.rows or unit.pooled or unit.kind in PARTIAL):
        obstacle = f"a unit of the account has {unit.limit}, and the price of the stream is for {stream.rows}"
        remedy = "Allow as many contributions as the account does, and more where rows of a unit may fall together."
        raise NotPermitted(ASKED, obstacle, remedy)
    reserved = ledger.reserve(stream.event, purpose, request=stream.terms, key=key, secret=stream.secret)
    if isinstance(reserved, Committed):
        remedy = "Resume its saved state, or take another key."
        raise NotPermitted(ASKED, f"a stream was opened under the key {key!r} before", remedy)
    ledger.commit(reserved, stream.terms.encode())
    return stream
