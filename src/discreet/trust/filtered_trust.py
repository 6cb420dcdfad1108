"""A trust model whose records are those that fulfil a condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from discreet.core.condition import Condition
from discreet.core.errors import NotPermitted
from discreet.core.events import Event
from discreet.core.mechanism import Mechanism, Noise
from discreet.core.neighbors import Neighbors
from discreet.core.receipt import Participants
from discreet.questions.filtered import filtered
from discreet.questions.question import BoundedSum, Question, SampledSum
from discreet.questions.tables.key_counts import KeyCounts
from discreet.schema.schema import Category
from discreet.trust.permit import KEPT
from discreet.trust.trust_model import TrustModel, check_ready

Release = TypeVar("Release")


class FilteredTrust:
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
        self.trust, self.condition = trust, condition
        self.schema, self.unit, self.neighbors = trust.schema, trust.unit, trust.neighbors
        self.local = trust.local

    units = None

    @property
    def curated(self) -> bool:
        """Whether a mechanism can be shown the records."""
        return self.trust.curated and self.neighbors is Neighbors.ADD_REMOVE

    @property
    def rereads(self) -> bool:
        """Whether the records can be read again by a schema that lists the values of more columns."""
        return self.curated and bool(getattr(self.trust, "rereads", False))

    def listing(self, lists: Mapping[str, Category]) -> FilteredTrust:
        """The same records, with columns of text that are read as categories of these values."""
        trust: Any = self.trust
        return FilteredTrust(trust.listing(lists), self.condition)

    @property
    def asks_again(self) -> bool:
        """Whether a question that failed while records were read may be asked again."""
        return bool(getattr(self.trust, "asks_again", False))

    def check_ready(self) -> None:
        """Refuse, before anything is charged, records that cannot be read now."""
        check_ready(self.trust)

    @property
    def coins(self) -> bool:
        """Whether noise is made of coins that several parties toss together."""
        return bool(getattr(self.trust, "coins", False))

    @property
    def secret(self) -> bool:
        return self.trust.secret

    @property
    def reports(self) -> float:
        """The variance of the noise in units of a curator's: everybody reports, also who does not fulfil it."""
        return self.trust.reports

    def reports_of(self, noise: Noise) -> float:
        """The same for this noise."""
        return float(getattr(self.trust, "reports_of", lambda _: self.reports)(noise))

    @property
    def participants(self) -> Participants | None:
        """Who was in the last sum, where the trust model knows."""
        found: Participants | None = getattr(self.trust, "participants", None)
        return found

    def keeps(self, event: Event) -> bool:
        """Whether the promise of this single event can be kept."""
        return self.trust.keeps(event)

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """The release of the answer about these records."""
        if self.neighbors is Neighbors.REPLACE and not isinstance(question, BoundedSum | SampledSum | KeyCounts):
            raise NotPermitted(
                f"where {self.condition}",
                "records are replaced, and this question is about a number of records that a condition makes secret",
                "Ask for sums, or take add/remove neighbors.",
                KEPT,
            )
        return self.trust.ask(filtered(question, self.condition, self.schema), mechanism)
