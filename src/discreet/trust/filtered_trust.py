"""A trust model whose records are those that fulfil a condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.core.condition import Condition
from discreet.core.errors import NotPermitted
from discreet.core.neighbors import Neighbors
from discreet.questions.filtered import filtered
from discreet.questions.question import BoundedSum, Question, SampledSum
from discreet.questions.tables.key_counts import KeyCounts
from discreet.schema.schema import Category
from discreet.trust.permit import KEPT
from discreet.trust.trust_model import TrustModel
from discreet.trust.wrapped_trust import WrappedTrust


class FilteredTrust(WrappedTrust):
    """Asks another trust model about the records that fulfil a condition.

    Whether a record fulfils it depends on that record alone, and rows beyond a unit's limit are left out before it is
    looked at. So one unit still moves an answer by what its rows may add. Their number is secret, whatever the relation
    is; where records are replaced, one may come to fulfil the condition and no other cease to, so that only sums and
    counts of keys, for which such a record is one without a value, can be asked.

    Parameters
    ----------
    trust : TrustModel
        Who holds the records.
    condition : Condition
        Public. Which records questions are about.
    """

    def __init__(self, trust: TrustModel, condition: Condition) -> None:
        super().__init__(trust, trust.schema)
        self.condition = condition

    @property
    def units(self) -> None:
        """Secret, whatever the relation is."""
        return

    @property
    def curated(self) -> bool:
        """Whether a mechanism can be shown the records."""
        return self.trust.curated and self.neighbors is Neighbors.ADD_REMOVE

    def listing(self, lists: Mapping[str, Category]) -> FilteredTrust:
        """The same records, with columns of text that are read as categories of these values."""
        trust: Any = self.trust
        return FilteredTrust(trust.listing(lists), self.condition)

    def inner(self, question: Question) -> Question:
        if self.neighbors is Neighbors.REPLACE and not isinstance(question, BoundedSum | SampledSum | KeyCounts):
            raise NotPermitted(
                f"where {self.condition}",
                "records are replaced, and this question is about a number of records that a condition makes secret",
                "Ask for sums, or take add/remove neighbors.",
                KEPT,
            )
        return filtered(question, self.condition, self.schema)
