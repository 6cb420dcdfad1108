"""Where a collector keeps what it was sent: a report that is acknowledged is counted exactly once."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.errors import KeyReused, ParameterError
from discreet.core.held import exclusive
from discreet.ledger.own_database import OwnDatabase
from discreet.local.aggregator import Aggregator
from discreet.local.protocol import randomizer_of
from discreet.local.randomizer import UNCOUNTED, Randomizer

FOLDED = 4096  # messages that wait until they are added to the tally together
TABLES = """
CREATE TABLE IF NOT EXISTS about (parameters TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS seen (id BLOB PRIMARY KEY, digest BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS waiting (message BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tally (n INTEGER NOT NULL, numbers BLOB NOT NULL);
"""


@dataclass(frozen=True)
class Envelope:
    """A message with an identifier that its sender drew at random, so that it can be sent again."""

    id: bytes  # 16 bytes
    message: bytes  # an encoded report


@dataclass(frozen=True)
class Acknowledged:
    """How many messages of a batch are new, and how many were counted before."""

    new: int
    repeated: int


class ReportStore(OwnDatabase):
    """A tally in an SQLite file, with the identifiers of all messages that are in it.

    A batch is one transaction, which is on disk before it is acknowledged: after a crash at any moment, every message
    that was acknowledged is counted, and one that is sent again is not counted again. Threads and processes may share
    the file, which is its owner's alone; each process opens it itself.

    Parameters
    ----------
    path : path
        On a local disk.
    randomizer : Randomizer, optional
        Public. What the reports come from. Needed for a new file; refused if an old one is of another.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.local.oracles.generalized_randomized_response import GeneralizedRandomizedResponse
    >>> from discreet.noise.system_bits import system_bits
    >>> survey = GeneralizedRandomizedResponse(1.0, ("no", "yes"))
    >>> sent = Envelope(bytes(16), survey.encode(survey.report("yes", system_bits())))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = ReportStore(folder + "/survey.reports", survey)
    ...     store.add([sent]), store.add([sent]), store.aggregator().n
    ...     store.close()
    (Acknowledged(new=1, repeated=0), Acknowledged(new=0, repeated=1), 1)
    """

    def __init__(self, path: str | Path, randomizer: Randomizer | None = None) -> None:
        self.path = Path(path)
        if randomizer is None and not self.path.exists():
            raise self._refused("there is no such file", "Give a protocol to start one.")
        try:
            super().__init__(path, TABLES, f"collect in {path}", UNCOUNTED)
            self.randomizer = self._agreed(randomizer)
        except (sqlite3.Error, OSError) as why:
            raise self._refused(str(why), "Use a file that a collector wrote, on a local disk.") from why

    def add(self, envelopes: Iterable[Envelope]) -> Acknowledged:
        """Count the messages that are new: all of them or, if anything is wrong with one, none.

        Raises
        ------
        ParameterError
            A message is not one that the randomiser can make.
        KeyReused
            An identifier was used for another message.
        """
        batch = list(envelopes)
        if any(len(one.id) != 16 for one in batch):
            raise self._refused("an identifier does not have 16 bytes", "Draw 16 random bytes for each message.")
        self.randomizer.decoded([one.message for one in batch])
        with self.transaction() as db:
            new = sum(self._inserted(db, one) for one in batch)
            if db.execute("SELECT count(*) FROM waiting").fetchone()[0] >= FOLDED:
                self._fold(db)
        return Acknowledged(new, len(batch) - new)

    def aggregator(self) -> Aggregator[Any]:
        """All that is counted so far."""
        with self.transaction() as db:
            return self._counted(db)

    def count(self) -> int:
        """How many messages are counted so far."""
        with self.transaction() as db:
            return int(db.execute("SELECT count(*) FROM seen").fetchone()[0])

    @exclusive
    def check_apart(self, other: ReportStore) -> None:
        """Refuse another store in which one of these messages was counted too."""
        self._db.execute("ATTACH ? AS other", (str(other.path),))
        try:
            twice = self._db.execute("SELECT 1 FROM seen JOIN other.seen USING (id) LIMIT 1").fetchone()
        finally:
            self._db.execute("DETACH other")
        if twice is not None:
            raise self._refused(f"a report is also in {other.path}", "Add up stores that have none in common.")

    def _inserted(self, db: sqlite3.Connection, one: Envelope) -> bool:
        digest = hashlib.sha256(one.message).digest()
        before = db.execute("SELECT digest FROM seen WHERE id = ?", (one.id,)).fetchone()
        if before is not None and before[0] != digest:
            raise KeyReused(
                "collect", f"the identifier {one.id.hex()} came with another message", "Draw a new one.", UNCOUNTED
            )
        if before is None:
            db.execute("INSERT INTO seen VALUES (?, ?)", (one.id, digest))
            db.execute("INSERT INTO waiting VALUES (?)", (one.message,))
        return before is None

    def _counted(self, db: sqlite3.Connection) -> Aggregator[Any]:
        found: Aggregator[Any] = Aggregator(self.randomizer)
        kept = db.execute("SELECT n, numbers FROM tally").fetchone()
        if kept is not None:
            found.n, found.tally = kept[0], np.frombuffer(kept[1], "<i8").astype(np.int64).reshape(found.tally.shape)
        found.add_messages([row[0] for row in db.execute("SELECT message FROM waiting")])
        return found

    def _fold(self, db: sqlite3.Connection) -> None:
        """Add the messages that wait to the tally, in the transaction that is open."""
        counted = self._counted(db)
        db.execute("DELETE FROM tally")
        db.execute("INSERT INTO tally VALUES (?, ?)", (counted.n, counted.tally.astype("<i8").tobytes()))
        db.execute("DELETE FROM waiting")

    def _agreed(self, randomizer: Randomizer | None) -> Randomizer:
        with self.transaction() as db:
            kept = db.execute("SELECT parameters FROM about").fetchone()
            if kept is None:
                if randomizer is None:
                    raise self._refused("it has no reports", "Give a protocol to start one.")
                db.execute("INSERT INTO about VALUES (?)", (json.dumps(randomizer.parameters),))
                return randomizer
        found = randomizer_of(json.loads(kept[0]))
        if randomizer is not None and randomizer != found:
            raise self._refused(f"it is of {found} and not of {randomizer}", "Use another file for another protocol.")
        return found

    def _refused(self, obstacle: str, remedy: str) -> ParameterError:
        return ParameterError(f"collect in {self.path}", obstacle, remedy, UNCOUNTED, path=str(self.path))
