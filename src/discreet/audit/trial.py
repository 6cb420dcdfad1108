"""Whether outputs refute what a mechanism claims."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from discreet.accounting import accountant
from discreet.accounting.terms import Term, terms
from discreet.audit.evidence import witnesses
from discreet.audit.lower_bound import CONFIDENCE, LowerBound
from discreet.audit.ratio import Teacher, Values, scores
from discreet.audit.witness import Witness
from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.events import Event, GaussianLoss, PureLoss
from discreet.display.notebook import carded, grid

DELTAS = (0.0, 1e-5, 1e-3, 1e-2, 0.1, 0.3)
FAR = 50.0  # an epsilon at which only the delta that comes with no epsilon is left
MARGIN = 1 + 1e-6  # above that delta, since the accountant rounds up both ways
RUNS = 200_000


@dataclass(frozen=True)
class Finding:
    """One number of a claim, and what outputs show about it."""

    measure: str
    claimed: float
    shown: float
    witness: Witness

    @property
    def stands(self) -> bool:
        """Whether the outputs leave the claim possible."""
        return self.shown <= self.claimed

    @property
    def tightness(self) -> float:
        """What was shown as a share of what was claimed; above one is a refutation."""
        return self.shown / self.claimed if self.claimed > 0 else math.inf if self.shown > 0 else 0.0

    def __str__(self) -> str:
        return f"{self.measure} is claimed to be at most {self.claimed:.4g} and shown to be at least {self.shown:.4g}"


@dataclass(frozen=True)
class Verdict:
    """What an audit says about a claim.

    Parameters
    ----------
    claim : Event
        What the mechanism says that a release costs.
    findings : tuple of Finding
        The claim's numbers, each beside what the outputs show.
    bound : LowerBound
        The evidence.
    """

    claim: Event
    findings: tuple[Finding, ...]
    bound: LowerBound

    @property
    def holds(self) -> bool:
        """Whether nothing refutes the claim. That is no proof of it: other data sets may show more."""
        return all(finding.stands for finding in self.findings)

    @property
    def tightest(self) -> Finding:
        """The finding that comes closest to refuting the claim, or refutes it most."""
        return max(self.findings, key=lambda finding: finding.tightness)

    def __str__(self) -> str:
        outcome = "not refuted" if self.holds else "REFUTED"
        return (
            f"{_short(self.claim)}: {outcome} with confidence {self.bound.confidence:.10g}.\n"
            f"Of {len(self.findings)} numbers, the tightest: {self.tightest}.\n{self.tightest.witness}"
        )

    def _repr_html_(self) -> str:
        head = ("measure", "claimed at most", "shown at least", "")
        rows = (
            (each.measure, f"{each.claimed:.4g}", f"{each.shown:.4g}", "stands" if each.stands else "REFUTED")
            for each in self.findings
        )
        return carded(grid(str(self).splitlines()[0], head, rows))


def judged(
    claim: Event, first: ArrayLike, second: ArrayLike, *, confidence: float = CONFIDENCE, teach: Teacher = scores
) -> Verdict:
    """Hold outputs on two neighboring data sets against a claim.

    The claim is tested at several deltas at once, and, if it is Gaussian, by its mu.

    Parameters
    ----------
    claim : Event
        What a release is said to cost.
    first, second : array of numbers, shape (n,) or (n, d)
        Independent outputs on one data set, and on its neighbor; see `lower_bound`.
    confidence : float
        One minus the risk that a true claim is refuted.
    teach : Teacher
        Learns, from a part of the outputs, the scores whose levels are the events.

    Guarantee
    ---------
    A true claim is refuted with probability at most 1 - `confidence`: all bounds of `lower_bound` hold at once, and
    the accountant never understates what the claim allows.

    Examples
    --------
    >>> import numpy as np
    >>> coins = np.random.default_rng(1).random((2, 10_000)) < [[0.75], [0.25]]
    >>> judged(PureLoss(np.log(3)), *coins).holds, judged(PureLoss(0.9), *coins).holds
    (True, False)
    """
    allowed = allowed_epsilons(claim)
    found = witnesses(first, second, deltas=list(allowed), confidence=confidence, teach=teach)
    bound = LowerBound(next(iter(allowed)), confidence, found)
    return Verdict(claim, (*_epsilons(bound, allowed), *_mus(bound, claim)), bound)


def _short(claim: Event) -> str:
    return textwrap.shorten(repr(claim), 100, placeholder=" ...")


@lru_cache(32)
def allowed_epsilons(claim: Event) -> dict[float, float]:
    """The epsilon that the claim allows at each delta where it allows a finite one."""
    if isinstance(claim, PureLoss):
        return {0.0: claim.epsilon}
    deltas = sorted({*DELTAS, accountant.delta(claim, FAR) * MARGIN})
    allowed = {delta: accountant.epsilon(claim, delta) for delta in deltas if delta < 1}
    finite = {delta: epsilon for delta, epsilon in allowed.items() if math.isfinite(epsilon)}
    if not finite:
        raise ParameterError(f"audit of {_short(claim)}", "it promises nothing at any delta below 1")
    return finite


def _epsilons(bound: LowerBound, allowed: dict[float, float]) -> list[Finding]:
    best = {delta: max(bound.witnesses, key=lambda seen: seen.epsilon(delta)) for delta in allowed}
    return [
        Finding(f"epsilon at delta {delta:.3g}", allowed[delta], seen.epsilon(delta), seen)
        for delta, seen in best.items()
    ]


def _mus(bound: LowerBound, claim: Event) -> list[Finding]:
    """Of Gaussian releases alone, which are together as one: their mus add up in squares. Dong, Roth and Su 2022."""
    squared = 0.0
    for term in terms(claim):
        match term:
            case Term(GaussianLoss(multiplier), times):
                squared += times / multiplier**2
            case _:
                return []
    seen = max(bound.witnesses, key=lambda witness: witness.mu)
    return [Finding("mu", math.sqrt(squared), seen.mu, seen)]


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
