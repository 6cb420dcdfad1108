"""What parties agree on before anything is asked of them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.identity import Roster
from discreet.crypto.rounds.terms import Terms
from discreet.schema.plain_column import plain_column
from discreet.schema.schema import Schema
from discreet.trust.schemes.sum_scheme import Quorum, SumScheme, scheme_named

LARGEST = 2**20 - 1  # units of a party, where a scheme needs a limit and none is given


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
        Public. How sums are opened: "masks"; where some parties may lie, "odo" for counts and "odo-vector" for any
        bounded sum; or "paillier", where sums are encrypted and those who stay decrypt the total (see `trust.schemes`).
    largest : int
        Public. The most units that a party has: what it counts farther is moved to that. Under "odo" it costs a share
        for each of its bits, and is 2**20 - 1 where not given; 1 where each party is a single person. Under "masks"
        numbers are sent in as few bytes as it allows, and in eight where not given.
    sizes : tuple of int
        Public. The fewest units that each party states to have, in the order of the parties, or nothing. Stated by
        their owners and counted in no table; see `Policy`.
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
    largest: int | None = None
    sizes: tuple[int, ...] = ()
    key: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parties", tuple(self.parties))
        object.__setattr__(self, "sizes", tuple(self.sizes))
        if self.largest is None and self.scheme != "masks":
            object.__setattr__(self, "largest", LARGEST)
        self.terms("rehearsal", 1, b"")
        if len(set(self.roster.keys.values())) < len(self.roster.keys):
            raise ParameterError("federation", "two members have the same key", "Let each draw its own.")
        if self.largest is not None:
            check_whole("federation", "largest", self.largest)
        self._check_sizes()
        self.protocol.check(self._quorum)
        if self.neighbors is Neighbors.REPLACE and self.threshold < len(self.parties):
            raise ParameterError(
                "federation",
                "its number of records is public, and would change whenever a party drops out",
                "Make the threshold the number of parties, or take add/remove neighbors.",
                threshold=self.threshold,
            )

    def _check_sizes(self) -> None:
        for size in self.sizes:
            check_whole("federation", "sizes", size, 0)
        if len(self.sizes) not in (0, len(self.parties)):
            obstacle = f"there are {len(self.sizes)} sizes for {len(self.parties)} parties"
            raise ParameterError("federation", obstacle, "State one for each, or none.")

    @property
    def fewest_units(self) -> int:
        """How many units are in every sum, by what the parties state."""
        return sum(sorted(self.sizes)[: self.threshold])

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
            "columns": [[name, *plain_column(kind)] for name, kind in self.schema.columns.items()],
            "unit": asdict(self.unit),
            "neighbors": self.neighbors.value,
            **self._added,
            **({"key": sha256(self.key).hexdigest()} if self.key else {}),
        }
        return sha256(json.dumps(document, sort_keys=True).encode()).digest()

    @property
    def _added(self) -> dict[str, Any]:
        """What has come to federations since: where it is not given, they are as they always were."""
        scheme = {} if self.scheme == "masks" else {"scheme": self.scheme}
        largest = {} if self.largest is None else {"largest": self.largest}
        return {**scheme, **largest, **({"sizes": list(self.sizes)} if self.sizes else {})}

    def terms(self, round: str, size: int, about: bytes) -> Terms:
        """The terms of a round in which vectors of this size are added."""
        return Terms(round, self.names, self.threshold, size, self.server.name, about, self.protocol.protocol)
