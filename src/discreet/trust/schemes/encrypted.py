"""The encrypted sum as a scheme: each party adds its share of the noise, encrypts, and helps to open the total."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.grid import Steps
from discreet.core.mechanism import Share
from discreet.crypto.encrypted_sum.encrypted_sum import PROTOCOL, EncryptedTerms, KeyHolder
from discreet.crypto.encrypted_sum.sealing_party import SealingParty
from discreet.crypto.encrypted_sum.sum_relay import SumRelay
from discreet.crypto.errors import Malformed
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.paillier.threshold_key import KeyShare, ThresholdKey, dealt
from discreet.crypto.rounds.terms import Terms, UsedRounds
from discreet.mechanisms.additive.share_of import is_shared
from discreet.trust.schemes.sum_scheme import Quorum, Setup

DEALER = "this process, for a rehearsal"


@dataclass(frozen=True)
class Encrypted:
    """Rastogi and Nath 2010 in one round (`crypto/encrypted_sum/encrypted_sum.py` states the protocol).

    Laplace noise is made of Polya shares, which add up to it exactly. The paper's own protocol, with four Gaussian sums
    that are squared under encryption in a second round, is in `discreet.as_published`: on whole numbers its noise keeps
    no promise.

    Parameters
    ----------
    key : bytes
        Public. The key that was dealt to the parties; see `Federation`.

    Examples
    --------
    >>> Encrypted().honest(Quorum(parties=5, threshold=4, colluding=2))
    2
    """

    name: ClassVar[str] = "paillier"
    protocol: ClassVar[bytes] = PROTOCOL
    coins: ClassVar[bool] = False
    deals: ClassVar[bool] = True
    excess: ClassVar[float] = 1.0
    ranged: ClassVar[bool] = False
    hides: ClassVar[str] = (
        "Nobody sees the sum of fewer parties than the threshold, as long as the dealer of the key kept no copy. Less"
        " than half may leave; liars are named at the decryption, but a party may put in a false sum."
    )
    key: bytes = field(default=b"", repr=False)

    def keyed(self, key: bytes, names: Sequence[str], threshold: int) -> Encrypted:
        own = Encrypted(key)
        if not key or set(own.held.holders) != set(names) or own.held.threshold != threshold:
            obstacle = "the key is missing, or was dealt to others or with another threshold"
            raise ParameterError("federation", obstacle, "Let a dealer draw one: discreet federation create --dealer.")
        return own

    def deal(self, names: Sequence[str], threshold: int, dealer: str, bits: Bits) -> Mapping[str, KeyShare]:
        return dealt(names, threshold, dealer, bits=bits)

    def seated(self, identity: Identity, share: KeyShare | None) -> KeyHolder:
        if share is None or share.name != identity.name or share.key.digest != self.held.digest:
            obstacle = f"{identity.name!r} has no share of this federation's key"
            raise ParameterError("party", obstacle, "Give what its dealer sent: discreet party --share.")
        return KeyHolder(identity.name, identity.secret, share)

    def setup(self, identities: Sequence[Identity], threshold: int, bits: Bits) -> Setup:
        shares = self.deal([one.name for one in identities], threshold, DEALER, bits)
        holders = tuple(KeyHolder(one.name, one.secret, shares[one.name]) for one in identities)
        return Setup(holders, next(iter(shares.values())).key.to_bytes())

    @cached_property
    def held(self) -> ThresholdKey:
        """The key."""
        try:
            return ThresholdKey.from_bytes(self.key)
        except Malformed as why:
            raise ParameterError("federation", f"its key cannot be read: {why.obstacle}", why.remedy) from why

    def check(self, quorum: Quorum) -> None:
        quorum.check_majority()

    def honest(self, quorum: Quorum) -> int:
        return quorum.threshold - quorum.colluding

    def keeps(self, event: Event) -> bool:
        return is_shared(event)

    def check_sum(self, empty: Answer) -> None:
        """Whatever can be added up modulo 2**64."""

    def prepared(self, share: Share, own: Answer) -> Answer:
        prepared: Answer = share.prepared(own)
        return prepared

    def terms(self, terms: Terms, share: Share, largest: int, empty: Answer) -> EncryptedTerms:
        own = {field.name: getattr(terms, field.name) for field in dataclasses.fields(terms)}
        return EncryptedTerms(**own, key=self.held)

    def vector(self, share: Share, own: Answer, bits: Bits, largest: int) -> Steps:
        return share.masked(own, bits)

    def speaker(self, identity: Identity, terms: Terms, roster: Roster, rounds: UsedRounds, bits: Bits) -> SealingParty:
        assert isinstance(terms, EncryptedTerms)
        return SealingParty(identity, terms, roster, rounds, bits)

    def relay(self, identity: Identity, terms: Terms, roster: Roster, rounds: UsedRounds) -> SumRelay:
        assert isinstance(terms, EncryptedTerms)
        return SumRelay(identity, terms, roster, rounds)
