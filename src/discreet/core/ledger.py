"""The ledger as its users see it: paid first, then asked.

    reserve (durable)  ->  compute, draw noise  ->  commit with the result's bytes  ->  hand out

A reservation that is never committed stays spent. A committed key, sent again with the same request, gives the stored
bytes back and costs nothing; nobody may draw fresh noise under an old charge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from discreet.core.budget import Budget
from discreet.core.events import Event
from discreet.core.neighbors import Neighbors, Unit


@dataclass(frozen=True)
class Reservation:
    """A charge that was made and waits for its result."""

    key: str
    number: int
    head: str


@dataclass(frozen=True)
class Committed:
    """A paid result, which may be handed out.

    `head` is the hash of the ledger's chain up to this commit: kept elsewhere, it proves later that the ledger was not
    rolled back. With `replayed` the bytes come from an earlier commit, and nothing was charged.
    """

    key: str
    number: int
    head: str
    at: str
    result: bytes
    replayed: bool = False


@dataclass(frozen=True)
class Entry:
    """One charge as it stands in the ledger.

    `divergence` and `delta` are what the data set's account paid: a Renyi divergence of the account's order, and the
    probability of failure. A release without a promise has a waiver and cost nothing. An entry that is not
    `committed` is dangling: spent, and never handed out.
    """

    number: int
    at: str
    key: str
    purpose: str
    event: Event
    analyst: str | None
    waiver: str | None
    divergence: float
    delta: float
    committed: bool
    head: str


@dataclass(frozen=True)
class Balance:
    """How an account stands.

    Parameters
    ----------
    budget : Budget
        The cap.
    spent : float
        Epsilon at the budget's delta, if this were all that is ever asked. Zero before the first charge.
    used : float
        The share of the cap that is gone, from 0 to 1.
    """

    budget: Budget
    spent: float
    used: float

    @property
    def remaining(self) -> float:
        """The epsilon that is left, at the budget's delta."""
        return self.budget.epsilon - self.spent

    def __str__(self) -> str:
        whole = f"{self.budget.epsilon:g} at delta {self.budget.delta:g}"
        return f"epsilon {self.spent:.4g} of {whole} spent; {self.used:.0%} of the account is used"


class Ledger(Protocol):
    """An account that is charged before anything is asked of the data.

    A server's database satisfies it when one transaction decides and records a charge, a transaction is durable
    before the call returns, and keys are unique.
    """

    @property
    def budget(self) -> Budget:
        """The cap for everybody together."""

    @property
    def neighbors(self) -> Neighbors | None:
        """The relation that every charge speaks of; None for an account that was not opened for a data set."""

    @property
    def unit(self) -> Unit | None:
        """The privacy unit that every charge speaks of; None as for `neighbors`."""

    @property
    def head(self) -> str:
        """The hash of everything recorded so far."""

    def reserve(
        self,
        event: Event,
        purpose: str,
        *,
        request: bytes | str,
        key: str | None = None,
        analyst: str | None = None,
        waiver: str | None = None,
    ) -> Reservation | Committed:
        """Charge the event durably, before any noise is drawn, or give back what its key already paid for.

        Parameters
        ----------
        event : Event
            Public. What the release costs, known from the request alone.
        purpose : str
            Public. What it is for, in words.
        request : bytes or str
            Public. All that decides the release; a key stands for one request only.
        key : str, optional
            Public. Makes a retry safe; a fresh one is made when there is none.
        analyst : str, optional
            Public. Who asks, where the account has smaller caps for each.
        waiver : str, optional
            Public. The owner's reason to let a release without a promise pass.

        Raises
        ------
        BudgetExceeded
            The account cannot pay; nothing was spent.
        KeyReused
            The key belongs to another request.
        Dangling
            The key was charged and never committed; ask with a new one.
        NotPermitted
            A release without a promise and without a waiver, or an analyst whom the account does not know.
        Unaccountable
            The event has no sound price in this account.
        """

    def commit(self, reservation: Reservation, result: bytes) -> Committed:
        """Record the result durably; only what this returns may be handed out."""

    def affords(self, event: Event, *, analyst: str | None = None) -> bool:
        """Whether `reserve` would accept this event now; charges nothing."""

    def balance(self, analyst: str | None = None) -> Balance:
        """How the account of the data set stands, or that of one analyst."""

    def entries(self) -> tuple[Entry, ...]:
        """Every charge, oldest first."""
