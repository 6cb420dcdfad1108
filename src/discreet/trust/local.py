"""Local trust: nobody is trusted, so every record is randomised by itself before it leaves its owner."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import ConcentratedLoss, Event, GaussianLoss, LaplaceLoss
from discreet.core.mechanism import Mechanism
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.question import BoundedSum, Question
from discreet.noise.bits import system_bits
from discreet.trust.permit import KEPT
from discreet.trust.sources.source import Batched

Release = TypeVar("Release")
MOST = 2**20  # numbers in the reports that are made at a time


class Local:
    """Has every record report its own noisy contribution, and adds the reports up.

    A report stands for one person who may hold any record, so neighbors are replaced ones, and the number of reports is
    public. The price of a release is what it is under a curator; its noise is larger, by the square root of the number
    of reports and by the step from add/remove to replace.

    Parameters
    ----------
    source : Batched
        The records, one per person. Here they stand for the devices that hold them: nothing but their reports is kept.
    bits : Bits, optional
        Where noise comes from; the operating system's where not given.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.core.schema import Schema
    >>> from discreet.accounting.single_plan import SinglePlan
    >>> from discreet.statistics.mean import mean
    >>> from discreet.trust.private_data import PrivateData
    >>> from discreet.trust.sources.matrix import Matrix
    >>> phones = Matrix(np.full((10_000, 1), 3.0), Schema.numeric(0.0, 10.0, 1))
    >>> data = PrivateData(Local(phones), SinglePlan(Budget(2.0)))
    >>> bool(abs(mean(data, "x0", epsilon=2.0).value - 3) < 0.5)
    True
    """

    neighbors = Neighbors.REPLACE

    def __init__(self, source: Batched, *, bits: Bits | None = None) -> None:
        if source.unit != RECORD:
            raise ParameterError(
                "local trust", "a person's rows would be reported one by one", "Give one record per person."
            )
        self._source = source
        self._bits = system_bits() if bits is None else bits
        self.schema = source.schema
        self.unit = source.unit

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
        """The variance of the noise in units of a curator's under the same relation."""
        return self.units

    def keeps(self, event: Event) -> bool:
        """The promises of noise that is added."""
        return isinstance(event, GaussianLoss | LaplaceLoss | ConcentratedLoss)

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """The sum of all reports, for a mechanism that adds noise.

        Every report is a release of its own by the mechanism, of an answer to which one record contributes.
        """
        if not isinstance(question, BoundedSum) or not hasattr(mechanism, "stddev"):
            raise NotPermitted(
                "local trust",
                f"{type(mechanism).__name__} needs somebody who holds the exact answer",
                "Ask a bounded sum with additive noise, or trust a curator.",
                KEPT,
            )
        columns = self.schema.features if question.columns is None else question.columns
        total = np.zeros(question.of(np.empty((0, len(columns)))).shape[1], dtype=np.int64)
        grid = question.grid
        for batch in self._source.batches(columns):
            rows = max(1, MOST // max(1, len(total)))
            for start in range(0, len(batch), rows):
                reports: Any = mechanism.release(self._answers(question, batch[start : start + rows]), self._bits)
                total += np.rint(np.ldexp(reports, -grid.exponent)).astype(np.int64).sum(axis=0)
        return grid.values(total)  # type: ignore[return-value]

    def _answers(self, question: BoundedSum, records: Any) -> Answer:
        steps = question.steps(records).astype(np.int64)
        return Answer(steps, question.grid, question.bound, self.neighbors)

    def __repr__(self) -> str:
        return f"Local({type(self._source).__name__})"
