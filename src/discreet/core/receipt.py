"""The receipt that comes with every release: what was paid, for whom, under which promise."""

from __future__ import annotations

import html
from dataclasses import dataclass

from discreet.core.events import Event
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.wording import in_words


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
    """

    purpose: str
    event: Event
    neighbors: Neighbors
    unit: Unit
    secret: bool
    key: str
    head: str
    replayed: bool = False

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
        }

    def __str__(self) -> str:
        return "\n".join(f"{name:>9}: {text}" for name, text in self.lines().items())

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in self.lines().items())
        return f"<table class='discreet-receipt'>{rows}</table>"
