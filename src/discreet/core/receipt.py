"""The receipt that comes with every release: what was paid, for whom, under which promise."""

from __future__ import annotations

import html
from dataclasses import dataclass

from discreet.core.events import Event
from discreet.core.events_in_words import in_words
from discreet.core.neighbors import Neighbors, Unit


@dataclass(frozen=True)
class Attendance:
    """Whose records are in a sum, or in all sums of a plan, of several parties.

    Parameters
    ----------
    parties : tuple of str
        Who was in it.
    apart : tuple of str
        Who was in it and not in an earlier answer from these parties, or the other way round: the difference of two
        such answers tells the noisy sum of these alone.
    """

    parties: tuple[str, ...]
    apart: tuple[str, ...] = ()

    def __and__(self, other: Attendance) -> Attendance:
        """Who was in both; and whoever stands apart in either."""
        both = tuple(name for name in self.parties if name in other.parties)
        return Attendance(both, tuple(sorted({*self.apart, *other.apart})))

    def __str__(self) -> str:
        told = f"; beside other answers, this one tells the noisy sum of {', '.join(self.apart)} alone"
        return ", ".join(self.parties) + (told if self.apart else "")


@dataclass(frozen=True)
class Receipt:
    """What one plan cost and what it promises.

    Parameters
    ----------
    purpose : str
        What was asked.
    event : Event
        What it cost.
    neighbors : Neighbors
        Which data sets look alike.
    unit : Unit
        Whose presence is hidden.
    secret : bool
        Whether the noise was secret. If not, the release is not private, whatever the event says.
    key, head : str
        The charge's key and the ledger's head after it.
    replayed : bool
        Whether the release was paid for earlier and cost nothing now.
    attendance : Attendance, optional
        Who was in the sums, where several parties have the records.
    """

    purpose: str
    event: Event
    neighbors: Neighbors
    unit: Unit
    secret: bool
    key: str
    head: str
    replayed: bool = False
    attendance: Attendance | None = None

    def lines(self) -> dict[str, str]:
        """The receipt as words."""
        noise = "secret, from the operating system" if self.secret else "NOT SECRET: this release is NOT PRIVATE"
        rows = "" if self.unit.kind == "record" else f", {self.unit.limit}"
        return {
            "purpose": self.purpose,
            "cost": in_words(self.event) + (" (paid earlier, replayed)" if self.replayed else ""),
            "protects": f"one {self.unit.kind}{rows}; neighbors by {self.neighbors.value.replace('_', '/')}",
            "noise": noise,
            "ledger": f"key {self.key}, head {self.head[:16] or 'none'}",
            **({} if self.attendance is None else {"parties": str(self.attendance)}),
        }

    def __str__(self) -> str:
        return "\n".join(f"{name:>9}: {text}" for name, text in self.lines().items())

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in self.lines().items())
        return f"<table class='discreet-receipt'>{rows}</table>"
