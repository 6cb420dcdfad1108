"""What everybody in a round has agreed on beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from discreet.core.errors import ParameterError
from discreet.core.held import Held, exclusive
from discreet.crypto.derivation import PROTOCOL
from discreet.crypto.errors import UNOPENED, RoundReused, TooFewSurvivors, UnknownParty
from discreet.crypto.identity import LONGEST_NAME, check_name
from discreet.crypto.messages import framed, listed
from discreet.crypto.sharing.shamir import Deal
from discreet.noise.system_bits import KEY_LIFE

LARGEST = KEY_LIFE // 8  # words under one key


@dataclass(frozen=True)
class Terms:
    """Who adds what in which round, and how many must be left.

    Parameters
    ----------
    round : str
        Public. A name that no other round has.
    parties : tuple of str
        Public. Who may take part; kept in the order of the alphabet.
    threshold : int
        Public. How many parties must be left at every step, and so in the sum. More than half of the
        parties, and at least 2.
    size : int
        Public. The length of the vectors.
    server : str
        Public. Who passes the messages on and learns the sum.
    about : bytes
        Public. What the vectors are, as all understand it; parties with different descriptions have no key in
        common.
    protocol : bytes
        Public. How the vectors are added.

    Examples
    --------
    >>> terms = Terms("2025-w23", ("ann", "bob", "cas", "dan"), threshold=3, size=1000)
    >>> terms.dropouts, terms.colluders
    (1, 1)
    """

    round: str
    parties: tuple[str, ...]
    threshold: int
    size: int
    server: str = "server"
    about: bytes = b""
    protocol: bytes = PROTOCOL

    def __post_init__(self) -> None:
        object.__setattr__(self, "parties", tuple(sorted(self.parties)))
        for name in (self.round, self.server, *self.parties):
            check_name("terms", name)
        if len({self.server, *self.parties}) <= len(self.parties):
            raise ParameterError("terms", "two members have the same name", "Give each party, and the server, its own.")
        if not max(2, len(self.parties) // 2 + 1) <= self.threshold <= len(self.parties):
            raise ParameterError(
                "terms",
                f"the threshold is {self.threshold} of {len(self.parties)} parties",
                "Ask for more than half of them, and at least 2.",
                threshold=self.threshold,
            )
        if not 1 <= self.size <= LARGEST:
            raise ParameterError("terms", f"the size is {self.size}", f"Give 1 to {LARGEST}.", size=self.size)

    @property
    def dropouts(self) -> int:
        """How many parties may vanish, at any step, without spoiling the sum."""
        return len(self.parties) - self.threshold

    @property
    def colluders(self) -> int:
        """How many parties may work together with a server that lies (`masked_sum.md`)."""
        return 2 * self.threshold - len(self.parties) - 1

    @property
    def deal(self) -> Deal:
        """How keys are shared: fewer shares than the threshold say nothing."""
        return Deal(len(self.parties), self.threshold - 1)

    @property
    def digest(self) -> bytes:
        numbers = (number.to_bytes(8, "big") for number in (self.threshold, self.size))
        return sha256(
            framed(self.protocol, self.round.encode(), self.server.encode(), self.about, listed(self.parties), *numbers)
        ).digest()

    @property
    def sent(self) -> int:
        """How many bytes each party sends, but for keys, signatures and lists of names."""
        return 8 * self.size

    @property
    def most(self) -> int:
        """The longest message of a party in this round, in bytes."""
        return 8 * self.size + self.passed_on

    @property
    def passed_on(self) -> int:
        """The longest message of the server in this round, in bytes."""
        return len(self.parties) * (4 * LONGEST_NAME + 1024)

    def index(self, name: str) -> int:
        """A party's index among the shares, from 1."""
        if name not in self._places:
            raise UnknownParty(f"round {self.round!r}", f"{name!r} takes no part", "", UNOPENED, name=name)
        return self._places[name]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.parties, 1)}

    def check_enough(self, step: str, count: int) -> None:
        """Refuse to go on with fewer parties than the threshold."""
        if count < self.threshold:
            raise TooFewSurvivors(
                f"round {self.round!r}",
                f"{count} parties are left at the step of {step} and {self.threshold} are needed",
                "Wait for more, or begin a new round.",
                UNOPENED,
                count=count,
                threshold=self.threshold,
            )


class UsedRounds(Held):
    """The rounds that a party has taken part in; shared by everything that acts under its name.

    It lasts as long as the process. A round that is run again after a restart cannot use what was said in the first
    run, since every key hangs on the fresh keys of all (`masked_sum.md`).
    """

    def __init__(self) -> None:
        self._used: set[str] = set()

    @exclusive
    def claim(self, round: str) -> None:
        """Take part in this round, if this is the first time."""
        if round in self._used:
            raise RoundReused(f"round {round!r}", "it was run already", "Take a new name.", UNOPENED, round=round)
        self._used.add(round)
