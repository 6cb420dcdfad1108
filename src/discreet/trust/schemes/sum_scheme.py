"""What a protocol for sums says of itself, so that rounds and parties need to know nothing else."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Protocol, Self

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.grid import Steps
from discreet.core.mechanism import Share
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.paillier.threshold_key import KeyShare
from discreet.crypto.rounds.speaker import Relay, Speaker
from discreet.crypto.rounds.terms import Terms, UsedRounds
from discreet.trust import schemes


@dataclass(frozen=True)
class Quorum:
    """How many parties there are, how many of them must be left, and how many may work against the others.

    Parameters
    ----------
    parties, threshold, colluding : int
        Public. See `Federation`.
    """

    parties: int
    threshold: int
    colluding: int = 0

    def check_majority(self) -> None:
        """Refuse more who collude than leave two lists of survivors an honest party in common."""
        most = 2 * self.threshold - self.parties - 1
        self._check(most, f", with a threshold of {self.threshold}", f"At most {most} may; raise the threshold.")

    def check_leaving(self) -> None:
        """Refuse more who collude than may lie or leave."""
        most = self.parties - self.threshold
        self._check(most, f", and {most} may lie or leave", f"At most {most} may.")

    def _check(self, most: int, why: str, remedy: str) -> None:
        if not 0 <= self.colluding <= most:
            obstacle = f"{self.colluding} of {self.parties} parties may collude{why}"
            raise ParameterError("federation", obstacle, remedy, colluding=self.colluding)


@dataclass(frozen=True)
class Setup:
    """What parties need before their first round: their identities and, under schemes with a key, shares of it.

    Parameters
    ----------
    identities : tuple of Identity
        One for each party.
    key : bytes
        Public. For the federation; empty under schemes without one.
    """

    identities: tuple[Identity, ...]
    key: bytes = field(default=b"", repr=False)


class SumScheme(Protocol):
    """A frozen description of a protocol in which several parties open one noisy sum, and nothing else."""

    name: ClassVar[str]
    """As federation files have it."""
    protocol: ClassVar[bytes]
    """Bound into every key and every signed message of its rounds; changed with the protocol."""
    hides: ClassVar[str]
    """What it hides from whom, and how many may lie and leave, in a sentence."""

    coins: ClassVar[bool]
    """Whether its noise is made of coins that all parties toss together."""
    deals: ClassVar[bool]
    """Whether a dealer draws a key for its parties and hands out shares of it."""

    def keyed(self, key: bytes, names: Sequence[str], threshold: int) -> SumScheme:
        """The scheme with the public key that was dealt to these parties; refused where it has none, or needs one."""

    def deal(self, names: Sequence[str], threshold: int, dealer: str, bits: Bits) -> Mapping[str, KeyShare]:
        """What a dealer hands out: a share for each party, or nothing."""

    def seated(self, identity: Identity, share: KeyShare | None) -> Identity:
        """A party with its share; refused where it has none and needs one, or has another's."""

    def setup(self, identities: Sequence[Identity], threshold: int, bits: Bits) -> Setup:
        """What a dealer would hand out, for a rehearsal on one machine."""

    def check(self, quorum: Quorum) -> None:
        """Refuse numbers of parties for which it keeps no promise, with the most that it does."""

    def honest(self, quorum: Quorum) -> int:
        """How many parties whose noise nobody else knows are surely in every sum."""

    def keeps(self, event: Event) -> bool:
        """Whether noise that it can make keeps the promise of this event."""

    excess: ClassVar[float]
    """By which factor the variance of its noise can be more than was paid for, since its grid is coarse."""
    ranged: ClassVar[bool]
    """Whether it adds only what is in a range that has to be known beforehand."""

    def prepared(self, share: Share, own: Answer) -> Answer:
        """A sum on the grid that all parties draw their noise on."""

    def check_sum(self, empty: Answer) -> None:
        """Refuse sums that it cannot add up, with the scheme that would do."""

    def terms(self, terms: Terms, share: Share, largest: Any, empty: Answer) -> Terms:
        """The terms of a round with this noise on this empty sum, in which no party has more units than this."""

    def vector(self, share: Share, own: Answer, bits: Bits, largest: Any) -> Steps:
        """What a party puts in, of its own exact sum: with its share of the noise, where the protocol adds none."""

    def speaker(self, identity: Identity, terms: Terms, roster: Roster, rounds: UsedRounds, bits: Bits) -> Speaker:
        """A party's end."""

    def relay(self, identity: Identity, terms: Terms, roster: Roster, rounds: UsedRounds) -> Relay:
        """The end of whoever asks."""


class Keyless:
    """A scheme that deals out no key: parties need their identities alone."""

    name: ClassVar[str]
    deals: ClassVar[bool] = False

    def keyed(self, key: bytes, names: Sequence[str], threshold: int) -> Self:
        """The scheme itself; a key is refused."""
        if key:
            raise ParameterError("federation", f"the scheme {self.name!r} has no key", "Leave it out.")
        return self

    def deal(self, names: Sequence[str], threshold: int, dealer: str, bits: Bits) -> Mapping[str, KeyShare]:
        """Nothing."""
        return {}

    def seated(self, identity: Identity, share: KeyShare | None) -> Identity:
        """The party itself; a share is refused."""
        if share is not None:
            raise ParameterError(
                "party", f"the scheme {self.name!r} has no key of which that is a share", "Leave it out."
            )
        return identity

    def setup(self, identities: Sequence[Identity], threshold: int, bits: Bits) -> Setup:
        """The identities."""
        return Setup(tuple(identities))


@cache
def sum_schemes() -> dict[str, SumScheme]:
    """All schemes, by name: found in this room."""
    names = [module.name for module in pkgutil.iter_modules(schemes.__path__, f"{schemes.__name__}.")]
    classes: list[Any] = [one for name in names for one in vars(importlib.import_module(name)).values()]
    found: list[Any] = [kind for kind in classes if inspect.isclass(kind) and hasattr(kind, "hides")]
    return {kind.name: kind() for kind in found}


def scheme_named(name: str) -> SumScheme:
    """The scheme of this name.

    Examples
    --------
    >>> scheme_named("masks").honest(Quorum(5, 4, 1))
    3
    """
    known = sum_schemes()
    if name not in known:
        raise ParameterError("federation", f"there is no scheme {name!r}", f"Take one of {', '.join(sorted(known))}.")
    return known[name]
