"""The curator: one trusted party that holds the records and adds the noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from discreet.core.bits import Bits
from discreet.core.events import DiscreteLoss, Event
from discreet.core.mechanism import Mechanism
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.secret import Secret
from discreet.mechanisms.vectors.sphere_report import promised
from discreet.noise.bits import system_bits
from discreet.questions.question import BoundedSum, Question
from discreet.schema.schema import Category
from discreet.trust.curators_view import CuratorsView
from discreet.trust.exact_sum import check_made_up
from discreet.trust.sources.source import Batched, Source, check_counted

Release = TypeVar("Release")


class Curator(Secret):
    """Asks the records, keeps the exact answer to itself, and lets the mechanism release.

    Parameters
    ----------
    source : Source
        The records.
    neighbors : Neighbors
        Public. The relation under which this data set makes promises. Where it makes the number of records public, a
        source that may choose rows by what they hold is refused.
    bits : Bits, optional
        Where noise comes from; the operating system's where not given. Anything that could be replayed marks every
        receipt as not private.
    """

    def __init__(
        self, source: Source, neighbors: Neighbors = Neighbors.ADD_REMOVE, *, bits: Bits | None = None
    ) -> None:
        check_counted(source, neighbors)
        self._source = source
        self.neighbors = neighbors
        self._bits = system_bits() if bits is None else bits
        self._view = CuratorsView(source, neighbors, self._bits)
        self.schema = source.schema
        self.unit = source.unit

    reports: float = 1
    local = False
    asks_again = True
    """Whether a question that failed while records were read released nothing to anybody, and may be asked again."""

    def check_ready(self) -> None:
        """Refuse, before anything is charged, records that cannot be read now; see `Source`."""
        self._source.check_ready()

    @property
    def curated(self) -> bool:
        """Whether all records can be handed to a mechanism: by a source that does not only add up, for bounded rows."""
        return isinstance(self._source, Batched) and not self.unit.pooled

    @property
    def shows_all_rows(self) -> bool:
        """Whether all rows of all units are at hand: they are pooled, and none is left out."""
        return self.unit.pooled

    @property
    def rereads(self) -> bool:
        """Whether the records can be read again by a schema that lists the values of more columns."""
        return self.curated and self._source.reopened is not None

    def listing(self, lists: Mapping[str, Category]) -> Curator:
        """The same records, with columns of text that are read as categories of these values."""
        assert self._source.reopened is not None
        return Curator(self._source.reopened(self.schema.listing(lists)), self.neighbors, bits=self._bits)

    @property
    def secret(self) -> bool:
        """Whether the noise is secret."""
        return self._bits.secret

    @property
    def units(self) -> int:
        """The number of units; the data set gives it out only where its relation makes it public."""
        return self._source.units()

    def keeps(self, event: Event) -> bool:
        """Every promise about a sum, since the curator holds the exact answer; not those about one person's report."""
        return not (isinstance(event, DiscreteLoss) and promised(event))

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """The mechanism's release of the exact answer.

        A function of the asker's own is tried on made-up records first. Where it fails on one of the records, that
        record adds nothing, and no error shows it.
        """
        if isinstance(question, BoundedSum) and question.recipe is None:
            check_made_up(question, self.schema)
        return mechanism.release(question.answer(self._view), self._bits)

    def __repr__(self) -> str:
        return f"Curator({type(self._source).__name__}, {self.neighbors})"


class ViewCurator(Secret):
    """A curator of records that are no table: tensors, an attribute, positions. It shows a question its own view.

    Parameters
    ----------
    view : object with neighbors, unit and bits
        All that a question is shown.
    """

    def __init__(self, view: Any) -> None:
        self._view = view
        self.neighbors: Neighbors = view.neighbors
        self.unit: Unit = view.unit

    @property
    def secret(self) -> bool:
        """Whether samples and noise are from secret bits."""
        secret: bool = self._view.bits.secret
        return secret

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """The mechanism's release of the exact answer."""
        return mechanism.release(question.answer(self._view), self._view.bits)

    def __repr__(self) -> str:
        return f"ViewCurator({type(self._view).__name__}, {self.neighbors})"
