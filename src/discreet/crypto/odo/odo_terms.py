"""What everybody in a round of verified shares has agreed on beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from discreet.core.errors import ParameterError
from discreet.crypto.fields.share_field import WIDE, ShareField, narrowest
from discreet.crypto.messages import framed
from discreet.crypto.rounds.terms import Terms

PROTOCOL = b"discreet verified shares 2"
KEYS = 2  # that public coins are expanded from: for tests, and for flips
KEY_BYTES = 32  # of field elements in such a key, which have 240 bits or more
NONCE_BYTES = 24  # of those that hide a seed in its commitment: 180 bits or more
MOST_COINS = 1 << 16


@dataclass(frozen=True)
class OdoTerms(Terms):
    """Who adds which numbers, with how many coins, and how many of the parties may lie or leave.

    Parameters
    ----------
    round, parties, threshold, size, server, about, protocol
        Public. See `Terms`. All but `threshold` parties may lie or leave: less than a third.
    coins : int
        Public. How many coins each party tosses for each number; even, and none where parties put in noise themselves.
    largest : int
        Public. The most that each number of a party can be; the least is 0.
    offset : int
        Public. What is taken off the sum for each party in it: where numbers may be negative, what was added to them.

    committed : bool
        Public. Whether each party also commits to its numbers, so that it can show them later; then there are no coins.

    Examples
    --------
    >>> terms = OdoTerms("r1", ("ann", "bob", "cas", "dan"), threshold=3, size=5, coins=20, largest=5)
    >>> terms.faults, terms.secrets, terms.places, terms.field.size
    (1, 115, (1, 2, 2), 2)
    """

    protocol: bytes = PROTOCOL
    coins: int = 2
    largest: int = 1
    offset: int = 0
    committed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(len(self.parties), self.threshold)
        most = WIDE.prime // len(self.parties) - MOST_COINS
        if not (0 <= self.coins <= MOST_COINS and self.coins % 2 == 0 and 1 <= self.largest < most):
            obstacle = f"each party tosses {self.coins} coins for a number of up to {self.largest}"
            remedy = f"Take an even number of at most {MOST_COINS} coins, and numbers below {most}."
            raise ParameterError("terms", obstacle, remedy, coins=self.coins, largest=self.largest)
        if self.committed and self.coins:
            raise ParameterError("terms", "coins are too many to commit to each", "Let parties put in their own noise.")
        if not 0 <= self.offset <= self.largest:
            obstacle = f"{self.offset} is added to numbers that are at most {self.largest} then"
            raise ParameterError("terms", obstacle, "Add less.", offset=self.offset)

    @property
    def faults(self) -> int:
        """How many parties may lie or leave, together."""
        return len(self.parties) - self.threshold

    @property
    def colluders(self) -> int:
        return self.faults

    @cached_property
    def field(self) -> ShareField:
        """In which no sum wraps around; the widest for commitments, whose combinations it tests twice."""
        if self.committed:
            return WIDE
        return narrowest(len(self.parties) * (self.largest + self.coins))

    @cached_property
    def places(self) -> tuple[int, ...]:
        """What each bit of a number counts: together exactly `largest`, so that no number is above it.

        All but the last are powers of two, and the last is as much as those leave over: still every number up to
        `largest` can be written.
        """
        width = self.largest.bit_length()
        return *(1 << place for place in range(width - 1)), self.largest + 1 - (1 << width - 1)

    @property
    def width(self) -> int:
        """How many bits each number has."""
        return len(self.places)

    @property
    def secrets(self) -> int:
        """How many bits each party shares: those of its numbers, then its coins."""
        return self.size * (self.width + self.coins)

    @property
    def pieces(self) -> int:
        """How many field elements there are in a key that public coins are expanded from."""
        return KEY_BYTES // self.field.size

    @property
    def seeds(self) -> int:
        """How many field elements of a party's seed there are, for all keys."""
        return -(-KEYS * self.pieces // self.threshold)

    @property
    def sealed_seeds(self) -> int:
        """With those that hide a seed in its commitment."""
        return self.seeds + NONCE_BYTES // self.field.size

    @property
    def links(self) -> int:
        """How many combinations of numbers show that what is committed to is what is shared."""
        return self.field.tests if self.committed else 0

    @property
    def commitments(self) -> int:
        """How many bytes of commitments to numbers, and to what hides combinations of them, a header has."""
        return 32 * (self.size + self.links) if self.committed else 0

    @property
    def masks(self) -> int:
        """How many tests open a polynomial of degree `faults`: of degrees, and of commitments."""
        return self.field.tests + self.links

    @property
    def elements(self) -> int:
        """How many field elements each party holds of each: of bits, of masks of two kinds of tests, and of a seed."""
        return self.secrets + self.masks + self.field.tests + self.sealed_seeds

    @property
    def taken_off(self) -> int:
        """What a sum has too much for each party in it."""
        return self.coins // 2 + self.offset

    @cached_property
    def digest(self) -> bytes:
        numbers = (number.to_bytes(8, "big") for number in (self.coins, self.largest, self.offset))
        return sha256(framed(super().digest, *numbers, *([b"committed"] if self.committed else []))).digest()

    @property
    def held(self) -> int:
        """How many bytes of shares each party holds of each."""
        return self.field.size * self.elements

    @property
    def sent(self) -> int:
        return (len(self.parties) - 1) * self.held

    @property
    def most(self) -> int:
        return len(self.parties) * (self.held + 1024) + self.commitments + super().passed_on

    @property
    def passed_on(self) -> int:
        return len(self.parties) * self.most


def check_faults(parties: int, threshold: int) -> None:
    """Refuse a third of the parties, or more, as liars: their shares could no longer be told from the true ones."""
    faults, most = parties - threshold, (parties - 1) // 3
    if not 1 <= faults <= most:
        raise ParameterError(
            "verified shares",
            f"{faults} of {parties} parties may lie or leave",
            f"Let {parties - most} to {parties - 1} be left: less than a third may lie, and at least one."
            if most
            else "Take at least four parties, of whom one may lie.",
            threshold=threshold,
        )
