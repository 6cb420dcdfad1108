"""A curator of rows that are made of several rows: of all rows of a unit, or of tables that are joined."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from discreet.core.answer import AnyAnswer
from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted
from discreet.core.neighbors import Neighbors
from discreet.questions.filtered import OfFiltered
from discreet.questions.question import BoundedSum, Question, View
from discreet.questions.tables.key_counts import KeyCounts
from discreet.questions.transformed import OfTransformed
from discreet.schema.relation.listed_rows import ListedRows
from discreet.schema.schema import Category
from discreet.trust.curator import Curator
from discreet.trust.permit import KEPT
from discreet.trust.sources.postgres_related import PostgresRelated
from discreet.trust.sources.related_rows import RelatedRows
from discreet.trust.sources.spark_units import SparkUnits

Rows = RelatedRows | PostgresRelated | SparkUnits


class RelatedTrust(Curator):
    """Asks the rows of a relation, of which one unit moves as many as its reach says.

    The number of rows is secret, whatever the relation of neighbors is: a unit may have none. Where a row may also come
    when a unit goes, an answer may move either way, and sums and counts of keys alone can be asked. A unit that is
    replaced is one that goes and one that comes.

    Parameters
    ----------
    source : RelatedRows, PostgresRelated or SparkUnits
        The rows.
    neighbors : Neighbors
        Public. The relation under which this data set makes promises.
    bits : Bits, optional
        Where noise comes from.
    """

    tells_number = False

    def __init__(self, source: Rows, neighbors: Neighbors, *, bits: Bits | None = None) -> None:
        super().__init__(source, neighbors, bits=bits)
        self.relation, self._rows = source.relation, source

    @property
    def units(self) -> int | None:
        """Secret, whatever the relation is."""
        return None

    @property
    def curated(self) -> bool:
        """Whether a mechanism can be shown the rows: not where their number moves, and not where they are shared."""
        shown = not isinstance(self._rows, SparkUnits) and not self.relation.reach.both_ways
        return shown and self.neighbors is Neighbors.ADD_REMOVE

    @property
    def shows_all_rows(self) -> bool:
        return False

    def listing(self, lists: Mapping[str, Category]) -> RelatedTrust:
        """The same rows, with columns of text that are read as categories of these values."""
        assert not isinstance(self._rows, SparkUnits)  # `PrivateData.check_listing` was asked
        return RelatedTrust(
            self._rows.listed(ListedRows(self.relation, tuple(lists.items()))), self.neighbors, bits=self._bits
        )

    def _put(self, question: Question) -> Question:
        """A question as it is put to the rows: a sum may move either way, where rows may also come."""
        both, fixed = self.relation.reach.both_ways, self.neighbors is Neighbors.REPLACE
        if (both or fixed) and not (isinstance(question, BoundedSum) or _counts_keys(question)):
            obstacle = "the number of rows is secret, or moves either way when a unit goes, and this is about all rows"
            raise NotPermitted(self.relation.words, obstacle, "Ask for sums.", KEPT)
        asked = super()._put(question)
        if not (isinstance(asked, BoundedSum) and both):
            return asked
        return SignedSum(asked.in_parts(), 2.0 * self.unit.rows) if self.relation.reach.weighted else SignedSum(asked)


def _counts_keys(question: Question) -> bool:
    """Whether rows of each key are counted, of all rows or of some: those that come or go move no more counts."""
    while isinstance(question, OfFiltered | OfTransformed):
        question = question.question
    return isinstance(question, KeyCounts)


@dataclasses.dataclass(frozen=True)
class SignedSum:
    """A sum that rows may join as well as leave when a unit goes: it moves either way, even if no row takes away.

    Parameters
    ----------
    question : BoundedSum
        Public. What is summed.
    slack : float
        Public. How many grid steps more rounding may move each number.
    """

    question: BoundedSum
    slack: float = 0.0

    @property
    def columns(self) -> tuple[str, ...]:
        return self.question.columns

    def answer(self, view: View) -> AnyAnswer:
        """The exact sum, with a bound of both signs."""
        found = self.question.answer(view)
        return dataclasses.replace(found, bound=dataclasses.replace(found.bound, nonnegative=False), slack=self.slack)
