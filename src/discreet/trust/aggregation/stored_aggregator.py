"""What leader and helper have in common: their secrets, verification, and the one noisy share that leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.held import Held
from discreet.core.ledger import Ledger
from discreet.crypto.errors import UNOPENED, TooFewReports
from discreet.crypto.fields.prime_field import Bytes
from discreet.crypto.prio3.expansion import SEED
from discreet.crypto.prio3.proof import Mask
from discreet.crypto.prio3.shares import Verification
from discreet.noise.system_bits import system_bits
from discreet.trust.aggregation.aggregator_account import AggregatorAccount
from discreet.trust.aggregation.aggregator_store import AggregatorStore
from discreet.trust.aggregation.dap import Ciphertext, Counted, HpkeConfig, Metadata, rejected, whole, written_configs
from discreet.trust.aggregation.published_task import PublishedTask
from discreet.trust.aggregation.sealed_report import ShareKey, about_sum, opened_shares, sealed
from discreet.trust.aggregation.share_aggregator import Batch

MOST_REPORTS = 1000  # in a job
TOKEN = 32  # bytes


@dataclass(frozen=True)
class AggregatorSecrets:
    """What leader and helper share and nobody else knows.

    Parameters
    ----------
    verification : bytes
        The verification key of Prio3: a device that knew it could have false reports accepted.
    token : bytes
        With which the leader shows the helper who it is.
    asker : bytes
        SHA-256 of the token of whoever may ask for the sum.
    """

    verification: bytes = field(repr=False)
    token: bytes = field(repr=False)
    asker: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if any(len(one) != SEED for one in (self.verification, self.token, self.asker)):
            raise ParameterError("secrets of an aggregator", "they are not of 32 bytes each", "Draw them anew.")


@dataclass(frozen=True)
class AskerSecrets:
    """What whoever asks for the sum has, and nobody else.

    Parameters
    ----------
    key : ShareKey
        Opens the shares of the sum.
    token : bytes
        With which it shows the leader who it is.
    """

    key: ShareKey
    token: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.token) != TOKEN:
            raise ParameterError("secrets of the asker", f"the token is not of {TOKEN} bytes", "Draw it anew.")


def drawn_secrets(bits: Bits | None = None) -> tuple[AggregatorSecrets, AskerSecrets]:
    """Fresh secrets for a task: those of its aggregators, and those of whoever asks."""
    bits = system_bits() if bits is None else bits
    first, second, third = (bits.integer(8 * SEED).to_bytes(SEED, "big") for _ in range(3))
    return AggregatorSecrets(first, second, sha256(third).digest()), AskerSecrets(ShareKey.drawn(bits), third)


class StoredAggregator(Held):
    """One of two aggregators, whose whole state is on disk: it may be killed at any moment and started again.

    Parameters
    ----------
    published : PublishedTask
        Public. The task.
    secrets : AggregatorSecrets
        What both aggregators have.
    store : AggregatorStore
        Its state.
    ledger : Ledger
        Its own account, which is charged before its share of the sum leaves.
    bits : Bits, optional
        Where its noise comes from; the operating system's where not given.
    """

    number = 0

    def __init__(
        self,
        published: PublishedTask,
        secrets: AggregatorSecrets,
        store: AggregatorStore,
        ledger: Ledger,
        *,
        bits: Bits | None = None,
    ) -> None:
        self.published, self.task, self.secrets, self.store = published, published.task, secrets, store
        self._account = AggregatorAccount(self.number, self.task, ledger, system_bits() if bits is None else bits)
        if store.share() is None:  # else it is paid for
            self._account.check_affords()

    def configs(self) -> bytes:
        """The keys for which devices seal shares, the newest first."""
        keys = self.store.keys()
        return written_configs([HpkeConfig(number, keys[number].public) for number in sorted(keys, reverse=True)])

    @property
    def batch(self) -> Batch:
        """What may be said of the batch so far."""
        return self.store.tally().batch

    def _verified(self, reports: Sequence[tuple[Metadata, bytes, Ciphertext]]) -> Verification:
        """Its part of the verification; what it cannot open is not usable."""
        if self.batch.accepted + len(reports) > self.task.most:
            raise NotPermitted("reports", f"a sum of more than {self.task.most} could wrap around", "Make a new task.")
        mine = opened_shares(self.published, self.number, self.store.keys(), reports)
        found = self.task.vdaf.verified(self.number, self.secrets.verification, mine.nonces, mine.public, mine.inputs)
        found.usable[:] &= mine.readable
        return found

    def _agreed(self, own: Verification, other: Sequence[bytes], present: Mask) -> Mask:
        """Which reports it accepts, from its own verifier shares and those of the other, where these are present."""
        vdaf = self.task.vdaf
        theirs = np.zeros_like(own.verifiers)
        right = [is_there and len(one) == vdaf.verifier for is_there, one in zip(present, other, strict=True)]
        for row in np.flatnonzero(right).tolist():
            theirs[row] = np.frombuffer(other[row], np.uint8)
        both = [own.verifiers, theirs] if self.number == 0 else [theirs, own.verifiers]
        return np.asarray(vdaf.agreed(own, vdaf.verdict(both)) & np.array(right, dtype=bool))

    def _with(self, own: Verification, agreed: Mask) -> Bytes:
        """The sum so far with the reports that were agreed on."""
        vdaf = self.task.vdaf
        before = np.frombuffer(self.store.tally().total, np.uint8)[None]
        return vdaf.merged([before, vdaf.aggregated(own, agreed)])

    def _check_batch(self, told: Counted) -> None:
        """Refuse to open another batch than the other has, or one that is too small."""
        tally = self.store.tally()
        if tally.batch.accepted < self.task.least:
            obstacle = f"{tally.batch.accepted} reports are valid, and a batch has at least {self.task.least}"
            raise TooFewReports(f"task {self.task.name!r}", obstacle, "Wait for more.", UNOPENED)
        if (told.reports, told.checksum) != (tally.batch.accepted, tally.checksum):
            obstacle = f"here {tally.batch.accepted} reports are in the sum, and there {told.reports}, or other ones"
            raise rejected("batchMismatch", obstacle, "Count what both accept.")

    def _share(self, told: Counted) -> Ciphertext:
        """Its noisy share of the sum, sealed for whoever asks: made once, kept, paid for, and only then handed out."""
        self._check_batch(told)
        self.store.close_batch()
        message = self.store.share()
        if message is None:
            message = self._made_share(told).written()
            self.store.keep_share(message)
        self._account.pay_for(sha256(message).hexdigest())
        return whole(message, Ciphertext.read)

    def _made_share(self, told: Counted) -> Ciphertext:
        total = np.frombuffer(self.store.tally().total, np.uint8)[None]
        noisy = self.task.noisy(total, self._account.noise()).tobytes()
        about = about_sum(self.published, self.number, told.reports)
        return sealed(HpkeConfig(0, self.published.collector), noisy, about)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.task.name!r}; {self.batch})"
