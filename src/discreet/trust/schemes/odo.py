"""Verified shares as a scheme: counts of parties some of whom lie, with coins that they toss together."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted
from discreet.core.events import Event
from discreet.core.grid import Steps
from discreet.core.mechanism import Share
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.odo.odo_party import OdoParty
from discreet.crypto.odo.odo_relay import OdoRelay
from discreet.crypto.odo.odo_terms import MOST_COINS, PROTOCOL, OdoTerms, check_faults
from discreet.crypto.rounds.terms import Terms, UsedRounds
from discreet.mechanisms.additive.binomial import BinomialShare
from discreet.mechanisms.additive.share_of import is_shared, share_of
from discreet.trust.schemes.sum_scheme import Keyless, Quorum

MOST = 2**32 - 1  # of a party's counts


@dataclass(frozen=True)
class Odo(Keyless):
    """Our Data, Ourselves (`crypto/odo/odo.py` states the protocol and what it protects).

    Examples
    --------
    >>> Odo().check(Quorum(parties=10, threshold=7))
    >>> Odo().honest(Quorum(parties=10, threshold=7))
    7
    """

    name: ClassVar[str] = "odo"
    protocol: ClassVar[bytes] = PROTOCOL
    coins: ClassVar[bool] = True
    excess: ClassVar[float] = 1.0
    ranged: ClassVar[bool] = False
    hides: ClassVar[str] = (
        "Nobody sees the counts of any party, and each is in range. Less than a third may lie or leave: the sum is"
        " right, its noise has its law, and liars are named."
    )

    def check(self, quorum: Quorum) -> None:
        check_faults(quorum.parties, quorum.threshold)
        quorum.check_leaving()

    def honest(self, quorum: Quorum) -> int:
        return quorum.threshold - quorum.colluding

    def keeps(self, event: Event) -> bool:
        return is_shared(event) and isinstance(share := share_of(event, 1), BinomialShare) and share.moves == 1

    def check_sum(self, empty: Answer) -> None:
        """Counts alone, of which no party has more than the federation says."""
        if not empty.bound.nonnegative or empty.grid.exponent != 0:
            raise NotPermitted(
                "verified shares",
                "the question is no count: its numbers may be negative, or are not whole",
                'Ask counts, or let the federation take scheme "odo-vector" or "masks".',
            )

    def prepared(self, share: Share, own: Answer) -> Answer:
        prepared: Answer = share.prepared(own)
        return prepared

    def terms(self, terms: Terms, share: Share, largest: int, empty: Answer) -> OdoTerms:
        if not (isinstance(share, BinomialShare) and share.coins <= MOST_COINS and largest <= MOST):
            obstacle = f"it adds fair coins, at most {MOST_COINS} of each party, to counts of up to {MOST}"
            raise NotPermitted("verified shares", obstacle, "Ask with binomial noise, and less of it.")
        own = {field.name: getattr(terms, field.name) for field in dataclasses.fields(terms)}
        return OdoTerms(**own, coins=share.coins, largest=largest)

    def vector(self, share: Share, own: Answer, bits: Bits, largest: int) -> Steps:
        """The counts alone: coins are tossed in the protocol. What is out of range is moved into it."""
        return np.clip(own.steps, 0, largest)

    def speaker(self, identity: Identity, terms: Terms, roster: Roster, rounds: UsedRounds, bits: Bits) -> OdoParty:
        assert isinstance(terms, OdoTerms)
        return OdoParty(identity, terms, roster, rounds, bits)

    def relay(self, identity: Identity, terms: Terms, roster: Roster, rounds: UsedRounds) -> OdoRelay:
        assert isinstance(terms, OdoTerms)
        return OdoRelay(identity, terms, roster, rounds)
