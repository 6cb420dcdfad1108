"""What parties agree on before anything is asked of them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.identity import Roster
from discreet.crypto.rounds.terms import Terms
from discreet.schema.dates import Temporal
from discreet.schema.schema import Boolean, Category, Column, Number, Schema
from discreet.trust.schemes.sum_scheme import Quorum, SumScheme, scheme_named


@dataclass(frozen=True)
class Federation:
    """Who the parties are, what their tables look like, whose presence they hide, and how many of them must be left.

    Everybody has the same one; a party answers no question that was asked on any other.

    Parameters
    ----------
    parties : tuple of PartyCertificate
        Public. At least two. No unit has records with two of them.
    server : PartyCertificate
        Public. Who asks, passes messages on and learns the noisy sums.
    threshold : int
        Public. How many parties must be left at every step; more than half. The others may drop out.
    schema : Schema
        Public. Of every party's records.
    unit : Unit
        Public. Whose presence is hidden.
    neighbors : Neighbors
        Public. The relation under which promises are made. Where it makes the number of records public, that number
        counts all parties, and none may drop out.
    colluding : int
        Public. How many parties may work together with the server without breaking the promise; at most
        2 threshold - parties - 1 under masks.
    scheme : str
        Public. How sums are opened: "masks"; "odo", where some parties may lie; or "paillier", where they are encrypted
        and those who stay decrypt the total (see `trust.schemes`).
    largest : int
        Public. The most that a party can count: not less than it has records. It is a limit under "odo" alone, where it
        costs a share for each of its bits; 1 where each party is a single person.
    key : bytes
        Public. What was dealt to all parties, under "paillier" alone: `ThresholdKey.to_bytes`.

    Examples
    --------
    >>> from discreet.crypto.certificate import PartyCertificate
    >>> from discreet.crypto.identity import Identity
    >>> from discreet.noise.system_bits import system_bits
    >>> drawn = (Identity.drawn(name, system_bits()) for name in ("server", "north", "south"))
    >>> server, north, south = map(PartyCertificate.of, drawn)
    >>> Federation((north, south), server, 2, Schema.numeric(0.0, 1.0, 1)).honest
    2
    """

    parties: tuple[PartyCertificate, ...]
    server: PartyCertificate
    threshold: int
    schema: Schema
    unit: Unit = RECORD
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    colluding: int = 0
    scheme: str = "masks"
    largest: int = 2**20 - 1
    key: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parties", tuple(self.parties))
        self.terms("rehearsal", 1, b"")
        if len(set(self.roster.keys.values())) < len(self.roster.keys):
            raise ParameterError("federation", "two members have the same key", "Let each draw its own.")
        check_whole("federation", "largest", self.largest)
        self.protocol.check(self._quorum)
        if self.neighbors is Neighbors.REPLACE and self.threshold < len(self.parties):
            raise ParameterError(
                "federation",
                "its number of records is public, and would change whenever a party drops out",
                "Make the threshold the number of parties, or take add/remove neighbors.",
                threshold=self.threshold,
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The parties' names."""
        return tuple(card.name for card in self.parties)

    @property
    def honest(self) -> int:
        """How many honest parties are surely in every sum."""
        return self.protocol.honest(self._quorum)

    @cached_property
    def protocol(self) -> SumScheme:
        """How sums are opened."""
        return scheme_named(self.scheme).keyed(self.key, self.names, self.threshold)

    @property
    def _quorum(self) -> Quorum:
        return Quorum(len(self.parties), self.threshold, self.colluding)

    @cached_property
    def roster(self) -> Roster:
        """Everybody's key."""
        return Roster({card.name: card.public for card in (self.server, *self.parties)})

    @cached_property
    def digest(self) -> bytes:
        """A hash of all public facts, in 32 bytes."""
        document = {
            "keys": {name: key.hex() for name, key in self.roster.keys.items()},
            "server": self.server.name,
            "threshold": self.threshold,
            "colluding": self.colluding,
            "columns": [[name, *_plain(kind)] for name, kind in self.schema.columns.items()],
            "unit": asdict(self.unit),
            "neighbors": self.neighbors.value,
            **({} if self.scheme == "masks" else {"scheme": self.scheme, "largest": self.largest}),
            **({"key": sha256(self.key).hexdigest()} if self.key else {}),
        }
        return sha256(json.dumps(document, sort_keys=True).encode()).digest()

    def terms(self, round: str, size: int, about: bytes) -> Terms:
        """The terms of a round in which vectors of this size are added."""
        return Terms(round, self.names, self.threshold, size, self.server.name, about, self.protocol.protocol)


def _plain(kind: Column) -> list[str | float]:
    match kind:
        case Temporal(lower, upper):
            return [type(kind).__name__.lower(), lower, upper]
        case Number(lower, upper, step):
            return ["number", float(lower), float(upper), *([] if step is None else [float(step)])]
        case Boolean():
            return ["boolean"]
        case Category(values):
            return ["category", *values]
        case _:
            return ["text"]
