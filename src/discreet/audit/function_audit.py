"""A function, what is claimed of it, and a search for the neighbors that show most."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.audit.audit_report import AuditFinding, AuditReport, of_verdict
from discreet.audit.audited_function import SINGLY, AuditedFunction, Outputs, aligned
from discreet.audit.exact_loss import ExactLoss
from discreet.audit.last_bits import last_bits
from discreet.audit.neighboring_records import ASKED, Corners, NeighboringRecords, Proposal
from discreet.audit.ratio import Values, quick_scores
from discreet.audit.timing import slower
from discreet.audit.trial import allowed_epsilons, judged
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.held import unheld

PARTS = 6  # values, last bits and raising, of runs many at once and, if need be, one by one: they share the risk
FIRST, SECOND = 50, 10  # a round of the search has this part of the runs
FEW = 400  # outputs of a round, at least
KEPT, VARIATIONS, FINAL = 4, 4, 4  # pairs that are varied, how often each, and pairs of the second round
SIMPLER = 0.97  # of the most that was shown: an earlier pair is taken for it
BLOCKS = 20  # by turns, to compare times


@dataclass(frozen=True)
class FunctionAudit:
    """A function, what is claimed of it, and how hard it is tried."""

    function: AuditedFunction
    claim: Event
    runs: int
    confidence: float
    seed: int

    def report(
        self,
        name: str,
        pairs: Sequence[NeighboringRecords],
        proposals: Sequence[Proposal],
        corners: Corners,
        started: float,
    ) -> AuditReport:
        """Look for the worst pair, and hold fresh outputs on it against the claim."""
        search = NeighborSearch(self, np.random.default_rng([self.seed, 0]))
        pair = search.worst(list(pairs), list(proposals), corners)
        rng = np.random.default_rng([self.seed, 1])
        (first, second), warning = self._by_turns(pair, rng)
        if first.raised.all() and second.raised.all():
            raise _only_raises(search.tried)
        findings = (*self._findings(first, second), *self._stated(pairs))
        raising = int(first.raised.sum() + second.raised.sum())
        told = [f"It raised in {raising} of {len(first) + len(second)} runs on these data sets."] if raising else []
        options: dict[str, Any] = {"runs": self.runs, "confidence": self.confidence, "random_state": self.seed}
        if self.function.grid is not None:
            options["grid"] = self.function.grid
        return AuditReport(
            name,
            self.claim,
            findings,
            self.confidence,
            search.tried,
            search.outputs + len(first) + len(second),
            time.perf_counter() - started,
            options,
            pair,
            (*told, *([warning] if warning else [])),
        )

    def _findings(self, first: Outputs, second: Outputs) -> tuple[AuditFinding, ...]:
        """Of the values, of whether it raises, and of the last bits of floating-point outputs, at a shared risk."""
        here, there = aligned(first, second)
        sure = 1 - (1 - self.confidence) / PARTS
        found: tuple[AuditFinding, ...] = ()
        if first.raised.any() or second.raised.any():
            raising = judged(self.claim, first.raised, second.raised, confidence=sure)
            found += of_verdict("whether it raises, as 1 or 0", raising)
        found += of_verdict("values", judged(self.claim, here, there, confidence=sure))
        if self.looks_at_bits(here):
            bits = judged(self.claim, last_bits(here), last_bits(there), confidence=sure)
            found += of_verdict("exponents of last bits", bits)
        return found

    def looks_at_bits(self, values: Values) -> bool:
        """Whether the last bits of these outputs count."""
        return values.dtype.kind == "f" and self.function.grid is None

    def _stated(self, pairs: Sequence[NeighboringRecords]) -> tuple[AuditFinding, ...]:
        """What the function's own probabilities lose, on the worst of all pairs."""
        stated = getattr(self.function.function, "probabilities", None)
        if stated is None:
            return ()
        losses = [_exact(stated, pair) for pair in pairs]
        found = []
        for delta, allowed in allowed_epsilons(self.claim).items():
            worst = max(range(len(losses)), key=lambda place: losses[place].epsilon(delta))
            told = f"Output {losses[worst].output!r}, on {pairs[worst]}; exact, as stated."
            shows = losses[worst].epsilon(delta)
            found.append(AuditFinding("stated probabilities", f"epsilon at delta {delta:.3g}", allowed, shows, told))
        return tuple(found)

    def _by_turns(
        self, pair: NeighboringRecords, rng: np.random.Generator
    ) -> tuple[tuple[Outputs, Outputs], str | None]:
        """Outputs on both data sets, drawn by turns, and a warning where times differ.

        Where many runs at once raised, those that did not are no fair sample: all are made again, one by one.
        """
        blocks = np.diff(np.linspace(0, self.runs, BLOCKS + 1).astype(int)).tolist()
        drawn, spent = _drawn(self.function.outputs, pair, blocks, rng)
        if any(block.fell_back for side in drawn for block in side):
            drawn, _ = _drawn(self.function.one_by_one, pair, [min(runs, SINGLY) for runs in blocks], rng)
        first, second = (_joined(side) for side in drawn)
        return (first, second), None if first.raised.any() or second.raised.any() else slower(*spent)


