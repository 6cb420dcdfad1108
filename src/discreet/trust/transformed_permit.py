"""A permit that is asked about transformed records."""

from __future__ import annotations

from typing import Any, TypeVar

from discreet.core.events import Event
from discreet.core.mechanism import Mechanism
from discreet.questions.question import Question
from discreet.questions.transformation import Transformation
from discreet.questions.transformed import transformed
from discreet.trust.permit import Permit

Release = TypeVar("Release")


class TransformedPermit(Permit):
    """Another permit, for questions about its records after a transformation. It pays for nothing by itself.

    Parameters
    ----------
    permit : Permit
        Of the records before it.
    by : Transformation
        Public. Of each record by itself.
    """

    def __init__(self, permit: Permit, by: Transformation) -> None:
        self._permit, self._by = permit, by

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """Release the answer to a question about transformed records, if the plan pays for it."""
        return self._permit.ask(transformed(question, self._by), mechanism)

    def check_pays(self, event: Event) -> None:
        """Refuse what the plan does not pay for any more."""
        self._permit.check_pays(event)

    def random_state(self, given: Any) -> Any:
        """A seed for public choices; see `Permit.random_state`."""
        return self._permit.random_state(given)
