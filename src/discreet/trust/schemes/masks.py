"""The masked sum as a scheme: each party adds its share of the noise before it masks its vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.grid import Steps
from discreet.core.mechanism import Share
from discreet.crypto.derivation import PROTOCOL
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.masked_sum.client import Client
from discreet.crypto.masked_sum.server import Server
from discreet.crypto.rounds.terms import Terms, UsedRounds
from discreet.mechanisms.additive.share_of import is_shared
from discreet.trust.schemes.sum_scheme import Quorum, Setup, check_keyless


@dataclass(frozen=True)
class Masks:
    """Double masking (`crypto/masked_sum/masked_sum.py` states the protocol and what it protects).

    Examples
    --------
    >>> Masks().check(Quorum(parties=5, threshold=4, colluding=2))
    >>> Masks().honest(Quorum(parties=5, threshold=4, colluding=2))
    2
    """

    name: ClassVar[str] = "masks"
    protocol: ClassVar[bytes] = PROTOCOL
    coins: ClassVar[bool] = False
    hides: ClassVar[str] = (
        "Nobody sees the sum of fewer parties than the threshold. Less than half may leave; a party may put in a false"
        " sum, and nobody notices."
    )

    def keyed(self, key: bytes, names: Sequence[str], threshold: int) -> Masks:
        check_keyless(self.name, key)
        return self

    def setup(self, identities: Sequence[Identity], threshold: int, bits: Bits) -> Setup:
        return Setup(tuple(identities))

    def check(self, quorum: Quorum) -> None:
        most = 2 * quorum.threshold - quorum.parties - 1
        if not 0 <= quorum.colluding <= most:
            raise ParameterError(
                "federation",
                f"{quorum.colluding} of {quorum.parties} parties may collude, with a threshold of {quorum.threshold}",
                f"At most {most} may; raise the threshold.",
                colluding=quorum.colluding,
            )

    def honest(self, quorum: Quorum) -> int:
        return quorum.threshold - quorum.colluding

    def keeps(self, event: Event) -> bool:
        return is_shared(event)

    def check_sum(self, empty: Answer) -> None:
        """Whatever can be added up modulo 2**64."""

    def terms(self, terms: Terms, share: Share, largest: int) -> Terms:
        return terms

    def vector(self, share: Share, own: Answer, bits: Bits, largest: int) -> Steps:
        return share.masked(own, bits)

    def speaker(self, identity: Identity, terms: Terms, roster: Roster, rounds: UsedRounds, bits: Bits) -> Client:
        return Client(identity, terms, roster, rounds, bits)

    def relay(self, identity: Identity, terms: Terms, roster: Roster, rounds: UsedRounds) -> Server:
        return Server(identity, terms, roster, rounds)
