"""A run on reports: of people who trust nobody alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

from discreet.core.answer import whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.events import Event, LaplaceLoss
from discreet.core.grid import Array
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.vectors.sphere_report import SphereReport
from discreet.questions.question import AllRecords
from discreet.schema.schema import Schema
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.reported_run import ReportedRun
from discreet.trust.sources.matrix import Matrix
from tests.conformance.audits import Drawn, releasing
from tests.mechanisms.trial import MechanismTrial

SCHEMA, BUDGET = Schema.numeric(0.0, 1.0, 2), Budget(1.0)


@dataclass(frozen=True)
class NoisySum:
    """A run that releases the sum of what people report."""

    multiplier: float = 1.0
    calibrated: ClassVar[str] = "multiplier"

    @property
    def event(self) -> Event:
        return LaplaceLoss(self.multiplier)

    def made(self, records: Array, bits: Bits) -> float:
        reported = whole_numbers([int(records.clip(0, 1).sum())], Bound("l1", 1.0))
        return float(Laplace(self.multiplier).release(reported, bits)[0])


def runs_of(run: ReportedRun, side: int, runs: int, bits: Bits) -> Array:
    """What is released of one of the worst neighbors."""
    pair = run.worst_neighbors()
    return np.array([releasing(run)((pair.first, pair.second)[side], bits) for _ in range(runs)])


@dataclass(frozen=True)
class PaysHalf(ReportedRun):
    """Reports at half the price."""

    @property
    def event(self) -> Event:
        return LaplaceLoss(2.0)


TRIAL = MechanismTrial(
    twins=[Drawn("twin", PaysHalf(NoisySum()), runs_of, runs=6000)],
    audits=[Drawn("one record", ReportedRun(NoisySum(multiplier)), runs_of, runs=6000) for multiplier in (1.0, 0.7)],
    usual=ReportedRun(NoisySum()),
    alone="what one person reports: no relation plays a part",
    number=float,
)


@dataclass(frozen=True)
class Listening:
    """A run that notes what it is given."""

    seen: list[tuple[Array, Bits]] = field(default_factory=list)
    event: ClassVar[Event] = LaplaceLoss(1.0)

    def made(self, records: Array, bits: Bits) -> int:
        self.seen.append((records, bits))
        return 7


def test_people_who_trust_nobody_are_played_and_records_that_somebody_holds_are_not() -> None:
    run, rows = Listening(), np.array([[0.5, 7.0], [np.nan, 0.25]])
    people = PrivateData(Local(Matrix(rows, SCHEMA)), MemoryLedger(BUDGET))
    with people.permit(run.event, "run") as permit:
        assert permit.ask(AllRecords(("x0", "x1")), ReportedRun(run)) == 7
    np.testing.assert_array_equal(run.seen.pop()[0], [[0.5, 1.0], [np.nan, 0.25]])
    held = PrivateData.of(rows, SCHEMA, BUDGET)
    with held.permit(run.event, "run") as permit, pytest.raises(DiscreetError, match="Ask under local trust"):
        permit.ask(AllRecords(("x0", "x1")), ReportedRun(run))
    with pytest.raises(DiscreetError, match=r"cannot keep the promise.*Nothing was released or spent"):
        held.permit(SphereReport(0.5).event, "reports")
    assert not run.seen
