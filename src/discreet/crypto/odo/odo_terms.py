"""What everybody in a round of verified shares has agreed on beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from discreet.core.errors import ParameterError
from discreet.crypto.messages import framed
from discreet.crypto.rounds.terms import Terms
from discreet.crypto.sharing.shamir import Deal

PROTOCOL = b"discreet verified shares 1"
TESTS = 2  # of degrees, and of bits; each misses a false dealing with a probability of 2**-61
KEYS = 2  # that public coins are expanded from: for tests, and for flips
PIECES = 4  # field elements in such a key
NONCE = 3  # field elements that hide a seed in its commitment
WIDEST = 32  # bits of a count
MOST_COINS = 1 << 16


@dataclass(frozen=True)
class OdoTerms(Terms):
    """Who adds which counts, with how many coins, and how many of the parties may lie or leave.

    Parameters
    ----------
    round, parties, threshold, size, server, about, protocol
        Public. See `Terms`. All but `threshold` parties may lie or leave: less than a third.
    coins : int
        Public. How many coins each party tosses for each number; even.
    width : int
        Public. How many bits each number of a party has at most.

    Examples
    --------
    >>> terms = OdoTerms("r1", ("ann", "bob", "cas", "dan"), threshold=3, size=5, coins=20)
    >>> terms.faults, terms.secrets
    (1, 105)
    """

    protocol: bytes = PROTOCOL
    coins: int = 2
    width: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(len(self.parties), self.threshold)
        if not (2 <= self.coins <= MOST_COINS and self.coins % 2 == 0 and 1 <= self.width <= WIDEST):
            obstacle = f"each party tosses {self.coins} coins for a number of {self.width} bits"
            remedy = f"Take an even number of at most {MOST_COINS} coins, and at most {WIDEST} bits."
            raise ParameterError("terms", obstacle, remedy, coins=self.coins, width=self.width)

    @property
    def faults(self) -> int:
        """How many parties may lie or leave, together."""
        return len(self.parties) - self.threshold

    @property
    def colluders(self) -> int:
        return self.faults

    @property
    def deal(self) -> Deal:
        return Deal(len(self.parties), self.faults)

    @property
    def secrets(self) -> int:
        """How many bits each party shares: those of its numbers, then its coins."""
        return self.size * (self.width + self.coins)

    @property
    def seeds(self) -> int:
        """How many field elements of a party's seed there are, for all keys."""
        return -(-KEYS * PIECES // self.threshold)

    @property
    def digest(self) -> bytes:
        numbers = (number.to_bytes(8, "big") for number in (self.coins, self.width))
        return sha256(framed(super().digest, *numbers)).digest()

    @property
    def held(self) -> int:
        """How many bytes of shares each party holds of each."""
        return 8 * (self.secrets + 2 * TESTS + self.seeds + NONCE)

    @property
    def most(self) -> int:
        return len(self.parties) * (self.held + 1024) + super().passed_on

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
