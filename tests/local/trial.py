"""What a randomiser of one person's value brings for the trial that all of them are put through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.core.bits import Bits
from tests.conformance.audits import RUNS, Auditing, Drawn


@dataclass(frozen=True)
class ReportTrial:
    """How a randomiser, or several of one file, are tried.

    Parameters
    ----------
    randomizers : list of randomisers
        With several parameters, all kinds of the file together. Each is audited on its worst pair.
    fingerprints : dict of str to str
        Of each kind with its defaults, for ever: messages of years ago have them.
    audits : list of audits, optional
        Others, for what has no worst pair because its reports have several parts.
    """

    randomizers: Sequence[Any]
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    audits: Sequence[Auditing] = ()

    def made(self, kind: type[Any]) -> Any:
        """The one with its defaults; the first, where there are none."""
        own = self._own(kind)
        return kind() if hasattr(kind, "worst_pair") or not own else own[0]

    def audits_of(self, kind: type[Any]) -> Sequence[Auditing]:
        """Of those of this class."""
        tried = [] if not hasattr(kind, "worst_pair") else self._own(kind) or [kind()]
        own = [audit for audit in self.audits if type(audit.mechanism) is kind]
        return [*own, *(Drawn("worst pair", one, scores, runs=4 * RUNS) for one in tried)]

    def _own(self, kind: type[Any]) -> list[Any]:
        return [one for one in self.randomizers if type(one) is kind]


def scores(randomizer: Any, side: int, runs: int, bits: Bits) -> np.ndarray:
    """What reports of one value of the worst pair say for it."""
    pair = randomizer.worst_pair
    found: np.ndarray = randomizer.score(randomizer.reports([(pair.first, pair.second)[side]] * runs, bits))
    return found
