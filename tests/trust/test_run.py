"""A run on all records: paid for before it sees one, and refused where its promise would not hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, UnplannedRelease
from discreet.core.events import Event, LaplaceLoss
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.vectors.sphere_report import SphereReport
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.question import AllRecords
from discreet.schema.schema import Schema
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.run import CuratedRun, ReportedRun
from discreet.trust.sources.matrix import Matrix

SCHEMA, BUDGET = Schema.numeric(0.0, 1.0, 2), Budget(1.0)


@dataclass(frozen=True)
class Listening:
    """A run that notes what it is given."""

    seen: list[tuple[Array, Bits]] = field(default_factory=list)
    event: ClassVar[Event] = LaplaceLoss(1.0)

    def made(self, records: Array, bits: Bits) -> int:
        self.seen.append((records, bits))
        return 7


def test_it_is_charged_first_and_is_given_records_inside_their_bounds_and_the_curators_bits() -> None:
    bits, run = DeterministicBits(0), Listening()
    data = PrivateData.of(np.array([[0.5, 7.0], [np.nan, 0.25]]), SCHEMA, BUDGET, bits=bits)
    with data.permit(run.event, "run") as permit:
        assert data.ledger.balance().certified == pytest.approx(1.0)
        assert permit.ask(AllRecords(("x1", "x0")), CuratedRun(run)) == 7
        with pytest.raises(UnplannedRelease):
            permit.ask(AllRecords(("x1", "x0")), CuratedRun(run))
    ((records, given),) = run.seen
    np.testing.assert_array_equal(records, [[1.0, 0.5], [0.25, np.nan]])
    assert given is bits


@pytest.mark.parametrize(
    "how", [{"neighbors": Neighbors.REPLACE}, {"unit": Unit("user", column="who", rows=2)}], ids=["replaced", "rows"]
)
def test_other_neighbors_than_it_promises_for_are_refused_unseen(how: dict[str, Any]) -> None:
    run = Listening()
    table = {"x0": [0.5, 0.5], "x1": [0.5, 0.5], "who": ["a", "a"]}
    data = PrivateData.of(table, SCHEMA, BUDGET, **how)
    with data.permit(run.event, "run") as permit, pytest.raises(DiscreetError, match="one row of each unit"):
        permit.ask(AllRecords(("x0", "x1")), CuratedRun(run))
    assert not run.seen


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
