"""Who takes part in encrypted training: one server, and the clients that it knows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from discreet.core.errors import ParameterError
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.identity import Roster


@dataclass(frozen=True)
class GeluMembers:
    """The cards of a server and of its clients, for lines between them.

    Parameters
    ----------
    server : PartyCertificate
        Public. Who has the weights.
    parties : tuple of PartyCertificate
        Public. Who may ask. A client lists itself alone.
    """

    server: PartyCertificate
    parties: tuple[PartyCertificate, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parties", tuple(self.parties))
        names = [card.name for card in (self.server, *self.parties)]
        if not self.parties or len(set(names)) < len(names) or len(set(self.roster.keys.values())) < len(names):
            raise ParameterError("encrypted network", "a name or key comes twice, or nobody may ask", "Give each once.")

    @cached_property
    def roster(self) -> Roster:
        """Everybody's key."""
        return Roster({card.name: card.public for card in (self.server, *self.parties)})
