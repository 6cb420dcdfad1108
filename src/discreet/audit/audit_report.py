"""What an audit of somebody's own mechanism found, and how to find it again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.audit.neighboring_records import NeighboringRecords
from discreet.audit.trial import Finding, Verdict
from discreet.audit.witness import Witness
from discreet.core.events import Event, written
from discreet.display.notebook import carded, facts, grid, safe
from discreet.display.plain import plain, shortened
from discreet.releases.release import finite

LONG = 400  # letters of a data set in a text
NO_PROOF = "That is a lower bound and no proof: other data sets, other events or more runs may show more."
PAGE = (
    "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{title}</title></head><body>{body}</body></html>"
)


@dataclass(frozen=True)
class AuditFinding:
    """One number of a claim beside what was shown, and by what.

    Parameters
    ----------
    part : str
        What was looked at: the values, their last bits, whether the function raises, stated probabilities, guesses.
    measure : str
        The number of the claim.
    claimed, shown : float
        At most, and at least.
    evidence : str
        The event, in words, and its counts.
    witness : Witness, optional
        The same as data.
    """

    part: str
    measure: str
    claimed: float
    shown: float
    evidence: str
    witness: Witness | None = None

    @property
    def stands(self) -> bool:
        """Whether it leaves the claim possible."""
        return self.shown <= self.claimed

    @property
    def tightness(self) -> float:
        """What was shown as a share of what was claimed; above one is a refutation."""
        return self.shown / self.claimed if self.claimed > 0 else math.inf if self.shown > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data."""
        seen = {} if self.witness is None else {"witness": _counts(self.witness)}
        numbers = {"claimed": finite(self.claimed), "shown": finite(self.shown), "holds": self.stands}
        return {"part": self.part, "measure": self.measure, **numbers, "evidence": self.evidence, **seen}


def _counts(witness: Witness) -> dict[str, Any]:
    often, seldom = ([count.hits, count.trials] for count in (witness.often, witness.seldom))
    return {
        "event": witness.event,
        "likelier": witness.likelier,
        "often": often,
        "seldom": seldom,
        "risk": witness.risk,
    }


def of_verdict(part: str, verdict: Verdict) -> tuple[AuditFinding, ...]:
    """The findings of a verdict."""
    return tuple(_of_finding(part, finding) for finding in verdict.findings)


def _of_finding(part: str, finding: Finding) -> AuditFinding:
    seen = finding.witness
    return AuditFinding(part, finding.measure, finding.claimed, finding.shown, str(seen), seen)


@dataclass(frozen=True)
class AuditReport:
    """What an audit says about a claim: refuted, or not.

    Parameters
    ----------
    name : str
        Of the mechanism.
    claim : Event
        What it is said to cost.
    findings : tuple of AuditFinding
        The numbers of the claim, each beside what was shown.
    confidence : float
        One minus the risk that a true claim is refuted, over everything that was tried.
    tried : int
        The number of pairs of data sets among which the worst was looked for.
    outputs : int
        How many outputs were drawn in all.
    seconds : float
        What it took.
    options : mapping
        What to give again besides the claim, so that the same outputs are drawn and counted.
    neighbors : NeighboringRecords, optional
        The two data sets that show most.
    warnings : tuple of str
        What speaks against the mechanism and is not part of the claim: times, errors.

    Examples
    --------
    >>> from discreet.audit.audited import audited
    >>> def noisy_sum(records, runs, rng):
    ...     return np.rint((records.sum() + rng.laplace(0, 1, runs)) * 1024) / 1024
    >>> import numpy as np
    >>> report = audited(noisy_sum, claim=0.4, runs=20_000, random_state=1)
    >>> report.holds, report.epsilon > 0.4, len(report.neighbors.second) - len(report.neighbors.first)
    (False, True, 1)
    """

    name: str
    claim: Event
    findings: tuple[AuditFinding, ...]
    confidence: float
    tried: int
    outputs: int
    seconds: float
    options: Mapping[str, Any] = field(repr=False)
    neighbors: NeighboringRecords | None = field(default=None, repr=False)
    warnings: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing refutes the claim. That is no proof of it."""
        return all(finding.stands for finding in self.findings)

    @property
    def refuted(self) -> bool:
        """Whether something does."""
        return not self.holds

    @property
    def worst(self) -> AuditFinding:
        """The finding that comes closest to the claim, or farthest beyond it."""
        return max(self.findings, key=lambda finding: finding.tightness)

    @property
    def epsilon(self) -> float:
        """No smaller one is true, at the least delta at which the claim allows a finite one."""
        return max(finding.shown for finding in self.findings if finding.measure == self.findings[0].measure)

    @property
    def again(self) -> str:
        """The call that draws the same outputs and counts them again, where the function takes its generator."""
        pair = (
            ""
            if self.neighbors is None
            else f", neighbors=[({_array(self.neighbors.first)}, {_array(self.neighbors.second)})]"
        )
        rest = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"audited({self.name}, claim={self.claim!r}{pair}{rest})"

    @property
    def title(self) -> str:
        """The verdict, in a line."""
        worst = self.worst
        verdict = "Not refuted" if self.holds else "REFUTED"
        return (
            f"{verdict} with confidence {self.confidence:.10g}: of {self.name}, {worst.measure} is claimed to be at"
            f" most {worst.claimed:.4g} and shown to be at least {worst.shown:.4g}."
        )

    def lines(self) -> dict[str, str]:
        """What stands below the title."""
        pair = {} if self.neighbors is None else {"neighbors": shortened(str(self.neighbors), LONG)}
        effort = f"{self.tried} pairs of data sets, {self.outputs} outputs, {self.seconds:.2f} s"
        told = {f"warning {place}": text for place, text in enumerate(self.warnings, 1)}
        means = {"means": NO_PROOF} if self.holds else {}
        return {
            **means,
            **pair,
            "seen in": self.worst.part,
            "witness": self.worst.evidence,
            "tried": effort,
            **told,
            "run again": shortened(self.again, 2 * LONG),
        }

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        sides = None if self.neighbors is None else [self.neighbors.first.tolist(), self.neighbors.second.tolist()]
        return {
            "name": self.name,
            "claim": json.loads(written(self.claim)),
            "holds": self.holds,
            "epsilon": finite(self.epsilon),
            "confidence": self.confidence,
            "findings": [finding.to_dict() for finding in self.findings],
            "neighbors": sides,
            "tried": self.tried,
            "outputs": self.outputs,
            "seconds": self.seconds,
            "options": dict(self.options),
            "warnings": list(self.warnings),
            "means": NO_PROOF if self.holds else "A true claim would be refuted with the risk that is left.",
        }

    def to_json(self) -> str:
        """The report as JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def to_html(self) -> str:
        """The report as a page."""
        return PAGE.format(title=f"Audit of {safe(self.name)}", body=self._repr_html_())

    def __str__(self) -> str:
        lines = [self.title, *(f"  {name}: {text}" for name, text in self.lines().items())]
        return "\n".join(map(plain, lines))

    def _repr_html_(self) -> str:
        head = ("part", "measure", "claimed, at most", "shown, at least", "by")
        rows = (
            (each.part, each.measure, f"{each.claimed:.4g}", f"{each.shown:.4g}", each.evidence)
            for each in self.findings
        )
        return carded(grid(self.title, head, rows), facts(self.lines()))


def _array(records: Any) -> str:
    return f"{records.tolist()!r}"
