"""A data set of a site while it is served: its ledger here, its records in a worker."""

from __future__ import annotations

import math
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from discreet.core.budget import Budget
from discreet.core.errors import LedgerBroken, LedgerError, LedgerMissing, SchemaError
from discreet.core.events import Event
from discreet.core.held import unheld
from discreet.core.ledger import Balance, Entry
from discreet.crypto.identity import Identity
from discreet.ledger.stored_ledger import StoredLedger
from discreet.query.asked_question import AskedQuestion
from discreet.service.server.analyst_ledger import AnalystLedger, ChargeReached, PricingLedger
from discreet.service.server.site_file import DataSetEntry
from discreet.service.server.site_refusals import ReadOnlySite
from discreet.trust.private_data import PrivateData
from discreet.trust.worker.records_place import RecordsPlace
from discreet.trust.worker.worker_line import RestingLine, WorkerLine
from discreet.trust.worker.worker_trust import WorkerTrust

REPAIR = "The owner compares it with its newest head and restores the newest intact copy: discreet ledger verify."


@unheld("own turns")
class SiteDataSet:
    """The ledger of a data set, and the line to its worker.

    A ledger that is damaged, rolled back or missing is `trouble`: what was paid for can still be looked at as far as it
    can be read, and nothing is charged until somebody has set it right and opened it again.

    Parameters
    ----------
    entry : DataSetEntry
        As the site's file has it.
    identity : Identity, optional
        Signs a checkpoint in every receipt.
    """

    def __init__(self, entry: DataSetEntry, identity: Identity | None = None) -> None:
        self.entry, self.name, self._identity = entry, entry.name, identity
        described = entry.described
        self.schema, self.neighbors, self.unit = described.schema, described.neighbors, described.unit
        self.line = WorkerLine(RecordsPlace(entry.name, entry.source, self.schema, self.neighbors, self.unit))
        self.trouble = ""
        """What is wrong with the ledger; nothing, as a rule."""
        self._lock = threading.Lock()
        self._ledger: StoredLedger | None = None
        self._reading = threading.Lock()
        self.open()

    def open(self) -> None:
        """Open the ledger; what is wrong with it is noted, and what belongs to another data set is refused."""
        with self._lock:
            self._ledger, self.trouble = None, ""
            self._read, self._prices = 0, list[tuple[str | None, float]]()
            try:
                ledger = self.entry.opened()
                ledger.balance()
            except (LedgerError, sqlite3.Error, OSError) as why:
                self.trouble = str(why)
                return
            fits = ledger.unit is not None and self.unit.protects_as(ledger.unit)
            if ledger.neighbors is not self.neighbors or not fits:
                obstacle = f"the account of data set {self.name!r} was opened for another relation or unit"
                raise SchemaError("site", obstacle, "Open an account for this schema: discreet ledger create.")
            self._ledger = ledger if self._identity is None else ledger.signed_by(self._identity)

    def close(self) -> None:
        """End the worker, and let go of the ledger."""
        with self._lock:
            self.line.close()
            if self._ledger is not None:
                self._ledger.close()

    @contextmanager
    def ledger(self) -> Iterator[StoredLedger]:
        """The ledger, to be used in a block: where it breaks, nothing is released until somebody has set it right."""
        ledger = self._ledger
        if ledger is None or self.trouble:
            raise self.read_only()
        try:
            yield ledger
        except (LedgerBroken, LedgerMissing) as why:
            with self._lock:
                self.trouble = str(why)
            raise self.read_only() from why
        except LedgerError as why:
            if type(why) is not LedgerError:
                raise
            raise self.read_only("it cannot be written now") from why
        except sqlite3.Error as why:  # locked for too long, or a full disk: perhaps not for ever
            raise self.read_only(f"SQLite says: {type(why).__name__}") from why

    def read_only(self, why: str = "") -> ReadOnlySite:
        """The refusal while the ledger cannot be used."""
        obstacle = f"its ledger cannot be used, so that nothing can be paid for{why and f' ({why})'}"
        return ReadOnlySite(f"data set {self.name}", obstacle, REPAIR)

    def private(self, ledger: AnalystLedger) -> PrivateData:
        """The records behind their worker, with an account that charges here."""
        return PrivateData(WorkerTrust(self.line), ledger)

    @property
    def offline(self) -> WorkerTrust:
        """The trust model without its worker: for prices and previews, which read nothing."""
        return WorkerTrust(RestingLine(self.line.place, self.line.facts))

    def priced(self, question: AskedQuestion, budget: Budget, user: str) -> ChargeReached:
        """What a question would be charged, from public facts alone: it is stopped at the charge, or refused before."""
        with self.ledger() as ledger:
            offline = PrivateData(self.offline, PricingLedger(ledger, user))
            try:
                question.ask(offline, budget, "price")
            except ChargeReached as price:
                return price
        raise SchemaError(f"ask {question.name:.80}", "it is charged nothing, so it asks nothing", "Ask a statistic.")

    def affords(self, event: Event, user: str) -> bool:
        """Whether this analyst could be charged now."""
        with self.ledger() as ledger:
            return ledger.affords(event, analyst=user)

    def balances(self, user: str | None) -> dict[str, Balance]:
        """The account of the data set, and that of the user where it has one."""
        with self.ledger() as ledger:
            accounts = ledger.accounts
        found = {"data set": accounts[None].balance()}
        return found if user is None or user not in accounts else {**found, user: accounts[user].balance()}

    def latest(self, most: int, user: str | None = None) -> tuple[Entry, ...]:
        """The newest charges, at most so many, the oldest first; of one analyst, where one is named."""
        with self.ledger() as ledger:
            return ledger.latest(most, user)

    def prices(self, user: str | None = None) -> list[float]:
        """What each charge cost by itself, the oldest first; of one analyst, where one is named.

        What was read once is not read again: only what was charged since.
        """
        with self.ledger() as ledger, self._reading:
            for one in ledger.entries(self._read):
                self._read = one.number + 1
                if one.waiver is None and math.isfinite(one.epsilon):
                    self._prices.append((one.analyst, one.epsilon))
            return [price for analyst, price in self._prices if user is None or analyst == user]
