"""A trust model whose records are made of those of another one, each record by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

from discreet.core.events import Event
from discreet.core.mechanism import Mechanism, Noise
from discreet.core.receipt import Participants
from discreet.questions.question import Question
from discreet.schema.schema import Schema
from discreet.trust.trust_model import TrustModel, check_ready

Release = TypeVar("Release")


class WrappedTrust(ABC):
    """What a trust model says that asks another one: the same as that one, unless it says otherwise.

    Parameters
    ----------
    trust : TrustModel
        Who holds the records.
    schema : Schema
        Public. Of the records that questions are about.
    """

    def __init__(self, trust: TrustModel, schema: Schema) -> None:
        self.trust, self.schema = trust, schema
        self.unit, self.neighbors, self.local = trust.unit, trust.neighbors, trust.local

    @property
    def units(self) -> int | None:
        """The number of units, where the relation makes it public."""
        return self.trust.units

    @property
    def curated(self) -> bool:
        """Whether a mechanism can be shown the records."""
        return self.trust.curated

    @property
    def rereads(self) -> bool:
        """Whether the records can be read again by a schema that lists the values of more columns."""
        return self.curated and bool(self._own("rereads", False))

    @property
    def asks_again(self) -> bool:
        """Whether a question that failed while records were read may be asked again."""
        return bool(self._own("asks_again", False))

    def check_ready(self) -> None:
        """Refuse, before anything is charged, records that cannot be read now."""
        check_ready(self.trust)

    @property
    def answers_together(self) -> bool:
        """Whether several questions may share a reading of the records."""
        return bool(self._own("answers_together", False))

    @abstractmethod
    def inner(self, question: Question) -> Question:
        """A question about these records, as one about those of the other trust model."""

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """The release of the answer about these records."""
        return self.trust.ask(self.inner(question), mechanism)

    def ask_each(self, asked: Sequence[tuple[Question, Mechanism[Any]]]) -> list[Any]:
        """The releases of several answers, where the other trust model gives them together."""
        trust: Any = self.trust
        found: list[Any] = trust.ask_each([(self.inner(question), mechanism) for question, mechanism in asked])
        return found

    @property
    def once(self) -> bool:
        """Whether it answers one question only, as devices do that have reported."""
        return bool(self._own("once", False))

    @property
    def coins(self) -> bool:
        """Whether noise is made of coins that several parties toss together."""
        return bool(self._own("coins", False))

    @property
    def secret(self) -> bool:
        return self.trust.secret

    @property
    def reports(self) -> float:
        """The variance of the noise in units of a curator's: everybody reports, whatever the record."""
        return self.trust.reports

    def reports_of(self, noise: Noise) -> float:
        """The same for this noise."""
        return float(self._own("reports_of", lambda _: self.reports)(noise))

    @property
    def participants(self) -> Participants | None:
        """Who was in the last sum, where the trust model knows."""
        found: Participants | None = self._own("participants", None)
        return found

    def keeps(self, event: Event) -> bool:
        """Whether the promise of this single event can be kept."""
        return self.trust.keeps(event)

    def _own(self, name: str, default: Any) -> Any:
        return getattr(self.trust, name, default)
