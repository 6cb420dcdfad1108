"""The leader: takes reports in, has the helper verify them with it, and gives the sum to whoever may ask."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from discreet.core.bits import Bits
from discreet.core.held import exclusive
from discreet.core.ledger import Ledger
from discreet.crypto.errors import UNOPENED, TooFewReports
from discreet.crypto.prio3.proof import Mask
from discreet.crypto.prio3.shares import NONCE, Verification
from discreet.trust.aggregation.aggregator_store import AggregatorStore, VerificationJob
from discreet.trust.aggregation.dap import (
    CONTINUED,
    FINISHED,
    Ciphertext,
    Collection,
    Counted,
    HelperAnswer,
    PreparedReport,
    each,
    malformed,
    read_answers,
    rejected,
    whole,
    written_accepted,
    written_job,
)
from discreet.trust.aggregation.published_task import PublishedTask
from discreet.trust.aggregation.sealed_report import SealedReport
from discreet.trust.aggregation.stored_aggregator import MOST_REPORTS, AggregatorSecrets, StoredAggregator

MOST_WAITING = 10**6  # reports
JOB = 16  # bytes of a job's number


class ToHelper(Protocol):
    """How a leader reaches its helper; each call may be repeated with the same words."""

    def begin(self, job: bytes, request: bytes) -> bytes: ...

    def finish(self, job: bytes, request: bytes) -> bytes: ...

    def share(self, request: bytes) -> bytes: ...


class Leader(StoredAggregator):
    """The first aggregator; see `StoredAggregator`.

    Parameters
    ----------
    published, secrets, store, ledger, bits
        See `StoredAggregator`.
    helper : ToHelper
        The other aggregator.
    """

    def __init__(
        self,
        published: PublishedTask,
        secrets: AggregatorSecrets,
        store: AggregatorStore,
        ledger: Ledger,
        helper: ToHelper,
        *,
        bits: Bits | None = None,
    ) -> None:
        super().__init__(published, secrets, store, ledger, bits=bits)
        self._helper = helper

    def upload(self, body: bytes, now: float | None = None) -> None:
        """Take reports in, all or none: when this returns, they are on disk, and each will be counted at most once."""
        now = time.time() if now is None else now
        reports = list(each(body, lambda reader: SealedReport.read(reader, self.published)))
        if not 1 <= len(reports) <= MOST_REPORTS:
            raise malformed(f"it has none, or more than {MOST_REPORTS} reports")
        known = self.store.keys()
        for one in reports:
            self._check_times(one.metadata.time, now)
            if one.shares[0].number not in known:
                raise rejected("outdatedConfig", "a share is sealed for a key that is not in use", "Ask for the key.")
        self.store.add_waiting([(one.metadata.nonce, one.written()) for one in reports], MOST_WAITING)

    def _check_times(self, made: int, now: float) -> None:
        published = self.published
        if published.is_early(made, now):
            raise rejected("reportTooEarly", "a report is of a time that has not come", "Set the clock.")
        if made % published.precision:
            raise rejected("reportRejected", "a time is not rounded to the task's precision", "Round it down.")
        if published.is_outside(made):
            raise rejected("reportRejected", "a report is of a time when the task did not run", "Ask for a new task.")

    @exclusive
    def verify(self) -> int:
        """Verify some of the reports that wait, together with the helper; returns how many.

        A job that was begun before a crash, or before the helper was out of reach, is taken up again.
        """
        job = self.store.job()
        if job is None or job.decided is not None:
            waiting = self.store.first_waiting(MOST_REPORTS)
            if not waiting:
                return 0
            job = VerificationJob(secrets.token_bytes(JOB), b"".join(id for id, _ in waiting))
            self.store.set_job(job)
        ids = [job.request[at : at + NONCE] for at in range(0, len(job.request), NONCE)]
        reports = [self._read(raw) for raw in self.store.waiting_of(ids)]
        own = self._verified([(one.metadata, one.public, one.shares[0]) for one in reports])
        answers = self._asked(job, reports, own)
        agreed = self._agreed(own, [one.verifier for one in answers], _are(answers, CONTINUED))
        accepted = [id for id, one in zip(ids, agreed, strict=True) if one]
        request = written_accepted(accepted)
        told = _in_order(read_answers(self._helper.finish(job.id, request)), accepted)
        agreed[agreed] = _are(told, FINISHED)
        ended = VerificationJob(job.id, job.request, b"", request)
        fresh = np.ones(len(ids), dtype=bool)  # what waits was not seen before, and waits once
        if not self.store.count(ended, ids, fresh, agreed, self._with(own, agreed)):
            raise malformed("a report that waited was counted meanwhile")
        return len(ids)

    def _read(self, raw: bytes) -> SealedReport:
        return whole(raw, lambda reader: SealedReport.read(reader, self.published))

    def _asked(self, job: VerificationJob, reports: Sequence[SealedReport], own: Verification) -> list[HelperAnswer]:
        """What the helper says of each report."""
        handed = [
            PreparedReport(one.metadata, one.public, one.shares[1], own.verifiers[row].tobytes())
            for row, one in enumerate(reports)
        ]
        answers = read_answers(self._helper.begin(job.id, written_job(handed)))
        return _in_order(answers, [one.metadata.nonce for one in reports])

    @exclusive
    def collect(self) -> Collection:
        """The sum in two sealed shares: all reports that were taken in are verified, and the batch is closed."""
        if not self.store.closed:
            self._account.check_affords()
            self._verify_all()
            valid = self.batch.accepted
            if valid < self.task.least:
                obstacle = f"{valid} reports are valid, and a batch has at least {self.task.least}"
                raise TooFewReports(f"task {self.task.name!r}", obstacle, "Wait for more.", UNOPENED)
            self.store.close_batch()
        self._verify_all()
        tally = self.store.tally()
        told = Counted(tally.batch.accepted, tally.checksum)
        theirs = whole(self._helper.share(told.written()), Ciphertext.read)
        published = self.published
        return Collection(told.reports, published.start, published.duration, self._share(told), theirs)

    def _verify_all(self) -> None:
        """Verify what waits now; what comes meanwhile is for the next time."""
        left = self.store.waiting()
        while left > 0 and (done := self.verify()):
            left -= done


def _in_order(answers: list[HelperAnswer], nonces: Sequence[bytes]) -> list[HelperAnswer]:
    if [one.nonce for one in answers] != list(nonces):
        raise malformed("the helper speaks of other reports")
    return answers


def _are(answers: Sequence[HelperAnswer], state: int) -> Mask:
    return np.array([one.state == state for one in answers], dtype=bool)
