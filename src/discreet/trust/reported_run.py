"""What a run makes of the reports of people who trust nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from discreet.core.answer import NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.trust.permit import KEPT


class RecordsRun(Protocol):
    """A computation on records with its price; both follow from one plan."""

    @property
    def event(self) -> Event:
        """What the whole run costs."""
        ...

    def made(self, records: Array, bits: Bits) -> Any:
        """What is released of these records, all randomness that hides them being drawn from these bits."""
        ...


@dataclass(frozen=True)
class ReportedRun:
    """Release what a run makes of the reports of people, each of whom reports once. Local trust alone can be asked.

    What a person reports may depend on all reports before, as where people are asked in turn. The run plays the people:
    of a record it uses nothing but the report that is drawn from it.

    Parameters
    ----------
    run : RecordsRun
        Public. What is run, at the price of one report.

    Guarantee
    ---------
    `run.event`, where the record of one person is replaced by any other: reports that may depend on all before, one of
    each person, are a sequentially interactive protocol of Duchi, Jordan and Wainwright 2013.

    Examples
    --------
    >>> from discreet.mechanisms.vectors.sphere_report import SphereReport
    >>> class Nothing:
    ...     event = SphereReport(1.0).event
    ...     def made(self, records, bits):
    ...         return records.shape[1]
    >>> ReportedRun(Nothing()).event == SphereReport(1.0).event
    True
    """

    run: RecordsRun
    calibrated: ClassVar[str] = "run"

    @property
    def event(self) -> Event:
        """The price of one person's report."""
        return self.run.event

    def played(self, answer: Records, bits: Bits) -> Any:
        """What the run makes, where these records are those of people."""
        return self.run.made(answer.values, bits)

    def release(self, answer: Any, bits: Bits) -> Any:
        """Refused: nobody holds what people report of."""
        raise NotPermitted("reports in turn", "people report by themselves", "Ask under local trust.", KEPT)

    def worst_neighbors(self) -> NeighborPair:
        """One person, who holds one record or another."""
        return NeighborPair(*(Records(np.full((1, 1), value), 1, Neighbors.REPLACE) for value in (0.0, 1.0)))
