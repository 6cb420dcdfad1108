"""The ledger as its users see it: paid first, then asked.

    reserve (durable)  ->  compute, draw noise  ->  commit with the result's bytes  ->  hand out

A reservation that is never committed stays spent. A committed key, sent again with the same request, gives the stored
bytes back and costs nothing; nobody may draw fresh noise under an old charge. One charge pays for one run: where what
holds the records failed before anything was released, whoever reserved says so (`fail`), and the same request may take
the charge up again, one at a time. Who dies without a word, before or after that, leaves it spent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from discreet.core.budget import Budget
from discreet.core.checkpoint import Checkpoint
from discreet.core.events import Event
from discreet.core.neighbors import Neighbors, Unit
from discreet.display.notebook import carded, facts


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
    rolled back. With `replayed` the bytes come from an earlier commit, and nothing was charged. `stated` is what its
    receipt said beyond the charge, where the ledger was told. `checkpoint` vouches for all of it, where whoever keeps
    the ledger signs.
    """

    key: str
    number: int
    head: str
    at: str
    result: bytes
    replayed: bool = False
    stated: Mapping[str, Any] | None = None
    checkpoint: Checkpoint | None = None


@dataclass(frozen=True)
class Entry:
    """One charge as it stands in the ledger.

    `epsilon` and `delta` are its price by itself, as its receipt has it; in an account, charges cost less together. A
    release without a promise has a waiver and cost nothing. An entry that is not `committed` is dangling: spent, and
    never handed out. One that is not `secret` paid for a release from known bits, which is not private. `table` and
    `project` are named where the account has such parts.
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
    secret: bool = True
    table: str | None = None
    project: str | None = None


@dataclass(frozen=True)
class Balance:
    """How an account stands: what is used, and what is left, of one epsilon at one delta.

    Parameters
    ----------
    budget : Budget
        The cap.
    certified : float
        What is used: epsilon at the budget's delta of all charges together, if this were all that is ever asked.

    Examples
    --------
    >>> print(Balance(Budget(1.0, 1e-6), 0.25))
    epsilon 0.25 of 1 at delta 1e-06 is used; 0.75 is left
    """

    budget: Budget
    certified: float

    @property
    def remaining(self) -> float:
        """The epsilon that is left, at the budget's delta: the budget's less what is used."""
        return max(0.0, self.budget.epsilon - self.certified)

    @property
    def used(self) -> float:
        """What is used as a share of the budget's epsilon, from 0 to 1."""
        return 1 - self.remaining / self.budget.epsilon if self.budget.epsilon else 1.0

    def to_dict(self) -> dict[str, Any]:
        """The account as plain numbers."""
        return asdict(self.budget) | {"certified": self.certified, "remaining": self.remaining}

    def __str__(self) -> str:
        return f"epsilon {self._of_all} is used; {self.left} is left"

    def _repr_html_(self) -> str:
        return carded(facts({"used": f"epsilon {self._of_all}", "left": f"epsilon {self.left}"}))

    @property
    def left(self) -> str:
        """What is left, in words, to four digits of the whole; every text and table uses this form."""
        whole = self.budget.epsilon
        return f"{round(self.remaining, 4 - math.ceil(math.log10(whole))) if whole else 0.0:.4g}"

    @property
    def _of_all(self) -> str:
        return f"{self.certified:.4g} of {self.budget.epsilon:g} at delta {self.budget.delta:g}"


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
        secret: bool = True,
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
        secret : bool
            Public. Whether the noise will come from secret bits; if not, the entry says so for ever.

        Raises
        ------
        BudgetExceeded
            The account cannot pay; nothing was spent.
        KeyReused
            The key belongs to another request.
        UncommittedCharge
            The key was charged, never committed, and nobody said that it failed; ask with a new one.
        NotPermitted
            A release without a promise and without a waiver, or an analyst whom the account does not know.
        Unaccountable
            The event has no sound price in this account.
        """

    def commit(self, reservation: Reservation, result: bytes, stated: Mapping[str, Any] | None = None) -> Committed:
        """Record the result durably, with what its receipt states; only what this returns may be handed out."""

    def keep(self, data: bytes) -> None:
        """Keep what is too large for a result, durably, before the result is committed that has its SHA-256 digest."""

    def kept(self, digest: str) -> bytes | None:
        """What was kept under a digest, None where there is nothing; what was changed since is refused."""

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
