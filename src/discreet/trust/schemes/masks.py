"""The masked sum as a scheme: each party adds its share of the noise before it masks its vector."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.events import Event
from discreet.core.grid import Steps
from discreet.core.mechanism import Share
from discreet.core.neighbors import Neighbors
from discreet.crypto.derivation import PROTOCOL
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.masked_sum.client import Client
from discreet.crypto.masked_sum.mask_graph import SPARSE, choice_of
from discreet.crypto.masked_sum.mask_terms import SECOND, THIRD, WIDEST, MaskTerms
from discreet.crypto.masked_sum.server import Server
from discreet.crypto.rounds.terms import Terms, UsedRounds
from discreet.mechanisms.additive.share_of import is_shared
from discreet.trust.schemes.sum_scheme import Keyless, Quorum

FEWEST = 20  # one of so many parties colludes, at least, where each masks with a few


@dataclass(frozen=True)
class Masks(Keyless):
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
    excess: ClassVar[float] = 1.0
    ranged: ClassVar[bool] = False
    hides: ClassVar[str] = (
        "Nobody sees the sum of fewer parties than the threshold. Less than half may leave; a party may put in a false"
        " sum, and nobody notices."
    )

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

    def terms(self, terms: Terms, share: Share, largest: int | None, empty: Answer) -> MaskTerms:
        """Numbers of as few bytes as hold every sum: that of all units that all parties may have, and of their noise.

        Noise that goes on without end is beyond its reach with a chance below 2**-64; the sum is then wrong by a
        multiple of the modulus, and as private as ever.
        """
        plain = self._with_choice(MaskTerms.of(terms), terms.threshold - share.honest)
        if largest is None:
            return plain
        parties, most = len(terms.parties), farthest(empty, largest) + 1  # a step more, where a sum was floored
        reach = share.reach(empty, parties)
        lowest, highest = -reach if empty.bound.nonnegative else -parties * most - reach, parties * most + reach
        width = -(-(highest - lowest).bit_length() // 8)
        if width >= WIDEST:
            return plain
        return dataclasses.replace(plain, protocol=THIRD if plain.degree else SECOND, width=width, lowest=lowest)

    def _with_choice(self, terms: MaskTerms, colluding: int) -> MaskTerms:
        """The same terms; of many parties each masks with a few, so that a twentieth may collude, or more if agreed."""
        parties, threshold = len(terms.parties), terms.threshold
        bears = max(colluding, parties // FEWEST)
        if parties < SPARSE or bears > 2 * threshold - parties - 1:
            return terms
        choice = choice_of(parties, threshold, bears)
        if choice is None:
            return terms
        return dataclasses.replace(terms, protocol=THIRD, degree=choice.degree, needed=choice.needed)

    def vector(self, share: Share, own: Answer, bits: Bits, largest: int | None) -> Steps:
        """The own sum with its share of the noise; what a party with more units than agreed has too much is cut off.

        No two sums are farther apart after that than before, in any coordinate.
        """
        if largest is not None and (most := farthest(own, largest)) < 2**62:
            lowest = 0 if own.bound.nonnegative else -most
            own = dataclasses.replace(own, steps=np.clip(own.steps, lowest, most))
        return share.masked(own, bits)

    def speaker(self, identity: Identity, terms: Terms, roster: Roster, rounds: UsedRounds, bits: Bits) -> Client:
        return Client(identity, terms, roster, rounds, bits)

    def relay(self, identity: Identity, terms: Terms, roster: Roster, rounds: UsedRounds) -> Server:
        return Server(identity, terms, roster, rounds)


def farthest(answer: Answer, units: int) -> int:
    """How many steps so many units can move any coordinate, together."""
    each = answer.bound.sensitivity("linf", answer.size, Neighbors.ADD_REMOVE)
    return math.floor(Fraction(each) * units / Fraction(answer.grid.step))
