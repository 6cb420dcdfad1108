"""Local trust: nobody is trusted, so every record is randomised by itself before it leaves its owner."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import ConcentratedLoss, Event, GaussianLoss, LaplaceLoss
from discreet.core.grid import Grid
from discreet.core.held import Secret
from discreet.core.mechanism import Mechanism
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.vectors.sphere_report import promised
from discreet.noise.system_bits import system_bits
from discreet.questions.question import BoundedSum, Question
from discreet.trust.curator import CuratorsView
from discreet.trust.exact_sum import check_made_up, contributions
from discreet.trust.permit import KEPT
from discreet.trust.sources.source import Batched, check_counted

Release = TypeVar("Release")
MOST = 2**20  # numbers in the reports that are made at a time
CELLS = 42  # bits between a report's deviation and the finest step on which reports are added


class Local(Secret):
    """Has every record report its own noisy contribution, and adds the reports up.

    A report stands for one person who may hold any record, so neighbors are replaced ones, and the number of reports is
    public. The price of a release is what it is under a curator; its noise is larger, by the square root of the number
    of reports and by the step from add/remove to replace. A `SphereReport` can be asked here alone: for vectors it
    mostly has far less noise than could be added.

    Parameters
    ----------
    source : Batched
        The records, one per person. Here they stand for the devices that hold them: nothing but their reports is kept.
    bits : Bits, optional
        Where noise comes from; the operating system's where not given.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.schema.schema import Schema
    >>> from discreet.ledger.memory_ledger import MemoryLedger
    >>> from discreet.statistics.moments.mean import mean
    >>> from discreet.trust.private_data import PrivateData
    >>> from discreet.trust.sources.matrix import Matrix
    >>> phones = Matrix(np.full((10_000, 1), 3.0), Schema.numeric(0.0, 10.0, 1))
    >>> data = PrivateData(Local(phones), MemoryLedger(Budget(2.0)))
    >>> bool(abs(mean(data, "x0", epsilon=2.0).value - 3) < 0.5)
    True
    """

    neighbors = Neighbors.REPLACE
    curated, local = False, True

    def __init__(self, source: Batched, *, bits: Bits | None = None) -> None:
        if not source.unit.is_row:
            raise ParameterError(
                "local trust", "a person's rows would be reported one by one", "Give one record per person."
            )
        check_counted(source, self.neighbors)
        self._source = source
        self._bits = system_bits() if bits is None else bits
        self.schema = source.schema
        self.unit = source.unit

    def check_ready(self) -> None:
        """Refuse, before anything is charged, records that cannot be read now; see `Source`."""
        self._source.check_ready()

    @property
    def secret(self) -> bool:
        """Whether the noise is secret."""
        return self._bits.secret

    @property
    def units(self) -> int:
        """The number of reports: public."""
        return self._source.units()

    @property
    def reports(self) -> int:
        """The variance of the noise in units of a curator's under the same relation; one, if nobody reports."""
        return max(self.units, 1)

    def keeps(self, event: Event) -> bool:
        """The promises of noise that is added, and those of reports on the sphere."""
        return isinstance(event, GaussianLoss | LaplaceLoss | ConcentratedLoss) or promised(event)

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """The sum of all reports, for a mechanism that adds noise or reports on the sphere.

        Every report is a release of its own by the mechanism, of an answer to which one record contributes. A
        `ReportedRun` has people report in turn.
        """
        if hasattr(mechanism, "played"):
            records = question.answer(CuratorsView(self._source, self.neighbors, self._bits))
            return mechanism.played(records, self._bits)
        if not isinstance(question, BoundedSum) or not hasattr(mechanism, "report"):
            raise NotPermitted(
                "local trust",
                f"{type(mechanism).__name__} needs somebody who holds the exact answer",
                "Ask a bounded sum with additive noise or reports on the sphere, or trust a curator.",
                KEPT,
            )
        if question.recipe is None:
            check_made_up(question, self.schema)
        nobody = self._answers(question, mechanism, np.empty((0, len(question.columns))))
        grid, total = self._grid(nobody, mechanism), np.zeros(nobody.size, dtype=np.int64)
        rows = max(1, MOST // max(1, nobody.size))
        for batch in self._source.batches(question.columns):
            for start in range(0, len(batch), rows):
                answers = self._answers(question, mechanism, batch[start : start + rows])
                reports = mechanism.report(answers, self._bits)
                total += np.ldexp(reports, -grid.exponent).astype(np.int64).sum(axis=0)
        return grid.values(total)  # type: ignore[return-value]

    def _answers(self, question: BoundedSum, mechanism: Any, records: Any) -> Answer:
        answers = Answer(
            contributions(question, records).astype(np.int64), question.grid, question.bound, self.neighbors
        )
        return answers.refined(1.0, "l2") if mechanism.refines else answers

    def _grid(self, answers: Answer, mechanism: Any) -> Grid:
        """The grid that reports are added on: theirs, or a coarser one that much noise is on as well."""
        deviation = mechanism.stddev(answers.bound, answers.size, self.neighbors)
        return Grid(max(answers.grid.exponent, math.frexp(deviation)[1] - CELLS))

    def __repr__(self) -> str:
        return f"Local({type(self._source).__name__})"
