"""Verified shares of any bounded sum: numbers with their noise, in a range that every party is held to."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Event
from discreet.core.grid import Grid, Steps
from discreet.core.mechanism import Share
from discreet.core.neighbors import Neighbors
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.odo.odo_party import OdoParty
from discreet.crypto.odo.odo_relay import OdoRelay
from discreet.crypto.odo.odo_terms import OdoTerms, check_faults
from discreet.crypto.rounds.terms import Terms, UsedRounds
from discreet.mechanisms.additive.gaussian import GaussianShare
from discreet.mechanisms.additive.laplace import LaplaceShare
from discreet.mechanisms.additive.share_of import is_shared, share_of
from discreet.trust.schemes.sum_scheme import Keyless, Quorum

NEVER = 2.0**-90  # the chance that any number of any party's noise in a round is out of range, and moved into it
GROWTH = 2.0**-7  # of the noise's scale, for the grid being coarse: each bit less saves a share of a bit
WIDEST = 60  # bits of the sum
MOST_PARTIES = 1 << 16


@dataclass(frozen=True)
class NumberRange:
    """Which numbers of grid steps a party may put in: all that honest ones have, and no others.

    Parameters
    ----------
    least, most : int
        Public. Of the exact sum of a party, by its number of units and the bound of one.
    noise : int
        Public. How far noise goes to either side.
    """

    least: int
    most: int
    noise: int

    @property
    def offset(self) -> int:
        """What is added to a number so that it is not negative."""
        return self.noise - self.least

    @property
    def largest(self) -> int:
        """The most that a number is then."""
        return self.most - self.least + 2 * self.noise

    def into(self, own: Steps, noise: Steps) -> Steps:
        """Numbers with their noise, not negative. Each is moved into its own range first.

        To move an exact sum into a range brings no two of them farther apart, so that no unit moves it farther.
        """
        return np.clip(own, self.least, self.most) + np.clip(noise, -self.noise, self.noise) + self.offset


def range_of(share: Share, prepared: Answer, largest: int) -> NumberRange:
    """The range for such sums, of parties with at most so many units."""
    bound = prepared.bound
    unit = Fraction(bound.radius) * Fraction(bound.rounding(prepared.size)) / Fraction(prepared.grid.step)
    most = math.floor(largest * unit)
    least = 0 if bound.nonnegative else -most - (prepared.slack > 0)  # negative sums are floored away from zero
    return NumberRange(least, most, share.farthest(prepared, NEVER / (MOST_PARTIES * prepared.size)))


@lru_cache(maxsize=256)
def coarsest(share: Any, grid: Grid, bound: Bound, neighbors: Neighbors, size: int) -> Grid:
    """The coarsest grid on which the noise grows by little: each bit less of a number is a bit less to share and prove.

    On a coarser grid a unit moves the floored sum farther, and shares need more noise (`gaussian_share.md`,
    `laplace_share.md`). Both are counted in the scale of a share, in steps. It grows with every bit.
    """
    empty = Answer(np.zeros(size, np.int64), grid, bound, neighbors)
    found = share.prepared(empty).grid
    most = share.own_scale(empty.on(found)) * found.step * (1 + GROWTH)
    while True:
        coarser = Grid(found.exponent + 1)
        try:
            scale = share.own_scale(empty.on(coarser)) * coarser.step
        except ParameterError:  # no promise could be proved there
            return found
        if scale > most:
            return found
        found = coarser


@dataclass(frozen=True)
class OdoVector(Keyless):
    """Verified shares of sums with their noise (`crypto/odo/odo.md`, part 9, says what it protects).

    Each party adds its own share of exact noise to its own sum, deals out both together, bit by bit, and proves that
    each number is in range. The shares of the honest parties are all of the noise that was paid for. What a liar can do
    is to move each number of the sum by as much as is in range.

    Examples
    --------
    >>> OdoVector().honest(Quorum(parties=10, threshold=7))
    7
    """

    name: ClassVar[str] = "odo-vector"
    protocol: ClassVar[bytes] = b"discreet verified vectors 1"
    coins: ClassVar[bool] = False
    excess: ClassVar[float] = (1 + GROWTH) ** 2
    ranged: ClassVar[bool] = True
    hides: ClassVar[str] = (
        "Nobody sees the sum of any party, and each is in a range with its noise. Less than a third may lie or leave:"
        " the sum is that of the others, with noise of its law; a liar moves it within its range, or is named."
    )

    def check(self, quorum: Quorum) -> None:
        check_faults(quorum.parties, quorum.threshold)
        quorum.check_leaving()

    def honest(self, quorum: Quorum) -> int:
        """Noise is counted of those alone who neither lie nor are cut off: a liar's is no noise."""
        return quorum.threshold - quorum.colluding

    def keeps(self, event: Event) -> bool:
        return is_shared(event) and isinstance(share_of(event, 1), GaussianShare | LaplaceShare)

    def prepared(self, share: Share, own: Answer) -> Answer:
        frozen: Any = share
        return own.on(coarsest(frozen, own.grid, own.bound, own.neighbors, own.size))

    def check_sum(self, empty: Answer) -> None:
        """Any bounded sum whose numbers stay in the range of the field; `terms` refuses others."""

    def terms(self, terms: Terms, share: Share, largest: int, empty: Answer) -> OdoTerms:
        held, most = range_of(share, empty, largest), WIDEST - len(terms.parties).bit_length()
        if (bits := held.largest.bit_length()) > most:
            obstacle = f"a party's numbers can have {bits} bits, and {len(terms.parties)} parties can add up {most}"
            remedy = 'Let parties have fewer units (largest), or let the federation take scheme "masks".'
            raise NotPermitted("verified vectors", obstacle, remedy, bits=bits)
        own = {field.name: getattr(terms, field.name) for field in dataclasses.fields(Terms)}
        return OdoTerms(**own, coins=0, largest=held.largest, offset=held.offset)

    def vector(self, share: Share, own: Answer, bits: Bits, largest: int) -> Steps:
        """The sum with a share of the noise, and an offset: never negative, and in range."""
        prepared = self.prepared(share, own)
        return range_of(share, prepared, largest).into(prepared.steps, share.drawn(prepared, bits))

    def speaker(self, identity: Identity, terms: Terms, roster: Roster, rounds: UsedRounds, bits: Bits) -> OdoParty:
        assert isinstance(terms, OdoTerms)
        return OdoParty(identity, terms, roster, rounds, bits)

    def relay(self, identity: Identity, terms: Terms, roster: Roster, rounds: UsedRounds) -> OdoRelay:
        assert isinstance(terms, OdoTerms)
        return OdoRelay(identity, terms, roster, rounds)
