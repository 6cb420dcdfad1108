"""What an aggregator keeps on disk: reports that wait, the one batch, and what left of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED
from discreet.crypto.fields.prime_field import Bytes
from discreet.crypto.prio3.proof import Mask
from discreet.ledger.own_database import OwnDatabase
from discreet.noise.system_bits import system_bits
from discreet.trust.aggregation.dap import CHECKSUM, rejected
from discreet.trust.aggregation.published_task import PublishedTask
from discreet.trust.aggregation.sealed_report import ShareKey
from discreet.trust.aggregation.share_aggregator import Batch

MOST_KEYS = 255
TABLES = """
CREATE TABLE IF NOT EXISTS about (task BLOB NOT NULL, number INTEGER NOT NULL, closed INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS keys (number INTEGER PRIMARY KEY, secret BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS seen (id BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS waiting (place INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, report BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS job (id BLOB NOT NULL, request BLOB NOT NULL, answer BLOB, decided BLOB, told BLOB);
CREATE TABLE IF NOT EXISTS tally (
    total BLOB NOT NULL, checksum BLOB NOT NULL,
    accepted INTEGER NOT NULL, failed INTEGER NOT NULL, repeated INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS share (message BLOB NOT NULL);
"""


@dataclass(frozen=True)
class SumTally:
    """An aggregator's share of the sum so far, and which reports are in it: secret."""

    total: bytes = field(repr=False)
    checksum: bytes
    batch: Batch


@dataclass(frozen=True)
class VerificationJob:
    """Reports that leader and helper are verifying together; there is one such job at a time.

    Parameters
    ----------
    id : bytes
        Drawn by the leader.
    request : bytes
        The leader's list of reports, or what the helper was sent.
    answer : bytes, optional
        What the helper said to it.
    decided : bytes, optional
        What the leader then said; with it the job is over, and stays until the next begins.
    told : bytes, optional
        What the helper said to that.
    """

    id: bytes
    request: bytes = field(repr=False)
    answer: bytes | None = field(default=None, repr=False)
    decided: bytes | None = field(default=None, repr=False)
    told: bytes | None = field(default=None, repr=False)


class AggregatorStore(OwnDatabase):
    """The state of one aggregator in one task, in an SQLite file of its owner's alone.

    Every change is one transaction that is on disk before anybody is told of it.

    Parameters
    ----------
    path : path
        On a local disk.
    published : PublishedTask
        Public. The task; a file of another one is refused.
    number : int
        Public. 0 for the leader, 1 for the helper.
    """

    def __init__(self, path: str | Path, published: PublishedTask, number: int) -> None:
        asked = f"aggregate in {path}"
        try:
            super().__init__(path, TABLES, asked, UNOPENED)
            with self.transaction() as db:
                self._begin(db, published, number)
                whose = db.execute("SELECT task, number FROM about").fetchone()
        except (sqlite3.Error, OSError) as why:
            raise ParameterError(asked, str(why), "Use a file that an aggregator wrote, on a local disk.") from why
        if whose != (published.identifier, number):
            remedy = "Use another file for another task, and one for each aggregator."
            raise ParameterError(asked, "it is of another task, or of the other aggregator", remedy)

    def _begin(self, db: sqlite3.Connection, published: PublishedTask, number: int) -> None:
        """Fill a new file: no report is counted, and there is a key to seal shares for."""
        if db.execute("SELECT 1 FROM about").fetchone() is None:
            db.execute("INSERT INTO about VALUES (?, ?, 0)", (published.identifier, number))
            empty = bytes(published.task.vdaf.result)
            db.execute("INSERT INTO tally VALUES (?, ?, 0, 0, 0)", (empty, bytes(CHECKSUM)))
            db.execute("INSERT INTO keys VALUES (1, ?)", (ShareKey.drawn(system_bits()).secret,))

    def keys(self) -> dict[int, ShareKey]:
        """Those for which shares are sealed, by number; the last is the one to use."""
        with self.transaction() as db:
            return {number: ShareKey(secret) for number, secret in db.execute("SELECT * FROM keys ORDER BY number")}

    def renew_key(self, keep: int = 1) -> int:
        """Draw a new key, and forget all but as many old ones: what was sealed for those is then refused."""
        with self.transaction() as db:
            number = 1 + int(db.execute("SELECT max(number) FROM keys").fetchone()[0])
            if number > MOST_KEYS:
                raise ParameterError("key of an aggregator", "all numbers are used up", "Publish a new task.", UNOPENED)
            db.execute("INSERT INTO keys VALUES (?, ?)", (number, ShareKey.drawn(system_bits()).secret))
            db.execute("DELETE FROM keys WHERE number < ?", (number - keep,))
        return number

    def add_waiting(self, reports: Sequence[tuple[bytes, bytes]], most: int) -> None:
        """Keep reports until they are verified, all or none; those that came before are counted as repeated."""
        with self.transaction() as db:
            new = [one for one in dict(reports).items() if not self._is_known(db, one[0])]
            if new and db.execute("SELECT closed FROM about").fetchone()[0]:
                raise rejected("reportRejected", "the batch was collected, and takes no more", "Ask for a new task.")
            if self._waiting(db) + len(new) > most:
                raise rejected("busy", f"{most} reports wait to be verified", "Send it again later.")
            db.executemany("INSERT INTO waiting (id, report) VALUES (?, ?)", new)
            db.execute("UPDATE tally SET repeated = repeated + ?", (len(reports) - len(new),))

    def _is_known(self, db: sqlite3.Connection, id: bytes) -> bool:
        known = "SELECT 1 FROM seen WHERE id = ?1 UNION ALL SELECT 1 FROM waiting WHERE id = ?1"
        return db.execute(known, (id,)).fetchone() is not None

    def waiting(self) -> int:
        """How many reports were taken in and are not verified yet."""
        with self.transaction() as db:
            return self._waiting(db)

    def _waiting(self, db: sqlite3.Connection) -> int:
        return int(db.execute("SELECT count(*) FROM waiting").fetchone()[0])

    def first_waiting(self, most: int) -> list[tuple[bytes, bytes]]:
        """The identifiers and reports that wait longest."""
        with self.transaction() as db:
            return list(db.execute("SELECT id, report FROM waiting ORDER BY place LIMIT ?", (most,)))

    def waiting_of(self, ids: Iterable[bytes]) -> list[bytes]:
        """The reports of a job that was begun before."""
        with self.transaction() as db:
            found = [db.execute("SELECT report FROM waiting WHERE id = ?", (id,)).fetchone() for id in ids]
        return [row[0] for row in found]

    def unseen(self, ids: Sequence[bytes]) -> list[bool]:
        """Which reports come for the first time, in decided jobs and among these."""
        with self.transaction() as db:
            return self._unseen(db, ids)

    def _unseen(self, db: sqlite3.Connection, ids: Sequence[bytes]) -> list[bool]:
        first = {id: place for place, id in reversed(list(enumerate(ids)))}
        known = "SELECT 1 FROM seen WHERE id = ?"
        return [first[id] == place and db.execute(known, (id,)).fetchone() is None for place, id in enumerate(ids)]

    def job(self) -> VerificationJob | None:
        """The job that is under way, or the last one."""
        with self.transaction() as db:
            row = db.execute("SELECT * FROM job").fetchone()
        return None if row is None else VerificationJob(*row)

    def set_job(self, job: VerificationJob) -> None:
        """Keep what was said, in place of the job before."""
        with self.transaction() as db:
            self._set_job(db, job)

    def _set_job(self, db: sqlite3.Connection, job: VerificationJob) -> None:
        db.execute("DELETE FROM job")
        db.execute("INSERT INTO job VALUES (?, ?, ?, ?, ?)", (job.id, job.request, job.answer, job.decided, job.told))

    def tally(self) -> SumTally:
        """The batch so far."""
        with self.transaction() as db:
            total, checksum, *numbers = db.execute("SELECT * FROM tally").fetchone()
        return SumTally(total, checksum, Batch(*numbers))

    def count(self, job: VerificationJob, ids: Sequence[bytes], fresh: Mask, agreed: Mask, total: Bytes) -> bool:
        """End a job: its reports are seen, the agreed ones counted, and none waits any more.

        Parameters
        ----------
        job : VerificationJob
            As it ended.
        ids : sequence of bytes
            Its reports.
        fresh, agreed : mask
            Which had not been seen before, and which of those are in the sum.
        total : Bytes
            The sum with them.

        Returns
        -------
        bool
            False where something else was counted meanwhile, and nothing was changed.
        """
        mixed = int.from_bytes(bytes(CHECKSUM), "big")
        for id, counted in zip(ids, agreed, strict=True):
            mixed ^= int.from_bytes(sha256(id).digest(), "big") if counted else 0
        with self.transaction() as db:
            if self._unseen(db, ids) != fresh.tolist():
                return False
            old = int.from_bytes(db.execute("SELECT checksum FROM tally").fetchone()[0], "big")
            accepted, repeated = int(agreed.sum()), len(ids) - int(fresh.sum())
            failed = len(ids) - accepted - repeated
            db.execute(
                "UPDATE tally SET total = ?, checksum = ?, accepted = accepted + ?, failed = failed + ?, "
                "repeated = repeated + ?",
                (total.tobytes(), (old ^ mixed).to_bytes(CHECKSUM, "big"), accepted, failed, repeated),
            )
            db.executemany("INSERT OR IGNORE INTO seen VALUES (?)", [(id,) for id in ids])
            db.executemany("DELETE FROM waiting WHERE id = ?", [(id,) for id in ids])
            self._set_job(db, job)
        return True

    def close_batch(self) -> None:
        """Take no more reports, for ever."""
        with self.transaction() as db:
            db.execute("UPDATE about SET closed = 1")

    @property
    def closed(self) -> bool:
        """Whether the batch is complete."""
        with self.transaction() as db:
            return bool(db.execute("SELECT closed FROM about").fetchone()[0])

    def share(self) -> bytes | None:
        """The noisy share of the sum, if one was made."""
        with self.transaction() as db:
            row = db.execute("SELECT message FROM share").fetchone()
        return None if row is None else bytes(row[0])

    def keep_share(self, message: bytes) -> None:
        """Keep the one noisy share: what leaves, however often, is this one."""
        with self.transaction() as db:
            db.execute("INSERT INTO share VALUES (?)", (message,))
