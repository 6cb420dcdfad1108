"""The helper: it sees what the leader hands on, and what it answers tells the leader no more than verifier shares."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from discreet.core.held import exclusive
from discreet.crypto.errors import Disagreement
from discreet.crypto.prio3.proof import Mask
from discreet.crypto.prio3.shares import Verification
from discreet.trust.aggregation.aggregator_store import VerificationJob
from discreet.trust.aggregation.dap import (
    CONTINUED,
    FINISHED,
    REJECTED,
    REPLAYED,
    UNOPENABLE,
    UNPROVED,
    Counted,
    HelperAnswer,
    PreparedReport,
    malformed,
    read_accepted,
    read_job,
    rejected,
    whole,
    written_accepted,
    written_answers,
)
from discreet.trust.aggregation.stored_aggregator import MOST_REPORTS, StoredAggregator


@dataclass(frozen=True)
class _Pending:
    """A job between its two halves: it follows from what the leader sent, and is computed again after a restart."""

    reports: list[PreparedReport] = field(repr=False)
    verification: Verification
    fresh: Mask

    @property
    def nonces(self) -> list[bytes]:
        return [one.metadata.nonce for one in self.reports]


class Helper(StoredAggregator):
    """The second aggregator. It answers the leader and nobody else; see `StoredAggregator`.

    A job has two halves. In the first, the leader sends reports with its verifier shares, and hears the helper's. In
    the second it says which reports it accepts; the helper counts those of them that it accepts too, on its own
    computation, and says which. Each half may be sent again, in the same words.
    """

    number = 1
    _pending: tuple[bytes, _Pending] | None = None

    @exclusive
    def begin(self, job: bytes, request: bytes) -> bytes:
        """The first half of a job; one before it that was not ended is given up."""
        kept = self.store.job()
        if kept is not None and kept.id == job:
            if sha256(kept.request).digest() != sha256(request).digest() and kept.request != sha256(request).digest():
                raise Disagreement("a job", "its number was used for other reports", "Draw a new one.")
            return bytes(kept.answer or b"")
        if self.store.closed:
            raise rejected("batchMismatch", "the batch was collected, and takes no more", "Ask for a new task.")
        pending = self._computed(request)
        answer = written_answers(self._answers(pending))
        self.store.set_job(VerificationJob(job, request, answer))
        self._pending = (job, pending)
        return answer

    def _computed(self, request: bytes) -> _Pending:
        reports = read_job(request)
        if len(reports) > MOST_REPORTS:
            raise malformed(f"it has more than {MOST_REPORTS} reports")
        vdaf = self.task.vdaf
        if any(len(one.public) != vdaf.public or len(one.verifier) != vdaf.verifier for one in reports):
            raise malformed("its parts are not as long as the task has them")
        own = self._verified([(one.metadata, one.public, one.share) for one in reports])
        return _Pending(reports, own, np.array(self.store.unseen([one.metadata.nonce for one in reports]), dtype=bool))

    def _answers(self, pending: _Pending) -> list[HelperAnswer]:
        """Its verifier share for each report that it has not seen and can read, in the order of the leader."""
        found = []
        for row, nonce in enumerate(pending.nonces):
            if not pending.fresh[row]:
                found.append(HelperAnswer(nonce, REJECTED, reason=REPLAYED))
            elif not pending.verification.usable[row]:
                found.append(HelperAnswer(nonce, REJECTED, reason=UNOPENABLE))
            else:
                found.append(HelperAnswer(nonce, CONTINUED, pending.verification.verifiers[row].tobytes()))
        return found

    @exclusive
    def finish(self, job: bytes, request: bytes) -> bytes:
        """The second half: what both accept is counted, and the job is over."""
        kept = self.store.job()
        if kept is None or kept.id != job:
            raise rejected("unrecognizedAggregationJob", "it was not begun, or was given up", "Begin it again.")
        if kept.decided is not None:
            if kept.decided != request:
                raise Disagreement("a job", "it ended with other reports accepted", "Say the same again.")
            return bytes(kept.told or b"")
        pending = self._pending[1] if self._pending is not None and self._pending[0] == job else None
        pending = pending or self._computed(kept.request)
        named = self._named(pending, request)
        agreed = named & pending.fresh & self._accepted(pending)
        told = written_answers(
            [
                HelperAnswer(nonce, FINISHED) if agreed[row] else HelperAnswer(nonce, REJECTED, reason=UNPROVED)
                for row, nonce in enumerate(pending.nonces)
                if named[row]
            ]
        )
        ended = VerificationJob(job, sha256(kept.request).digest(), kept.answer, request, told)
        total = self._with(pending.verification, agreed)
        if not self.store.count(ended, pending.nonces, pending.fresh, agreed, total):
            raise Disagreement("a job", "its reports were counted in another one", "Begin a new one.")
        self._pending = None
        return told

    def _accepted(self, pending: _Pending) -> Mask:
        theirs = [one.verifier for one in pending.reports]
        return self._agreed(pending.verification, theirs, np.ones(len(theirs), dtype=bool))

    def _named(self, pending: _Pending, request: bytes) -> Mask:
        """The reports that the leader accepts: some of the job's, in their order."""
        accepted = read_accepted(request)
        wanted = set(accepted)
        named = np.array([nonce in wanted for nonce in pending.nonces], dtype=bool)
        if request != written_accepted([nonce for nonce, one in zip(pending.nonces, named, strict=True) if one]):
            raise malformed("it accepts what is not in the job, or in another order")
        return named

    @exclusive
    def share(self, request: bytes) -> bytes:
        """Its share of the sum, if the leader has the same batch."""
        return self._share(whole(request, Counted.read)).written()