def _drawn(
    draw: Callable[[Values, int, np.random.Generator], Outputs],
    pair: NeighboringRecords,
    blocks: Sequence[int],
    rng: np.random.Generator,
) -> tuple[tuple[list[Outputs], list[Outputs]], tuple[list[float], list[float]]]:
    """Blocks of outputs on each data set, and the seconds of a run in each."""
    drawn: tuple[list[Outputs], list[Outputs]] = ([], [])
    spent: tuple[list[float], list[float]] = ([], [])
    for runs in blocks:
        for side, records in enumerate((pair.first, pair.second)):
            start = time.perf_counter()
            drawn[side].append(draw(records, runs, rng))
            spent[side].append((time.perf_counter() - start) / runs)
    return drawn, spent


def _exact(stated: Callable[[Values], Any], pair: NeighboringRecords) -> ExactLoss:
    try:
        sides = [stated(records.copy()) for records in (pair.first, pair.second)]
    except Exception as why:
        obstacle = f"`probabilities` raised {type(why).__name__} on a data set that was proposed"
        raise ParameterError(ASKED, obstacle, "Give bounds, or neighbors, of records that it takes.") from why
    return ExactLoss.of(*sides)


def _joined(blocks: Sequence[Outputs]) -> Outputs:
    whole = [block for block in blocks if not block.raised.all()] or list(blocks)
    shapes = {block.values.shape[1:] for block in whole}
    if len(shapes) > 1:
        remedy = "Return an array of one shape whatever the records are; pad what is shorter with nan."
        raise ParameterError(ASKED, f"the function returned outputs of shapes {sorted(shapes)}", remedy)
    shape = shapes.pop()
    values = [np.full((len(one), *shape), np.nan) if one.raised.all() else one.values for one in blocks]
    return Outputs(np.concatenate(values), np.concatenate([block.raised for block in blocks]))


def _only_raises(tried: int) -> ParameterError:
    obstacle = f"the function raises on all of the {tried} pairs of data sets that were tried"
    return ParameterError(
        ASKED, obstacle, "Give bounds, or neighbors, of records that it takes; call it by itself first."
    )


@unheld("one call")
@dataclass
class NeighborSearch:
    """A search for the two data sets that show most, on outputs that are used for nothing else."""

    audit: FunctionAudit
    rng: np.random.Generator
    tried: int = 0
    outputs: int = 0
    _drawn: dict[tuple[Any, ...], Outputs] = field(default_factory=dict, repr=False)

    def worst(self, pairs: list[NeighboringRecords], proposals: list[Proposal], corners: Corners) -> NeighboringRecords:
        """The worst of all pairs, and of variations of the worst proposals."""
        self.tried = len(pairs)
        if len(pairs) == 1:
            return pairs[0]
        few = max(self.audit.runs // FIRST, FEW)
        shows = [self._shown(pair, few) for pair in pairs]
        for place in np.argsort(shows)[::-1][:KEPT].tolist() if proposals else ():
            varied = [proposals[place].varied(corners, self.rng).pair for _ in range(VARIATIONS)]
            pairs += varied
            shows += [self._shown(pair, few) for pair in varied]
        self.tried = len(pairs)
        best = [pairs[place] for place in sorted(np.argsort(shows)[::-1][:FINAL])]
        self._drawn.clear()
        again = [self._shown(pair, max(self.audit.runs // SECOND, FEW)) for pair in best]
        enough = max(again) - (1 - SIMPLER) * abs(max(again))
        return next(pair for pair, show in zip(best, again, strict=True) if show >= enough)

    def _shown(self, pair: NeighboringRecords, runs: int) -> float:
        """What a few outputs show, as a share of the claim."""
        first, second = (self._outputs(records, runs) for records in (pair.first, pair.second))
        if first.raised.all() and second.raised.all():
            return -1.0
        here, there = aligned(first, second)
        looks = [(here, there)]
        if self.audit.looks_at_bits(here):
            looks.append((last_bits(here), last_bits(there)))
        verdicts = [judged(self.audit.claim, *sides, confidence=0.5, teach=quick_scores) for sides in looks]
        findings = [finding for verdict in verdicts for finding in verdict.findings]
        return max(finding.shown / max(finding.claimed, 1e-9) for finding in findings)

    def _outputs(self, records: Values, runs: int) -> Outputs:
        key = (records.shape, records.dtype.str, records.tobytes())
        if key not in self._drawn:
            self._drawn[key] = self.audit.function.outputs(records, runs, self.rng)
            self.outputs += len(self._drawn[key])
        return self._drawn[key]
