"""A curator in a process of its own, as a trust model of the process that has the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

import numpy as np

from discreet.core.events import DiscreteLoss, Event
from discreet.core.mechanism import Mechanism
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.vectors.sphere_report import promised
from discreet.questions.question import BoundedSum, Question
from discreet.schema.schema import Category
from discreet.trust.stored import Stored
from discreet.trust.worker.worker_line import RestingLine, WorkerLine
from discreet.trust.worker.worker_process import unanswered

Release = TypeVar("Release")


class WorkerTrust:
    """Asks the worker that holds the records; what is asked, and what it costs, is decided here.

    The event that is charged is that of the mechanism in this process. The worker is sent question and mechanism, and
    sends a release; nothing that it says can change a charge.

    Parameters
    ----------
    line : WorkerLine or RestingLine
        To the worker.
    lists : mapping of str to Category, optional
        Public. Columns of text that are read as categories of these values.
    """

    local = False
    reports: float = 1
    asks_again = True
    """Whether a question that was not answered released nothing to anybody, and may be asked again."""

    def __init__(self, line: WorkerLine | RestingLine, lists: Mapping[str, Category] | None = None) -> None:
        self._line, self._lists = line, dict(lists or {})
        self.schema = line.place.schema.listing(self._lists) if self._lists else line.place.schema
        self.neighbors, self.unit = line.place.neighbors, line.place.unit

    @property
    def secret(self) -> bool:
        """Whether the noise is secret: a worker that is started here draws from the system's bits."""
        return bool(self._line.facts.get("secret", True))

    @property
    def units(self) -> int | None:
        """The number of units, where the relation makes it public and the worker was started; else None."""
        public = self.neighbors is Neighbors.REPLACE and self.unit.is_row
        return self._line.facts.get("units") if public else None

    @property
    def curated(self) -> bool:
        """Whether a mechanism can be shown all records: those of a file or a table can, unless rows are pooled."""
        return not self.unit.pooled and bool(self._line.facts.get("curated", True))

    @property
    def rereads(self) -> bool:
        """Whether the records can be read again by a schema that lists the values of more columns."""
        return self.curated and bool(self._line.facts.get("rereads", True))

    @property
    def shows_all_rows(self) -> bool:
        """Whether the number of rows of each unit can be asked about."""
        return self.unit.pooled

    def check_ready(self) -> None:
        """Refuse, before anything is charged, records whose process cannot be started."""
        self._line.start()

    def keeps(self, event: Event) -> bool:
        """Every promise about a sum, since a curator holds the exact answer; not those about one person's report."""
        return not (isinstance(event, DiscreteLoss) and promised(event))

    def listing(self, lists: Mapping[str, Category]) -> WorkerTrust:
        """The same records, with columns of text that are read as categories of these values."""
        return WorkerTrust(self._line, {**self._lists, **lists})

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """The release of the worker's answer."""
        release: Any = _read(self._line.place.name, self._line.ask(self._lists, question, mechanism))
        if isinstance(question, BoundedSum) and hasattr(mechanism, "share") and not _is_noisy_sum(release, question):
            raise unanswered(self._line.place.name)
        return cast(Release, release)

    def __repr__(self) -> str:
        return f"WorkerTrust({self._line.place.name})"


def _is_noisy_sum(release: Any, question: BoundedSum) -> bool:
    """Whether it has the form of a sum with noise: what is computed from it may rely on that."""
    return isinstance(release, np.ndarray) and release.dtype.kind == "f" and release.shape == (question.size,)


def _read(name: str, written: bytes) -> Any:
    """What a worker released; whatever is no release is as good as none."""
    try:
        ((_, release),) = Stored.read(written).releases
    except Exception:
        raise unanswered(name) from None
    return release
