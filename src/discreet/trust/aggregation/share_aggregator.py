"""One of those to whom devices send their shares: it verifies, adds up, pays, and lets go of a noisy share once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array, Steps
from discreet.core.held import Held, exclusive
from discreet.core.ledger import Ledger
from discreet.crypto.errors import UNOPENED, Disagreement, Malformed, OutOfOrder, RoundReused, TooFewReports
from discreet.crypto.fields.prime_field import Bytes
from discreet.crypto.prio3.expansion import SEED
from discreet.crypto.prio3.proof import Mask
from discreet.crypto.prio3.shares import NONCE, Sharded, Verification, check_rows, random_bytes
from discreet.noise.system_bits import system_bits
from discreet.trust.aggregation.aggregation_task import AggregationTask
from discreet.trust.aggregation.aggregator_account import AggregatorAccount


@dataclass(frozen=True)
class Reports:
    """What devices send, a row for each: a nonce that is drawn for it, and its shares.

    Parameters
    ----------
    nonces : Bytes
        16 bytes each; two reports with the same one are one report.
    shares : Sharded
        The public share, and the share for each aggregator.
    """

    nonces: Bytes
    shares: Sharded = field(repr=False)

    @classmethod
    def of(cls, task: AggregationTask, records: Array, bits: Bits) -> Reports:
        """The reports of devices with these records."""
        nonces = random_bytes(bits, len(records), NONCE)
        random = random_bytes(bits, len(records), task.vdaf.randomness)
        return cls(nonces, task.vdaf.shard(task.measurements(records), nonces, random))


@dataclass(frozen=True)
class Said:
    """What an aggregator tells the others of some reports.

    Parameters
    ----------
    verifiers : Bytes
        Its verifier shares.
    fresh : mask
        Which reports it had not seen before, and could read.
    """

    verifiers: Bytes = field(repr=False)
    fresh: Mask


@dataclass(frozen=True)
class Batch:
    """What is said of a batch beside its sum.

    Parameters
    ----------
    accepted : int
        The reports in the sum.
    failed : int
        Those whose proof failed, or that could not be read; they count for nothing.
    repeated : int
        Those that had been sent before; each report counts once.
    """

    accepted: int = 0
    failed: int = 0
    repeated: int = 0


class ShareAggregator(Held):
    """One aggregator of a task.

    It trusts neither the devices nor the other aggregators with anybody's privacy: whatever they send, all that leaves
    it of a report is a verifier share, and of the batch, once, after it has paid, its share of the sum under noise that
    keeps the promise by itself. What the others can do is to spoil the sum.

    Parameters
    ----------
    number : int
        Public. 0 for the leader.
    task : AggregationTask
        Public. What all agreed on.
    key : bytes
        The verification key, which the aggregators share and no device knows.
    ledger : Ledger, optional
        Its own account; without one it leaves the account to whoever asks.
    bits : Bits, optional
        Where its noise comes from; the operating system's where not given.
    """

    def __init__(
        self, number: int, task: AggregationTask, key: bytes, *, ledger: Ledger | None = None, bits: Bits | None = None
    ) -> None:
        if not 0 <= number < task.aggregators or len(key) != SEED:
            obstacle = f"there is no number {number}, or the key is not of {SEED} bytes"
            raise ParameterError("aggregator", obstacle, "Check both.")
        self.number, self.task, self.ledger = number, task, ledger
        self.batch = Batch()
        self._key = key
        self._account = AggregatorAccount(number, task, ledger, system_bits() if bits is None else bits)
        self._total, self._seen = np.zeros((1, task.vdaf.result), np.uint8), set[bytes]()
        self._pending: Verification | None = None
        self._accepted = np.zeros(0, dtype=bool)
        self._repeated = 0
        self._shared = False
        self._account.check_affords()

    @exclusive
    def begin(self, nonces: Bytes, public: Bytes, inputs: Bytes) -> Said:
        """Its part of the verification of some reports; those that it has seen before are left out."""
        if self._pending is not None or self._shared:
            state = "was opened, and is opened once" if self._shared else "has reports that are not decided on"
            raise OutOfOrder("reports", f"the batch {state}", "Make a new task.", UNOPENED)
        if self.batch.accepted + len(nonces) > self.task.most:
            raise NotPermitted("reports", f"a sum of more than {self.task.most} could wrap around", "Make a new task.")
        found = self.task.vdaf.verified(self.number, self._key, nonces, public, inputs)
        new = self._unseen(nonces)
        self._repeated = len(new) - int(new.sum())
        found.usable[:] &= new
        self._pending = found
        return Said(found.verifiers, found.usable.copy())

    def _unseen(self, nonces: Bytes) -> Mask:
        """Which reports come for the first time, here and before."""
        new = np.empty(len(nonces), dtype=bool)
        for place, nonce in enumerate(map(bytes, nonces)):
            new[place] = nonce not in self._seen
            self._seen.add(nonce)
        return new

    @exclusive
    def decide(self, said: Sequence[Said]) -> Mask:
        """Which of these reports it accepts, after all aggregators, in their order, have said their parts."""
        pending = self._started()
        vdaf, many = self.task.vdaf, len(pending.usable)
        if len(said) != vdaf.shares or any(one.fresh.shape != (many,) for one in said):
            obstacle = "not all aggregators speak of these reports"
            raise Malformed("verification", obstacle, "Send what each said.", UNOPENED)
        check_rows("verifier shares", said[self.number].verifiers, vdaf.verifier, many)
        if not (said[self.number].verifiers == pending.verifiers).all():
            raise Disagreement("verification", "it is not what was said here", "Pass on what each said.", UNOPENED)
        verdict = vdaf.verdict([one.verifiers for one in said])
        self._accepted = vdaf.agreed(pending, verdict) & np.logical_and.reduce([one.fresh for one in said])
        return self._accepted.copy()

    @exclusive
    def count(self, accepted: Iterable[Mask]) -> None:
        """Add up the reports that all aggregators accept; who accepts what was refused here changes nothing."""
        pending, masks = self._started(), list(accepted)
        if any(mask.dtype != bool or mask.shape != self._accepted.shape for mask in masks):
            raise Malformed("verification", "the masks are not of these reports", "Send what each accepts.", UNOPENED)
        agreed = np.logical_and.reduce([self._accepted, *masks])
        vdaf, batch = self.task.vdaf, self.batch
        self._total = vdaf.merged([self._total, vdaf.aggregated(pending, agreed)])
        failed = len(agreed) - int(agreed.sum()) - self._repeated
        self.batch = Batch(batch.accepted + int(agreed.sum()), batch.failed + failed, batch.repeated + self._repeated)
        self._pending, self._accepted = None, np.zeros(0, dtype=bool)

    @exclusive
    def share(self, reports: int) -> Bytes:
        """Its share of the noisy sum, once; it pays first.

        Parameters
        ----------
        reports : int
            Public. How many reports the others have in the sum; with another number nothing is opened.
        """
        if self._shared:
            raise RoundReused(f"task {self.task.name!r}", "its batch was opened before", "Make a new one.", UNOPENED)
        if self._pending is not None:
            raise OutOfOrder("a share", "some reports are not decided on", "Finish their verification.", UNOPENED)
        if self.batch.accepted < self.task.least:
            obstacle = f"{self.batch.accepted} reports are valid, and a batch has at least {self.task.least}"
            raise TooFewReports(f"task {self.task.name!r}", obstacle, "Wait for more.", UNOPENED)
        if self.batch.accepted != reports:
            obstacle = f"here {self.batch.accepted} reports are in the sum, and there {reports}"
            raise Disagreement(f"task {self.task.name!r}", obstacle, "Count what all accept.", UNOPENED)
        self._account.pay()
        self._shared = True
        return self.task.noisy(self._total, self._noise())

    def _noise(self) -> Steps:
        return self._account.noise()

    def _started(self) -> Verification:
        if self._pending is None:
            raise OutOfOrder("verification", "there are no reports to decide on", "Begin with some.", UNOPENED)
        return self._pending

    def __repr__(self) -> str:
        return f"ShareAggregator({self.number} of {self.task.aggregators}; {self.batch})"


def verified_together(aggregators: Sequence[ShareAggregator], reports: Reports) -> None:
    """The verification of some reports by aggregators that are objects of this process."""
    given = reports.shares
    said = [one.begin(reports.nonces, given.public, given.inputs[one.number]) for one in aggregators]
    accepted = [one.decide(said) for one in aggregators]
    for one in aggregators:
        one.count(accepted)
