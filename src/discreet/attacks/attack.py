"""What every attack has: a paper, what its adversary has in hand, and a run against one target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from discreet.attacks.attack_result import AttackResult


@dataclass(frozen=True)
class ThreatModel:
    """What an adversary has in hand.

    Parameters
    ----------
    sees : str
        Of the target: its labels, its probabilities, its parameters, the released table, the answers.
    knows : str
        From elsewhere: some of the records, others like them, columns of the target's records.
    may_ask : str
        Which questions, and how many; "nothing" for who only looks.

    Examples
    --------
    >>> ThreatModel(sees="the released table", knows="the ages of ten people").lines()["may ask"]
    'nothing'
    """

    sees: str
    knows: str
    may_ask: str = "nothing"

    def lines(self) -> dict[str, str]:
        """The three, by name, for a text or a page."""
        return {"sees": self.sees, "knows": self.knows, "may ask": self.may_ask}


@runtime_checkable
class Attack(Protocol):
    """A frozen dataclass of public settings and of what the adversary knows, which is run against one target.

    A target is a model (whatever has `predict_proba`, or a function of rows), a table, or a function that answers
    queries. A run changes nothing, keeps the order of rows, and names records by their row alone.

    Examples
    --------
    >>> class Coin:
    ...     paper = "no paper: a coin is tossed for each record"
    ...     threat = ThreatModel(sees="nothing", knows="nothing")
    ...     def run(self, target):
    ...         return AttackResult("coin", self.threat, "bits", 52, 100, chance=0.5, seconds=0.0, questions=0)
    >>> isinstance(Coin(), Attack), Coin().run(target=None).beats_chance
    (True, False)
    """

    paper: ClassVar[str]
    threat: ClassVar[ThreatModel]

    def run(self, target: Any) -> AttackResult:
        """Attack the target."""
        ...
