"""What a mechanism brings for the trial that all mechanisms are put through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import RUNS, Audit, Auditing, outputs, releasing, varied


@dataclass(frozen=True)
class MechanismTrial:
    """How a mechanism, or several of one file, are tried.

    Parameters
    ----------
    twins : list of mechanisms or audits
        Subclasses with a mistake that somebody could make: their audit must refute each.
    audits : list of audits, optional
        What is tried, all kinds of the file together; by default all variations of its worst neighbors.
    usual : mechanism, optional
        One for the other claims, where its class has no defaults.
    alone : str
        Why relations, rows of a unit or floored grids play no part in it, where they do not.
    number : callable, optional
        A number that says what was released, for releases that are no arrays and are made one at a time.
    """

    twins: Sequence[Any] = ()
    audits: Sequence[Auditing] = ()
    usual: Any = None
    alone: str = ""
    number: Callable[[Any], float] | None = None

    def made(self, kind: type[Any]) -> Any:
        """The mechanism with its defaults, or the usual one."""
        return kind() if type(self.usual) is not kind else self.usual

    def outputs(self, mechanism: Any, answer: Any, runs: int, seed: int) -> np.ndarray:
        """Many independent releases of one answer: so many, or a fifth where they are made one at a time."""
        if self.number is None:
            return outputs(mechanism, answer, runs, seed)
        bits = DeterministicBits(seed)
        return np.array([self.number(releasing(mechanism)(answer, bits)) for _ in range(runs // 5)])

    def audits_of(self, kind: type[Any]) -> Sequence[Auditing]:
        """Those of this class."""
        own = [audit for audit in self.audits if type(audit.mechanism) is kind]
        return own or varied(self.made(kind))

    @property
    def broken(self) -> list[Auditing]:
        """Every twin, on the neighbors that it is tried on."""
        return [
            twin if hasattr(twin, "verdict") else Audit("twin", twin, twin.worst_neighbors(), runs=2 * RUNS)
            for twin in self.twins
        ]
