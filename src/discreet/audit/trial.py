"""An audit of a mechanism: many runs on its worst neighbors."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from discreet.audit.lower_bound import CONFIDENCE
from discreet.audit.ratio import Values
from discreet.audit.verdict import Verdict, judged
from discreet.core.bits import Bits
from discreet.core.events import Event

RUNS = 200_000


class Repeatable(Protocol):
    """An answer, of which a mechanism can release many copies at once, each by itself."""

    def stacked(self, count: int) -> Any: ...


class Neighboring(Protocol):
    """Two answers of neighboring data sets."""

    @property
    def first(self) -> Any: ...

    @property
    def second(self) -> Any: ...


class Auditable(Protocol):
    """Anything that releases answers, says what that costs, and names the neighbors to try it on."""

    @property
    def event(self) -> Event: ...

    def release(self, answer: Any, bits: Bits) -> Any: ...

    def worst_neighbors(self) -> Any: ...


def trial(
    mechanism: Auditable,
    bits: Bits,
    *,
    neighbors: Neighboring | None = None,
    runs: int = RUNS,
    confidence: float = CONFIDENCE,
) -> Verdict:
    """Run a mechanism many times on two neighboring answers and hold the releases against its event.

    Parameters
    ----------
    mechanism : Auditable
        Its releases must be numbers, the first axis counting the copies. Turn other releases into numbers and call
        `judged`.
    bits : Bits
        Where the mechanism's randomness comes from.
    neighbors : Neighboring, optional
        The two answers; the mechanism's own `worst_neighbors()` where not given.
    runs : int
        How many releases of each answer.
    confidence : float
        One minus the risk that a true claim is refuted, provided that the bits are independent.

    Returns
    -------
    Verdict
        `holds` is False where the claim is refuted.
    """
    pair = mechanism.worst_neighbors() if neighbors is None else neighbors
    first, second = (_releases(mechanism, answer, bits, runs) for answer in (pair.first, pair.second))
    return judged(mechanism.event, first, second, confidence=confidence)


def _releases(mechanism: Auditable, answer: Repeatable, bits: Bits, runs: int) -> Values:
    return np.asarray(mechanism.release(answer.stacked(runs), bits))
