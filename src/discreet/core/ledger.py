"""The ledger as its users see it: paid first, then asked.

    reserve (durable)  ->  compute, draw noise  ->  commit with the result's bytes  ->  hand out

A reservation that is never committed stays spent. A committed key, sent again with the same request, gives the stored
bytes back and costs nothing; nobody may draw fresh noise under an old charge. One charge pays for one run: where what
holds the records failed before anything was released, whoever reserved says so (`fail`), and the same request may take
the charge up again, one at a time. Who dies without a word, before or after that, leaves it spent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from discreet.core.budget import Budget
from discreet.core.events import Event
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.notebook import carded, facts


@dataclass(frozen=True)
class Reservation:
    """A charge that was made and waits for its result.

    `turn` is how often it was taken up again after a failure; then `asked` is a digest of what failed, and nothing else
    may be asked first.
    """

    key: str
    number: int
    head: str
    turn: int = 0
    asked: str | None = None


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

    `epsilon` and `delta` are its price by itself, as its receipt has it; in an account, charges cost less together. A
    release without a promise has a waiver and cost nothing. An entry that is not `committed` is dangling: spent, and
    never handed out.
    """

    number: int
    at: str
    key: str
    purpose: str
    event: Event
    analyst: str | None
    waiver: str | None
    epsilon: float
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
    asked : float
        The plain sum of the epsilons of all charges, each by itself. It may exceed the budget: together they cost less.
    certified : float
        Epsilon at the budget's delta of all charges together, if this were all that is ever asked.
    used : float
        The share of the account that is gone, from 0 to 1.

    Examples
    --------
    >>> print(Balance(Budget(1.0, 1e-6), 0.25, 0.25, 0.25))
    epsilon 0.25 of 1 at delta 1e-06 (asked 0.25); 25% of the account is used
    """

    budget: Budget
    asked: float
    certified: float
    used: float

    @property
    def remaining(self) -> float:
        """The epsilon that is left, at the budget's delta."""
        return self.budget.epsilon - self.certified

    def __str__(self) -> str:
        return (
            f"epsilon {self.certified:.4g} of {self.budget.epsilon:g} at delta {self.budget.delta:g}"
            f" (asked {self.asked:.4g}); {_percent(self.used)} of the account is used"
        )

    def _repr_html_(self) -> str:
        rows = {
            "asked": f"epsilon {self.asked:.4g}",
            "certified": f"epsilon {self.certified:.4g} of {self.budget.epsilon:g} at delta {self.budget.delta:g}",
            "used": f"{_percent(self.used)} of the account",
        }
        return carded(facts(rows))


def _percent(share: float) -> str:
    """A share in percent; of a small one two digits, so that it does not read as nothing."""
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.2g}%"


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
            The key was charged, never committed, and nobody said that it failed; ask with a new one.
        NotPermitted
            A release without a promise and without a waiver, or an analyst whom the account does not know.
        Unaccountable
            The event has no sound price in this account.
        """

    def commit(self, reservation: Reservation, result: bytes) -> Committed:
        """Record the result durably; only what this returns may be handed out."""

    def fail(self, reservation: Reservation, asked: str) -> None:
        """Record that the records could not be read and nothing was released.

        The charge stays spent, and this reservation is over. The next `reserve` with its key and request is given a
        new one for the same charge, once.

        Parameters
        ----------
        reservation : Reservation
            The charge.
        asked : str
            Public. A digest of what failed.
        """

    def affords(self, event: Event, *, analyst: str | None = None) -> bool:
        """Whether `reserve` would accept this event now; charges nothing."""

    def often(self, event: Event, most: int, *, analyst: str | None = None) -> int:
        """How often `reserve` would accept this event from now on, at most `most`; charges nothing."""

    def balance(self, analyst: str | None = None) -> Balance:
        """How the account of the data set stands, or that of one analyst."""

    def entries(self) -> tuple[Entry, ...]:
        """Every charge, oldest first."""
